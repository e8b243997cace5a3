//! Opener of `az:` addresses: Azure Blob Storage.

use std::sync::Arc;

use ::object_store::ClientConfigKey;
use ::object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use async_trait::async_trait;
use tabla_core::blobs::{BlobOpener, Blobs};
use tabla_core::{Address, OpenContext, Result};

use super::opener;

/// Opener of `az://container` and `az://container/prefix`: Azure Blob Storage.
///
/// Options are the configuration keys of [`AzureConfigKey`], with `-` or `_`, such as
/// `account-name=shop`. Without them, account and credentials come from the environment
/// (`AZURE_STORAGE_ACCOUNT_NAME` and others). An address has no secrets: their keys are refused.
///
/// A metadata name is an identifier of C#: Azure refuses `-` and `.` in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct AzOpener;

/// Keys that are refused in an address.
const SECRETS: &[AzureConfigKey] = &[
    AzureConfigKey::AccessKey,
    AzureConfigKey::ClientSecret,
    AzureConfigKey::SasKey,
    AzureConfigKey::Token,
    AzureConfigKey::FabricSessionToken,
    AzureConfigKey::EncryptionKey,
];

#[async_trait]
impl BlobOpener for AzOpener {
    fn scheme(&self) -> &'static str {
        "az"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[("az://assets/dev?account-name=shop", "a container of Azure; keys start with dev/")]
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Blobs>> {
        let (container, folder) = opener::bucket_and_folder(&address)?;
        let content_type = AzureConfigKey::Client(ClientConfigKey::DefaultContentType);
        let mut builder = MicrosoftAzureBuilder::from_env()
            .with_config(content_type, opener::CONTENT_TYPE)
            .with_retry(opener::no_retries());
        for (key, value) in opener::config_keys(&address, AzureConfigKey::ContainerName, SECRETS)? {
            builder = builder.with_config(key, value);
        }
        let store =
            builder.with_container_name(container).build().map_err(opener::invalid_config)?;
        // With a hierarchical namespace, Azure does not list in the order of keys.
        let blobs = opener::in_folder(store, folder, &context.env)
            .put_if_absent()
            .put_if_match()
            .copy_if_absent()
            .metadata();
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
        registry.register(AzOpener);
        for (address, part) in [
            ("az:assets", "`az://bucket`"),
            ("az://a", "bucket name `a`"),
            ("az://assets/a/./b?account-name=shop", "prefix `a/./b`"),
            ("az://assets?acount-name=shop", "`acount-name`"),
            ("az://assets?account-name=shop&container-name=b", "the option `container-name` is"),
            ("az://assets?account-name=shop&credential-type=x", "credential type: 'x'"),
        ] {
            let error = registry.open(address).await.expect_err(address);
            assert_eq!(error.kind(), &ErrorKind::Config, "{address}");
            assert!(error.message().contains(part), "{address}: {error}");
        }
    }

    #[tokio::test]
    async fn secret_in_an_address_is_refused_and_not_shown() {
        let mut registry = BlobRegistry::new();
        registry.register(AzOpener);
        for option in ["access-key", "access_key", "azure_storage_account_key", "sas-token"] {
            let address = format!("az://assets?account-name=shop&{option}=hidden");
            let error = registry.open(&address).await.unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Config, "{option}");
            assert!(error.message().contains(&format!("`{option}` is a secret")), "{error}");
            assert!(!format!("{error:?}").contains("hidden"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn address_opens_without_network() {
        let mut registry = BlobRegistry::new();
        registry.register(AzOpener);
        let address = "az://assets/dev?account-name=shop&skip-signature=true";
        let capabilities = registry.open(address).await.unwrap().capabilities();
        assert!(capabilities.put_if_match && capabilities.multipart && !capabilities.any_key);
    }
}
