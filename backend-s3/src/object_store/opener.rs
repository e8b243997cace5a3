//! Addresses of services that open through the crate `object_store`.

use std::str::FromStr;
use std::sync::Arc;

use ::object_store::multipart::MultipartStore;
use ::object_store::path::Path;
use ::object_store::prefix::PrefixStore;
use ::object_store::{Error as StoreError, ObjectStore, RetryConfig};
use tabla_core::blobs::BlobHeaders;
use tabla_core::env::Env;
use tabla_core::{Address, Error, Result};

use super::ObjectStoreBlobs;
use super::path;

/// Bucket and folder of a path `//bucket` or `//bucket/prefix`.
pub(super) fn bucket_and_folder(address: &Address) -> Result<(String, Option<Path>)> {
    let scheme = &address.scheme;
    let invalid = |message: String| {
        Error::config(format!("{message}; write `{scheme}://bucket` or `{scheme}://bucket/prefix`"))
    };
    let Some(rest) = address.path.strip_prefix("//") else {
        return Err(invalid(format!("`{}` names no bucket", address.path)));
    };
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let is_legal = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    if !(3..=222).contains(&bucket.len()) || !bucket.bytes().all(is_legal) {
        return Err(invalid(format!(
            "the bucket name `{bucket}` is not 3 to 222 lower-case letters, digits, `-`, `_` and `.`"
        )));
    }
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let folder = path::exact(prefix).ok_or_else(|| {
        invalid(format!("the prefix `{prefix}` has an empty, `.` or `..` segment"))
    })?;
    Ok((bucket.to_owned(), Some(folder).filter(|folder| !folder.is_root())))
}

/// Options of an address as keys of a builder: `service-account` is `service_account`.
///
/// # Errors
/// [`tabla_core::ErrorKind::Config`] for an unknown key, the key of the bucket, and a secret, since
/// errors and logs show addresses.
pub(super) fn config_keys<K: FromStr + PartialEq>(
    address: &Address,
    bucket: K,
    secrets: &[K],
) -> Result<Vec<(K, String)>> {
    let Address { scheme, path, options, .. } = address;
    let parse = |name: &str| name.replace('-', "_").parse::<K>().ok();
    let is_secret = |name: &&String| parse(name).is_some_and(|key| secrets.contains(&key));
    if let Some(name) = options.keys().find(is_secret) {
        // This beginning keeps the registry from adding the address with its options.
        return Err(Error::config(format!(
            "cannot open `{scheme}:{path}`: the option `{name}` is a secret, which does not belong \
             in an address; set it in the environment"
        )));
    }
    let mut keys = Vec::with_capacity(options.len());
    for (name, value) in options {
        match parse(name) {
            Some(key) if key == bucket => {
                return Err(Error::config(format!(
                    "the option `{name}` is the bucket, which is in the path; leave it out"
                )));
            }
            Some(key) => keys.push((key, value.clone())),
            None => {
                return Err(Error::config(format!(
                    "unknown option of a `{scheme}:` address: `{name}`; the options are the \
                     configuration keys of the crate `object_store`"
                )));
            }
        }
    }
    Ok(keys)
}

/// MIME type of a blob without one, as on S3.
pub(super) const CONTENT_TYPE: &str = BlobHeaders::DEFAULT_CONTENT_TYPE;

/// Retries of the builders: none, since those of the registry are the only ones.
pub(super) fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// Error of a builder.
pub(super) fn invalid_config(error: StoreError) -> Error {
    Error::config(error.to_string()).with_source(error)
}

/// Blobs in the folder of a store.
pub(super) fn in_folder<S>(store: S, folder: Option<Path>, env: &Env) -> ObjectStoreBlobs
where
    S: ObjectStore + MultipartStore,
{
    let env = env.clone();
    match folder {
        Some(folder) => {
            let store = Arc::new(PrefixStore::new(store, folder));
            ObjectStoreBlobs::with_multipart_and_env(store, env)
        }
        None => ObjectStoreBlobs::with_multipart_and_env(Arc::new(store), env),
    }
}
