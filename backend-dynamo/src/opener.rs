//! `dynamodb:` addresses.

use std::sync::Arc;

use async_trait::async_trait;
use tabla::env::Env;
use tabla::{Address, Error, Opener, Result, Store};

use crate::{DynamoConfig, DynamoStore};

/// Opens `dynamodb:` addresses.
///
/// - `dynamodb:` is AWS, found by the SDK's own credential and region chain.
/// - `dynamodb://host:port` is a server that speaks the protocol, over plain HTTP.
///
/// Options: `region`, `profile`, `prefix` (put before every table name) and `engine` (`dynamodb`,
/// `local` or `alternator`; else a server is asked what it is).
#[derive(Clone, Copy, Debug, Default)]
pub struct DynamoOpener;

const OPTIONS: &[&str] = &["engine", "prefix", "profile", "region"];

#[async_trait]
impl Opener for DynamoOpener {
    fn scheme(&self) -> &'static str {
        "dynamodb"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("dynamodb:", "DynamoDB, with the credentials and region of the AWS SDK"),
            ("dynamodb:?region=eu-west-1&profile=shop&prefix=dev-", "the same, in other words"),
            ("dynamodb://127.0.0.1:8000", "a server that speaks DynamoDB's protocol"),
        ]
    }

    async fn open(&self, address: Address, env: &Env) -> Result<Arc<dyn Store>> {
        let store = DynamoStore::open(&config(address)?).await?;
        Ok(Arc::new(store.with_env(env)))
    }
}

fn config(mut address: Address) -> Result<DynamoConfig> {
    let endpoint = match address.path.as_str() {
        "" => None,
        path => match path.strip_prefix("//").map(|host| host.trim_end_matches('/')) {
            Some(host) if !host.is_empty() && !host.contains('/') => Some(format!("http://{host}")),
            _ => {
                return Err(Error::config(format!(
                    "a `dynamodb:` address is `dynamodb:` or `dynamodb://host:port`: {address}"
                )));
            }
        },
    };
    let mut config = DynamoConfig { endpoint, ..DynamoConfig::default() };
    config.region = address.take("region");
    config.profile = address.take("profile");
    config.table_prefix = address.take("prefix").unwrap_or_default();
    config.engine = address.take("engine").map(|name| name.parse()).transpose()?;
    address.finish(OPTIONS)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    fn parsed(address: &str) -> Result<DynamoConfig> {
        config(address.parse()?)
    }

    #[test]
    fn addresses_are_settings() {
        assert_eq!(parsed("dynamodb:").unwrap(), DynamoConfig::new());
        let config = parsed("dynamodb://127.0.0.1:8000/?prefix=dev-&engine=local").unwrap();
        assert_eq!(config.endpoint.as_deref(), Some("http://127.0.0.1:8000"));
        assert_eq!(config.table_prefix, "dev-");
        assert_eq!(config.engine, Some(Engine::Local));
        let config = parsed("dynamodb:?region=eu-west-1&profile=shop").unwrap();
        assert_eq!(config.region.as_deref(), Some("eu-west-1"));
        assert_eq!(config.profile.as_deref(), Some("shop"));
    }

    #[test]
    fn wrong_addresses_say_what_is_wrong() {
        for (address, part) in [
            ("dynamodb:x", "`dynamodb://host:port`"),
            ("dynamodb://", "`dynamodb://host:port`"),
            ("dynamodb://a/b", "`dynamodb://host:port`"),
            ("dynamodb:?regio=x", "there are: engine, prefix, profile, region"),
            ("dynamodb:?engine=mongo", "mongo"),
        ] {
            let error = parsed(address).expect_err(address);
            assert!(error.message().contains(part), "{address}: {error}");
        }
    }
}
