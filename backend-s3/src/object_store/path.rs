//! Keys of blobs as paths of `object_store`.

use ::object_store::path::{Path, PathPart};
use tabla_core::blobs::rules;
use tabla_core::{Error, Result};

/// Path of exactly this text.
///
/// # Errors
/// Those of [`rules::check_key`]; [`tabla_core::ErrorKind::Unsupported`] for a key that is no path.
pub(super) fn of_key(key: &str) -> Result<Path> {
    rules::check_key(key)?;
    exact(key).ok_or_else(|| {
        Error::unsupported(format!(
            "the blobs `{ENGINE}` cannot have the key {key:?}: a path has no empty, `.` or `..` \
             segment, no slash at either end, and no control character"
        ))
    })
}

/// Name of the engine in capabilities and errors.
pub(super) const ENGINE: &str = "object_store";

/// Path of exactly this text, if it is one. [`Path::parse`] alone removes slashes at the ends.
pub(super) fn exact(text: &str) -> Option<Path> {
    Path::parse(text).ok().filter(|path| path.as_ref() == text)
}

/// Path of the folder in which all keys with this prefix are; `None` if no path has the prefix.
pub(super) fn folder(prefix: &str) -> Option<Path> {
    match prefix.rsplit_once('/') {
        None => Some(Path::ROOT),
        // The first segment would be empty.
        Some(("", _)) => None,
        Some((folder, _)) => exact(folder),
    }
}

/// Highest path among the leading segments of a text. It is not behind the text.
pub(super) fn floor(text: &str) -> Option<Path> {
    let (mut end, mut next) = (0, 0);
    for segment in text.split('/') {
        if segment.is_empty() || PathPart::parse(segment).is_err() {
            break;
        }
        end = next + segment.len();
        next = end + 1;
    }
    exact(&text[..end]).filter(|path| !path.is_root())
}

#[cfg(test)]
mod tests {
    use tabla_core::ErrorKind;

    use super::*;

    #[test]
    fn key_that_is_no_path_is_unsupported() {
        for key in ["a", "a/b", "a b", " ", "%2F", "a\\b", "é", "..a", "..."] {
            assert_eq!(of_key(key).unwrap().as_ref(), key);
        }
        for key in ["/", "/a", "a/", "a//b", ".", "a/..", "a/../b", "./a", "a\0", "a\nb", "\u{7f}"]
        {
            assert_eq!(of_key(key).unwrap_err().kind(), &ErrorKind::Unsupported, "{key:?}");
        }
        for key in ["", "..", "../a"] {
            assert_eq!(of_key(key).unwrap_err().kind(), &ErrorKind::Validation, "{key:?}");
        }
    }

    #[test]
    fn folder_of_a_prefix_contains_its_keys() {
        let folder = |prefix| folder(prefix).map(String::from);
        assert_eq!(folder("").as_deref(), Some(""));
        assert_eq!(folder("a").as_deref(), Some(""));
        assert_eq!(folder("a/").as_deref(), Some("a"));
        assert_eq!(folder("a/b/c").as_deref(), Some("a/b"));
        for prefix in ["/", "/a", "a//", "../a", "a/./b"] {
            assert_eq!(folder(prefix), None, "{prefix}");
        }
    }

    #[test]
    fn floor_is_not_behind_its_text() {
        let floor = |text| floor(text).map(String::from);
        for (text, expected) in [
            ("a/b", Some("a/b")),
            ("a/", Some("a")),
            ("a//b", Some("a")),
            ("a/../b", Some("a")),
            ("a/b\n", Some("a")),
            ("/a", None),
            ("", None),
        ] {
            assert_eq!(floor(text).as_deref(), expected, "{text:?}");
            assert!(expected.is_none_or(|floor| floor <= text));
        }
    }
}
