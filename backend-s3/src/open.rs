//! Opening of all buckets at an address, for the gateway.

use std::sync::Arc;

use tabla_core::{Address, Error, OpenContext, Result};

use crate::{Buckets, MemoryBuckets};

/// Opens all buckets at an address: those of a folder (`file:assets`), which is created if it is
/// missing, or new ones in memory (`memory:`).
///
/// It takes the options of the scheme that concern no single bucket: `uploads` and `sweep`.
///
/// # Errors
/// [`tabla_core::ErrorKind::Config`]: the address is malformed, or has another scheme. Nothing was
/// created. Otherwise those of [`FileFolder::open`](crate::FileFolder::open).
pub async fn open_buckets(address: &str, context: &OpenContext) -> Result<Arc<dyn Buckets>> {
    open(address, context).await.map_err(|error| {
        let message = error.message();
        match message.starts_with("cannot open") {
            true => error,
            false => {
                let message = format!("cannot open `{address}`: {message}");
                error.with_message(message)
            }
        }
    })
}

async fn open(address: &str, context: &OpenContext) -> Result<Arc<dyn Buckets>> {
    let address: Address = address.parse()?;
    match address.scheme.as_str() {
        "memory" => {
            address.finish(&[])?;
            crate::opener::check_no_name(&address)?;
            Ok(Arc::new(MemoryBuckets::with_env(context.env.clone())))
        }
        #[cfg(feature = "file")]
        "file" => {
            let mut address = address;
            let settings = crate::file::FolderOptions::take(&mut address)?;
            address.finish(&crate::file::FolderOptions::NAMES)?;
            Ok(Arc::new(settings.open(&address.path, context.env.clone()).await?))
        }
        other => Err(Error::config(format!(
            "a gateway serves the buckets of `file:` and `memory:` addresses, not of `{other}:`; \
             name a folder, such as `file:assets`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn address_of_another_scheme_is_refused_with_a_remedy() {
        for (address, part) in [
            ("s3://bucket", "name a folder, such as `file:assets`"),
            ("memory:x", "leave it out"),
            ("memory:?sweep=off", "unknown options"),
            ("assets", "has no colon"),
        ] {
            let error = open_buckets(address, &OpenContext::new()).await.unwrap_err();
            assert!(error.message().starts_with("cannot open `"), "{error}");
            assert!(error.message().contains(part), "{address}: {error}");
        }
    }
}
