//! Prefix of the keys in a bucket, which callers do not see.

use tabla_core::blobs::{codes, rules};
use tabla_core::{Error, Result};

/// Text before every key of a bucket.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyPrefix(String);

impl KeyPrefix {
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`]: the prefix leaves no byte for a key, or leads above
    /// the root.
    pub(super) fn new(prefix: &str) -> Result<Self> {
        // What is behind the last slash is the beginning of a segment.
        let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
        if rules::leads_above_root(folder) {
            return Err(Error::config(format!(
                "the prefix of the keys `{prefix}` leads above its root: S3 refuses every key with \
                 it; use a prefix without `..`"
            )));
        }
        match prefix.len() < rules::KEY_BYTES {
            true => Ok(Self(prefix.to_owned())),
            false => Err(Error::config(format!(
                "the prefix of the keys has {} bytes; a key has at most {} bytes together with it",
                prefix.len(),
                rules::KEY_BYTES
            ))),
        }
    }

    /// Key in the bucket.
    ///
    /// # Errors
    /// `KeyTooLongError`: the key has more than 1024 bytes together with the prefix. The empty key
    /// is an error of its own.
    pub(super) fn add(&self, key: &str) -> Result<String> {
        rules::check_key(key)?;
        let full = self.add_to_text(key);
        rules::check_key(&full).map_err(|error| match error.code() {
            codes::KEY_TOO_LONG => {
                let message = format!("{}, with the prefix `{}`", error.message(), self.0);
                error.with_message(message)
            }
            _ => error,
        })?;
        Ok(full)
    }

    /// Prefix or position of a listing in the bucket, of any length.
    pub(super) fn add_to_text(&self, text: &str) -> String {
        format!("{}{text}", self.0)
    }

    /// Key without the prefix. `None` for a key of others, and for the empty object that consoles
    /// create for a folder, whose key is the prefix itself.
    pub(super) fn strip<'a>(&self, full: &'a str) -> Option<&'a str> {
        full.strip_prefix(&self.0).filter(|key| !key.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_limit_counts_the_prefix() {
        let prefix = KeyPrefix::new("dev/").unwrap();
        assert_eq!(prefix.add("a").unwrap(), "dev/a");
        assert_eq!(prefix.add("").unwrap_err().code(), codes::INVALID_ARGUMENT);
        assert!(prefix.add(&"k".repeat(1020)).is_ok());
        let error = prefix.add(&"k".repeat(1021)).unwrap_err();
        assert_eq!(error.code(), codes::KEY_TOO_LONG);
        assert!(error.message().ends_with("with the prefix `dev/`"), "{error}");
        assert!(KeyPrefix::new(&"p".repeat(1023)).is_ok());
        assert!(KeyPrefix::new(&"p".repeat(1024)).is_err());
    }

    #[test]
    fn neither_prefix_nor_key_leads_above_its_root() {
        for prefix in ["../", "a/../../", "../a"] {
            let error = KeyPrefix::new(prefix).unwrap_err();
            assert!(error.message().contains(&format!("`{prefix}` leads above")), "{error}");
        }
        let prefix = KeyPrefix::new("dev/..").unwrap();
        assert_eq!(prefix.add("a").unwrap(), "dev/..a");
        assert!(prefix.add("/../a").is_err());
        // The prefix does not hide the key's own rule, so that every backend has one answer.
        let error = KeyPrefix::new("dev/").unwrap().add("../a").unwrap_err();
        assert_eq!(error.code(), codes::INVALID_ARGUMENT);
        assert!(KeyPrefix::new("..").unwrap().add("/a").is_err());
    }

    #[test]
    fn keys_of_others_and_the_folder_itself_are_hidden() {
        let prefix = KeyPrefix::new("dev/").unwrap();
        assert_eq!(prefix.strip("dev/a/b"), Some("a/b"));
        assert_eq!(prefix.strip("dev/"), None);
        assert_eq!(prefix.strip("prod/a"), None);
        assert_eq!(KeyPrefix::default().strip("a"), Some("a"));
    }
}
