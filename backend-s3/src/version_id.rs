//! Ids of versions: ordered from the newest to the oldest, whatever the clock says.

use std::fmt;

/// Id of a version of a blob. A lower id is a newer version of the same key.
///
/// It is made of a number that the bucket counts up. Its text is 16 hexadecimal digits, or `null`
/// for a blob that was written while the bucket kept no versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VersionId(i64);

impl VersionId {
    /// Id of the only version in a bucket that keeps none. It is behind all others.
    pub(crate) const NULL: Self = Self(i64::MAX);

    /// Position before the newest version of a key. No version has this id.
    pub(crate) const BEFORE_ALL: Self = Self(-1);

    /// Id of the version with this number, counted from 1.
    pub(crate) fn of_number(number: u64) -> Self {
        Self(i64::MAX - i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// Id with this text; `None` if no version has it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "null" => Some(Self::NULL),
            _ if text.len() == 16 => {
                let id = Self(i64::from_str_radix(text, 16).ok()?);
                // A sign or upper-case digits would be a second text of the same id.
                (id.to_string() == text).then_some(id)
            }
            _ => None,
        }
    }

    /// Value of the id in a catalogue.
    #[cfg(feature = "file")]
    pub(crate) fn value(self) -> i64 {
        self.0
    }

    /// Id with this value.
    #[cfg(feature = "file")]
    pub(crate) fn of_value(value: i64) -> Self {
        Self(value)
    }
}

impl fmt::Display for VersionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NULL => f.write_str("null"),
            Self(id) => write!(f, "{id:016x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_versions_have_lower_ids_and_texts() {
        let ids = [
            VersionId::BEFORE_ALL,
            VersionId::of_number(3),
            VersionId::of_number(2),
            VersionId::of_number(1),
            VersionId::NULL,
        ];
        assert!(ids.is_sorted_by(|one, next| one < next));
        let texts = ids[1..].iter().map(VersionId::to_string).collect::<Vec<_>>();
        assert!(texts.is_sorted_by(|one, next| one < next), "{texts:?}");
    }

    #[test]
    fn each_id_has_one_text() {
        for id in [VersionId::of_number(1), VersionId::of_number(1 << 40), VersionId::NULL] {
            assert_eq!(VersionId::parse(&id.to_string()), Some(id));
        }
        for text in ["", "0", "7FFFFFFFFFFFFFFE", "+00000000000000a", "7fffffffffffffff", "é"] {
            assert_eq!(VersionId::parse(text), None, "{text}");
        }
    }
}
