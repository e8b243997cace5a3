//! Opener of `gs:` addresses: Google Cloud Storage.

use std::sync::Arc;

use ::object_store::ClientConfigKey;
use ::object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use async_trait::async_trait;
use tabla_core::blobs::{BlobOpener, Blobs};
use tabla_core::{Address, OpenContext, Result};

use super::opener;

/// Opener of `gs://bucket` and `gs://bucket/prefix`: Google Cloud Storage.
///
/// Options are the configuration keys of [`GoogleConfigKey`], with `-` or `_`, such as
/// `service-account=key.json`. Without them, credentials come from the environment
/// (`GOOGLE_APPLICATION_CREDENTIALS` and others) and from the metadata service. An address has no
/// secrets: their keys are refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct GsOpener;

#[async_trait]
impl BlobOpener for GsOpener {
    fn scheme(&self) -> &'static str {
        "gs"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[("gs://assets/dev", "a bucket of Google Cloud Storage; keys start with dev/")]
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Blobs>> {
        let (bucket, folder) = opener::bucket_and_folder(&address)?;
        let content_type = GoogleConfigKey::Client(ClientConfigKey::DefaultContentType);
        let mut builder = GoogleCloudStorageBuilder::from_env()
            .with_config(content_type, opener::CONTENT_TYPE)
            .with_retry(opener::no_retries());
        let secrets = [GoogleConfigKey::ServiceAccountKey, GoogleConfigKey::BearerToken];
        for (key, value) in opener::config_keys(&address, GoogleConfigKey::Bucket, &secrets)? {
            builder = builder.with_config(key, value);
        }
        let store = builder.with_bucket_name(bucket).build().map_err(opener::invalid_config)?;
        let blobs = opener::in_folder(store, folder, &context.env)
            .put_if_absent()
            .put_if_match()
            .copy_if_absent()
            .metadata()
            .sorted_lists();
        Ok(Arc::new(blobs))
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::ErrorKind;
    use tabla_core::blobs::BlobRegistry;

    use super::*;

    #[tokio::test]
    async fn bad_address_error_names_the_cause() {
        let mut registry = BlobRegistry::new();
        registry.register(GsOpener);
        for (address, part) in [
            ("gs:assets", "`gs://bucket`"),
            ("gs://", "bucket name ``"),
            ("gs://Assets", "bucket name `Assets`"),
            ("gs://assets/a//b", "prefix `a//b`"),
            ("gs://assets/../b", "prefix `../b`"),
            ("gs://assets?regio=x", "`regio`"),
            ("gs://assets?bucket=other", "the option `bucket` is the bucket"),
            ("gs://assets?service-account=/no/such/file", "/no/such/file"),
        ] {
            let error = registry.open(address).await.expect_err(address);
            assert_eq!(error.kind(), &ErrorKind::Config, "{address}");
            assert!(error.message().contains(part), "{address}: {error}");
        }
    }

    #[tokio::test]
    async fn address_opens_without_network() {
        let mut registry = BlobRegistry::new();
        registry.register(GsOpener);
        let blobs = registry.open("gs://assets/dev?skip-signature=true").await.unwrap();
        let capabilities = blobs.capabilities();
        assert_eq!(capabilities.engine, "object_store");
        assert!(capabilities.put_if_match && capabilities.multipart && !capabilities.any_key);
    }
}
