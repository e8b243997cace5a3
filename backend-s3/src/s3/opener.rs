//! Opener of `s3:` addresses, and their options.
//!
//! The settings that they set are in `config`.

use std::sync::Arc;

use async_trait::async_trait;
use tabla_core::blobs::{BlobOpener, Blobs};
use tabla_core::{Address, Error, OpenContext, Result};

use super::{S3Blobs, S3Config};
use crate::buckets::check_bucket_name;

/// Opener of `s3://bucket` and `s3://bucket/prefix`.
///
/// A prefix is a folder: keys in the bucket begin with `prefix/`.
///
/// | option | value | default |
/// |---|---|---|
/// | `endpoint` | URL of the service | AWS's own endpoint of the region |
/// | `region` | AWS region | the SDK's region chain; `us-east-1` for an endpoint |
/// | `profile` | profile of the AWS configuration files | the SDK's default profile |
/// | `path-style` | `true` for the bucket in the path, `false` in the host name | `true` for an endpoint |
/// | `versions` | `on` to read versions; the bucket has to keep them | `off` |
///
/// Credentials come from the SDK's chain, such as `AWS_ACCESS_KEY_ID`. [`S3Config`] documents
/// the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct S3Opener;

/// Options of an address, without `retries`, which belongs to the registry.
const OPTIONS: [&str; 5] = ["endpoint", "path-style", "profile", "region", "versions"];

#[async_trait]
impl BlobOpener for S3Opener {
    fn scheme(&self) -> &'static str {
        "s3"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("s3://assets", "a bucket of S3, with the credentials and region of the AWS SDK"),
            ("s3://assets/dev?region=eu-west-1", "the same; keys in the bucket start with dev/"),
            ("s3://assets?endpoint=http://127.0.0.1:9000", "a server that speaks S3's protocol"),
        ]
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Blobs>> {
        let config = S3Config::from_address(address)?;
        let blobs = S3Blobs::open(&config).await?.with_env(&context.env);
        Ok(Arc::new(blobs.with_part_retries(context.retries.clone())))
    }
}

impl S3Config {
    /// Reads the settings from an `s3:` address.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`] if the path is not `//bucket` or `//bucket/prefix`, or an
    /// option is unknown or has an invalid value.
    pub fn from_address(mut address: Address) -> Result<Self> {
        let endpoint = address.take("endpoint");
        let region = address.take("region");
        let profile = address.take("profile");
        let path_style = address.take("path-style");
        let versions = address.take("versions");
        address.finish(&OPTIONS)?;
        let path = address.path.strip_prefix("//").ok_or_else(|| {
            Error::config(format!(
                "`{}` names no bucket: write `s3://bucket` or `s3://bucket/prefix`",
                address.path
            ))
        })?;
        let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
        check_bucket_name(bucket).map_err(|error| Error::config(error.message()))?;
        let prefix = match prefix {
            "" => String::new(),
            prefix if prefix.ends_with('/') => prefix.to_owned(),
            prefix => format!("{prefix}/"),
        };
        Ok(Self {
            prefix,
            endpoint: endpoint.map(check_endpoint).transpose()?,
            region: not_empty("region", region)?,
            profile: not_empty("profile", profile)?,
            path_style: switch("path-style", path_style, "true", "false")?,
            versions: switch("versions", versions, "on", "off")?.unwrap_or(false),
            ..Self::new(bucket)
        })
    }
}

/// Value of an option with two values.
fn switch(name: &str, value: Option<String>, on: &str, off: &str) -> Result<Option<bool>> {
    match value.as_deref() {
        None => Ok(None),
        Some(value) if value == on => Ok(Some(true)),
        Some(value) if value == off => Ok(Some(false)),
        Some(other) => {
            Err(Error::config(format!("the option `{name}` is `{on}` or `{off}`, not `{other}`")))
        }
    }
}

fn not_empty(name: &str, value: Option<String>) -> Result<Option<String>> {
    match value.as_deref() {
        Some("") => Err(Error::config(format!("the option `{name}` is empty; leave it out"))),
        _ => Ok(value),
    }
}

/// URL of a service without a slash at the end. Some services have a path in it.
fn check_endpoint(url: String) -> Result<String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
    let is_host = |host: &str| {
        let is_legal = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']')
        };
        !host.is_empty() && host.bytes().all(is_legal)
    };
    let is_path = |rest: &str| {
        rest.bytes().all(|byte| matches!(byte, b'!'..=b'~') && byte != b'?' && byte != b'#')
    };
    match (host, rest) {
        (Some(host), Some(rest)) if is_host(host) && is_path(rest) => {
            Ok(url.trim_end_matches('/').to_owned())
        }
        _ => Err(Error::config(format!(
            "the option `endpoint` is the URL of a service, such as `http://127.0.0.1:9000` or \
             `https://s3.example.org`, not `{url}`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::ErrorKind;

    use super::*;

    fn config(address: &str) -> Result<S3Config> {
        S3Config::from_address(address.parse()?)
    }

    #[test]
    fn address_options_set_their_config_fields() {
        let text = "s3://assets/a/b?endpoint=https://h:9000/s3/&region=eu-west-1&profile=p\
                    &path-style=false&versions=on";
        let expected = S3Config::new("assets")
            .with_prefix("a/b/")
            .with_endpoint("https://h:9000/s3")
            .with_region("eu-west-1")
            .with_profile("p")
            .with_path_style(false)
            .with_versions(true);
        assert_eq!(config(text).unwrap(), expected);
        let escaped = "s3://assets?endpoint=http%3A%2F%2F127.0.0.1%3A9000&versions=off";
        let expected = S3Config::new("assets").with_endpoint("http://127.0.0.1:9000");
        assert_eq!(config(escaped).unwrap(), expected);
    }

    #[test]
    fn prefix_of_an_address_ends_with_a_slash() {
        for (text, prefix) in [
            ("s3://assets", ""),
            ("s3://assets/", ""),
            ("s3://assets/dev", "dev/"),
            ("s3://assets/dev/", "dev/"),
            ("s3://assets//dev", "/dev/"),
        ] {
            assert_eq!(config(text).unwrap().prefix, prefix, "{text}");
        }
    }

    #[test]
    fn endpoint_has_path_style_unless_set() {
        assert!(!config("s3://assets").unwrap().has_path_style());
        assert!(config("s3://assets?path-style=true").unwrap().has_path_style());
        assert!(config("s3://assets?endpoint=http://h").unwrap().has_path_style());
        assert!(
            !config("s3://assets?endpoint=http://h&path-style=false").unwrap().has_path_style()
        );
    }

    #[test]
    fn bad_address_error_names_the_cause() {
        for (text, part) in [
            ("s3:assets", "`s3://bucket`"),
            ("s3:", "`s3://bucket`"),
            ("s3://", "bucket name ``"),
            ("s3://As/x", "bucket name `As`"),
            ("s3://assets?endpoint=127.0.0.1:9000", "`127.0.0.1:9000`"),
            ("s3://assets?endpoint=ftp://h", "`ftp://h`"),
            ("s3://assets?endpoint=http://", "`http://`"),
            ("s3://assets?endpoint=http://key:secret@h", "URL of a service"),
            ("s3://assets?endpoint=http://h/a%3Fb", "URL of a service"),
            ("s3://assets?path-style=yes", "`path-style` is `true` or `false`, not `yes`"),
            ("s3://assets?versions=true", "`versions` is `on` or `off`, not `true`"),
            ("s3://assets?region=", "`region` is empty"),
            ("s3://assets?profile=", "`profile` is empty"),
            (
                "s3://assets?regio=x",
                "there are: endpoint, path-style, profile, region, versions, retries",
            ),
        ] {
            let error = config(text).expect_err(text);
            assert_eq!(error.kind(), &ErrorKind::Config, "{text}");
            assert!(error.message().contains(part), "{text}: {error}");
        }
    }

    #[tokio::test]
    async fn registry_opens_an_s3_address() {
        let mut registry = tabla_core::blobs::BlobRegistry::new();
        registry.register(S3Opener);
        let blobs = registry.open("s3://assets/dev?endpoint=http://127.0.0.1:1").await.unwrap();
        assert_eq!(blobs.capabilities().engine, "s3");
        assert!(blobs.presign().is_some() && blobs.versions().is_none());
    }
}
