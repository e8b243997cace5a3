//! Addresses such as `sqlite:shop.db`, and the openers of their schemes.
//!
//! The registries of stores and of blobs share this module. Each has its own trait of openers.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::env::Env;
use crate::error::{Error, ErrorKind, Result};
use crate::store::RetryPolicy;

/// Address of a store, of blobs or of a cache: `scheme:path?option=value&option=value`.
///
/// `sqlite:shop.db?durability=relaxed` has the scheme `sqlite`, the path `shop.db` and one option.
/// In options, `%` and two hexadecimal digits encode a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// Text before the first colon, such as `sqlite`.
    pub scheme: String,
    /// Text from the first colon to the first question mark. Its meaning depends on the scheme.
    pub path: String,
    /// Options after the question mark, decoded, by name.
    pub options: BTreeMap<String, String>,
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(Error::config(
                "an address has the form `scheme:…`, such as `memory:`; this one has no colon",
            ));
        };
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut options = BTreeMap::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let Some((name, value)) = option.split_once('=') else {
                return Err(Error::config(format!(
                    "the option `{option}` has no value; options have the form `name=value`"
                )));
            };
            if options.insert(unescape(name)?, unescape(value)?).is_some() {
                return Err(Error::config(format!(
                    "the option `{name}` is given twice; leave one out"
                )));
            }
        }
        Ok(Self { scheme: scheme.to_owned(), path: path.to_owned(), options })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.scheme, self.path)?;
        for (number, (name, value)) in self.options.iter().enumerate() {
            let mark = if number == 0 { '?' } else { '&' };
            write!(f, "{mark}{}={}", escape(name), escape(value))?;
        }
        Ok(())
    }
}

impl Address {
    /// Removes an option and returns its value. [`Address::finish`] then refuses what is left.
    pub fn take(&mut self, option: &str) -> Option<String> {
        self.options.remove(option)
    }

    /// Refuses options that were not [taken](Address::take), so that a misspelled option is an
    /// error and not the default. `known` lists the options of the scheme.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Config`], naming the unknown and the known options.
    pub fn finish(&self, known: &[&str]) -> Result<()> {
        if self.options.is_empty() {
            return Ok(());
        }
        let left: Vec<&str> = self.options.keys().map(String::as_str).collect();
        let known = match known {
            [] => "the only option is `retries`".to_owned(),
            known => format!("there are: {}, {RETRIES}", known.join(", ")),
        };
        Err(Error::config(format!(
            "unknown options of a `{}:` address ({known}): {}",
            self.scheme,
            left.join(", ")
        )))
    }
}

fn unescape(text: &str) -> Result<String> {
    let invalid = || {
        Error::config(format!(
            "the option `{text}` is not well escaped; write `%` as `%25`, and other bytes of UTF-8 \
             as `%` and two hexadecimal digits"
        ))
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit().ok_or_else(invalid)?, digit().ok_or_else(invalid)?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| invalid())
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' | b'&' | b'=' | b'?' | 0..=b' ' | 0x7F.. => out.push_str(&format!("%{byte:02X}")),
            _ => out.push(char::from(byte)),
        }
    }
    out
}

/// Settings with which a store is opened, or blobs are, besides its address.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenContext {
    /// Clock and randomness of the store.
    pub env: Env,
    /// Policy for throttling, transaction conflicts and unprocessed batch items. One attempt means
    /// that errors are returned without retries.
    pub retries: RetryPolicy,
}

impl OpenContext {
    /// Settings with the system clock and randomness, and the default retry policy.
    pub fn new() -> Self {
        Self::with_env(Env::system())
    }

    /// Settings with this clock and randomness, and the default retry policy on them.
    pub fn with_env(env: Env) -> Self {
        let retries = RetryPolicy { env: env.clone(), ..RetryPolicy::default() };
        Self { env, retries }
    }
}

impl Default for OpenContext {
    fn default() -> Self {
        Self::new()
    }
}

/// What the registries of stores and of blobs need of an opener.
pub(crate) trait SchemeOpener {
    /// Noun for what it opens, as errors name it.
    const OPENS: &'static str;

    /// Scheme of the addresses, without the colon.
    fn scheme(&self) -> &'static str;

    /// Example addresses, each with a description of what it opens.
    fn examples(&self) -> &'static [(&'static str, &'static str)];
}

/// Openers by scheme.
pub(crate) struct Schemes<O: ?Sized> {
    openers: BTreeMap<&'static str, Box<O>>,
    /// Schemes that this build lacks, each with the remedy that the error names.
    missing: BTreeMap<&'static str, &'static str>,
}

/// Option of every address that turns retries `on` or `off`.
const RETRIES: &str = "retries";

impl<O: SchemeOpener + ?Sized> Schemes<O> {
    /// Adds an opener, and replaces an earlier one of the same scheme.
    pub(crate) fn add(&mut self, opener: Box<O>) {
        self.openers.insert(opener.scheme(), opener);
    }

    /// Adds a scheme that this build does not support.
    pub(crate) fn add_missing(&mut self, scheme: &'static str, remedy: &'static str) {
        self.missing.insert(scheme, remedy);
    }

    /// Example addresses of all schemes.
    pub(crate) fn examples(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.openers.values().flat_map(|opener| opener.examples().iter().copied())
    }

    /// Parses an address, finds its opener, and applies the option `retries` to the context.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for an invalid address, listing examples of valid ones.
    pub(crate) fn find(
        &self,
        address: &str,
        context: &OpenContext,
    ) -> Result<(&O, Address, OpenContext)> {
        let mut parsed: Address = address.parse().map_err(|error: Error| {
            let message = error.message();
            Error::config(format!("cannot open `{address}`: {message}\n{}", self.help()))
        })?;
        let Some(opener) = self.openers.get(parsed.scheme.as_str()) else {
            return Err(match self.missing.get(parsed.scheme.as_str()) {
                Some(remedy) => Error::config(format!(
                    "cannot open `{address}`: this program was built without `{}:` addresses; {remedy}",
                    parsed.scheme
                )),
                None => Error::config(format!(
                    "cannot open `{address}`: no {} opens `{}:` addresses\n{}",
                    O::OPENS,
                    parsed.scheme,
                    self.help()
                )),
            });
        };
        let mut context = context.clone();
        match parsed.take(RETRIES).as_deref() {
            None => {}
            // An address can turn on retries that the program has turned off.
            Some("on") if context.retries.attempts <= 1 => {
                context.retries = RetryPolicy::default().with_env(context.env.clone());
            }
            Some("on") => {}
            Some("off") => context.retries.attempts = 1,
            Some(other) => {
                return Err(Error::config(format!(
                    "cannot open `{address}`: the option `{RETRIES}` is `on` or `off`, not `{other}`"
                )));
            }
        }
        Ok((opener, parsed, context))
    }

    /// Adds the address to an invalid configuration that an opener reports, unless its message
    /// names the file already.
    pub(crate) fn name_address(address: &str, error: Error) -> Error {
        match error.kind() {
            ErrorKind::Config if !error.message().starts_with("cannot open") => {
                let message = format!("cannot open `{address}`: {}", error.message());
                error.with_message(message)
            }
            _ => error,
        }
    }

    fn help(&self) -> String {
        let width = self.examples().map(|(address, _)| address.len()).max().unwrap_or(0);
        let lines = self.examples().map(|(address, what)| format!("  {address:width$}  {what}"));
        format!("valid addresses:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }
}

impl<O: ?Sized> Default for Schemes<O> {
    fn default() -> Self {
        Self { openers: BTreeMap::new(), missing: BTreeMap::new() }
    }
}

impl<O: ?Sized> fmt::Debug for Schemes<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.openers.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_parses_into_scheme_path_and_options() {
        let text = "dynamodb://127.0.0.1:8000?prefix=a%26b&region=eu-west-1";
        let address: Address = text.parse().expect("it is well formed");
        assert_eq!(address.scheme, "dynamodb");
        assert_eq!(address.path, "//127.0.0.1:8000");
        assert_eq!(address.options["prefix"], "a&b");
        assert_eq!(address.to_string(), text);
    }

    #[test]
    fn malformed_address_error_names_the_fault() {
        for (text, part) in [
            ("memory", "has no colon"),
            ("memory:?x", "`name=value`"),
            ("memory:?x=1&x=2", "given twice"),
            ("memory:?x=%4", "not well escaped"),
            ("memory:?x=%zz", "not well escaped"),
            ("memory:?x=%ff", "not well escaped"),
        ] {
            let error = text.parse::<Address>().expect_err(text);
            assert_eq!(error.kind(), &ErrorKind::Config);
            assert!(error.message().contains(part), "{text}: {error}");
        }
    }
}
