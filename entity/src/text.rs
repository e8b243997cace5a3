//! Kinds of text that can stand in a key, each with rules of its own.

/// Makes a type of text that passes a check, and so can stand in a key: an address, a code, a name.
///
/// The check is a `fn(String) -> tabla::Result<String>`, which may also bring the text into one
/// form. What it lets pass must be an [`Id`](crate::Id) besides. The type has `new` and
/// `as_str`, is written and read by serde as its text, and is a
/// [`KeyPart`](crate::KeyPart). A key with a text in another form than the check gives it
/// is not read.
///
/// ```
/// use tabla::{Error, Result};
///
/// tabla::checked_text! {
///     /// The code of a currency, in capitals.
///     pub struct Currency: three_letters;
/// }
///
/// fn three_letters(text: String) -> Result<String> {
///     match text.len() == 3 && text.chars().all(|letter| letter.is_ascii_alphabetic()) {
///         true => Ok(text.to_ascii_uppercase()),
///         false => Err(Error::validation(format!("{text:?} is not the code of a currency"))),
///     }
/// }
///
/// assert_eq!(Currency::new("usd")?.as_str(), "USD");
/// assert!(Currency::new("dollar").is_err());
/// # Ok::<(), Error>(())
/// ```
#[macro_export]
macro_rules! checked_text {
    ($($(#[$meta:meta])* $visible:vis struct $name:ident: $check:path;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visible struct $name($crate::Id);

        impl $name {
            /// One of this text.
            ///
            /// # Errors
            /// The text is none.
            $visible fn new(text: impl Into<String>) -> $crate::__core::Result<Self> {
                $crate::Id::new($check(text.into())?).map(Self)
            }

            /// The text.
            $visible fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::__core::Error;

            fn from_str(text: &str) -> $crate::__core::Result<Self> {
                Self::new(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl From<&$name> for $name {
            fn from(other: &$name) -> Self {
                other.clone()
            }
        }

        impl $crate::__serde::Serialize for $name {
            fn serialize<S>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error>
            where
                S: $crate::__serde::Serializer,
            {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::__serde::Deserialize<'de> for $name {
            fn deserialize<D>(deserializer: D) -> ::core::result::Result<Self, D::Error>
            where
                D: $crate::__serde::Deserializer<'de>,
            {
                let text = <String as $crate::__serde::Deserialize>::deserialize(deserializer)?;
                Self::new(text).map_err(<D::Error as $crate::__serde::de::Error>::custom)
            }
        }

        impl $crate::KeyPart for $name {
            const SAFE: bool = true;
            const ORDERED: bool = true;

            fn write_key(&self, out: &mut String) -> $crate::__core::Result<()> {
                out.push_str(self.as_str());
                Ok(())
            }

            fn read_key(text: &str) -> $crate::__core::Result<Self> {
                let read = Self::new(text)?;
                match read.as_str() == text {
                    true => Ok(read),
                    false => Err($crate::__core::Error::validation(format!(
                        "{text:?} stands in a key, where it would be {:?}",
                        read.as_str()
                    ))),
                }
            }

            /// It shows where the field goes, and need not pass the check.
            fn example(name: &str) -> Self {
                Self($crate::KeyPart::example(name))
            }
        }
    )+};
}

#[cfg(test)]
mod tests {
    use crate::KeyPart;
    use tabla_core::{Error, Item, Result};

    crate::checked_text! {
        /// Small letters.
        struct Small: small;
    }

    fn small(text: String) -> Result<String> {
        match text.contains(' ') {
            true => Err(Error::validation("no spaces")),
            false => Ok(text.to_lowercase()),
        }
    }

    #[test]
    fn the_check_is_passed_wherever_a_text_comes_from() {
        let one = Small::new("Ana").unwrap();
        assert_eq!((one.as_str(), one.to_string()), ("ana", "ana".to_owned()));
        assert_eq!("ANA".parse::<Small>().unwrap(), one);
        assert!(Small::new("a na").is_err());
        // What the check lets pass and a key cannot have.
        assert!(Small::new("a#b").is_err());
        assert!(Small::new("").is_err());
        let item = Item::from_struct(
            &[("name", "ANA")].into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        );
        let read: std::collections::BTreeMap<String, Small> = item.unwrap().to_struct().unwrap();
        assert_eq!(read["name"], one);
    }

    #[test]
    fn a_key_is_read_only_in_the_form_in_which_it_is_written() {
        let mut key = String::new();
        Small::new("Ana").unwrap().write_key(&mut key).unwrap();
        assert_eq!(Small::read_key(&key).unwrap().as_str(), "ana");
        assert!(Small::read_key("Ana").is_err());
        assert_eq!(Small::example("name").as_str(), "<name>");
    }
}
