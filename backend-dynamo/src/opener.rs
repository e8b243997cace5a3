//! Opener of `dynamodb:` addresses, and their options.
//!
//! The settings that they set are in `config`.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::{Address, Error, OpenContext, Opener, Result, Store};

use crate::{DynamoConfig, DynamoStore};

/// Opener of `dynamodb:` (AWS) and `dynamodb://host:port` (an endpoint).
///
/// | option | value | default |
/// |---|---|---|
/// | `region` | AWS region | the SDK's region chain; `us-east-1` for an endpoint |
/// | `profile` | profile of the AWS configuration files | the SDK's default profile |
/// | `prefix` | prefix of every table name on the service | none |
/// | `engine` | `dynamodb`, `local`, `alternator` or `tabla` | `dynamodb`; endpoint: detected |
/// | `tls` | `true` for HTTPS, only with an endpoint | `false` |
///
/// [`DynamoConfig`] documents the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct DynamoOpener;

/// Options of an address, without `retries`, which belongs to the registry.
const OPTIONS: [&str; 5] = ["engine", "prefix", "profile", "region", "tls"];

#[async_trait]
impl Opener for DynamoOpener {
    fn scheme(&self) -> &'static str {
        "dynamodb"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("dynamodb:", "DynamoDB, with the credentials and region of the AWS SDK"),
            ("dynamodb:?region=eu-west-1&prefix=dev-", "the same; table names start with dev-"),
            ("dynamodb://127.0.0.1:8000", "a server that speaks DynamoDB's protocol"),
        ]
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
        let config = DynamoConfig::from_address(address)?;
        Ok(Arc::new(DynamoStore::open(&config).await?.with_env(&context.env)))
    }
}

impl DynamoConfig {
    /// Reads the settings from a `dynamodb:` address.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`] if the path is neither empty nor `//host:port`, or an
    /// option is unknown or has an invalid value.
    pub fn from_address(mut address: Address) -> Result<Self> {
        let region = address.take("region");
        let profile = address.take("profile");
        let prefix = address.take("prefix");
        let engine = address.take("engine");
        let tls = address.take("tls");
        address.finish(&OPTIONS)?;
        let scheme = match tls.as_deref() {
            None | Some("false") => "http",
            Some("true") => "https",
            Some(other) => {
                return Err(Error::config(format!(
                    "the option `tls` is `true` or `false`, not `{other}`"
                )));
            }
        };
        let endpoint = match address.path.as_str() {
            "" if tls.is_some() => {
                return Err(Error::config(
                    "the option `tls` needs an endpoint, and this address has none: write \
                     `dynamodb://host:port`, or leave `tls` out",
                ));
            }
            "" => None,
            path => match path.strip_prefix("//").map(|host| host.trim_end_matches('/')) {
                Some(host) if is_host(host) => Some(format!("{scheme}://{host}")),
                _ => {
                    return Err(Error::config(format!(
                        "`{path}` is not an endpoint: write `dynamodb:` or `dynamodb://host:port`"
                    )));
                }
            },
        };
        Ok(Self {
            endpoint,
            region,
            profile,
            table_prefix: prefix.unwrap_or_default(),
            engine: engine.map(|engine| engine.parse()).transpose()?,
            ..Self::default()
        })
    }
}

/// Whether this has only characters of a host with an optional port. Its existence is not checked.
fn is_host(host: &str) -> bool {
    let legal =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    !host.is_empty() && host.chars().all(legal)
}

#[cfg(test)]
mod tests {
    use tabla_core::ErrorKind;

    use super::*;
    use crate::Engine;

    fn config(address: &str) -> Result<DynamoConfig> {
        DynamoConfig::from_address(address.parse()?)
    }

    #[test]
    fn address_options_set_their_config_fields() {
        let text = "dynamodb://h:8000?region=eu-west-1&profile=p&prefix=dev-&engine=local&tls=true";
        let expected = DynamoConfig::for_endpoint("https://h:8000")
            .with_region("eu-west-1")
            .with_profile("p")
            .with_table_prefix("dev-")
            .with_engine(Engine::Local);
        assert_eq!(config(text).unwrap(), expected);
    }

    #[test]
    fn address_without_path_is_aws() {
        assert_eq!(config("dynamodb:").unwrap(), DynamoConfig::new());
        assert_eq!(
            config("dynamodb:?region=eu-west-1").unwrap(),
            DynamoConfig::new().with_region("eu-west-1")
        );
        assert_eq!(
            config("dynamodb://127.0.0.1:8000/").unwrap(),
            DynamoConfig::for_endpoint("http://127.0.0.1:8000")
        );
    }

    #[test]
    fn bad_address_error_names_the_cause() {
        for (text, part) in [
            ("dynamodb:orders", "`dynamodb://host:port`"),
            ("dynamodb://", "`dynamodb://host:port`"),
            ("dynamodb://host/table", "`dynamodb://host:port`"),
            ("dynamodb://user@host", "`dynamodb://host:port`"),
            ("dynamodb:?tls=true", "needs an endpoint"),
            ("dynamodb://host?tls=maybe", "maybe"),
            ("dynamodb://host?engine=dynalite", "dynalite"),
            ("dynamodb:?regio=x", "there are: engine, prefix, profile, region, tls, retries"),
        ] {
            let error = config(text).expect_err(text);
            assert_eq!(error.kind(), &ErrorKind::Config, "{text}");
            assert!(error.message().contains(part), "{text}: {error}");
        }
    }

    #[tokio::test]
    async fn registry_opens_a_dynamodb_address() {
        let mut registry = tabla_core::Registry::new();
        registry.register(DynamoOpener);
        let store = registry.open("dynamodb://127.0.0.1:1?engine=local").await.unwrap();
        assert_eq!(store.capabilities().engine, "dynamodb-local");
    }
}
