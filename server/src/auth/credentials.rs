//! Access keys that may sign requests, and the parser of the file that lists them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::fs;
use std::path::Path;

use tabla_core::{Error, Result};

use super::key::Key;

/// Access keys that may sign requests, with their secrets.
///
/// A credentials file has the format that the AWS SDKs and the AWS CLI read, so that clients and
/// server can use the same one:
///
/// ```text
/// [default]
/// aws_access_key_id = AKIDEXAMPLE
/// aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY
/// ```
///
/// If a section has an `aws_session_token`, requests with its key must carry it. Names of sections
/// and other settings are ignored. Comments are lines that begin with `#` or `;`.
pub struct Credentials(HashMap<String, Key>);

impl Credentials {
    /// Reads a credentials file, and parses it as [`parse`](Self::parse) does.
    ///
    /// # Errors
    /// The file cannot be read, or its text cannot be parsed. The error names the file.
    pub fn from_file(path: &Path) -> Result<Self> {
        let file = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            Error::config(format!(
                "cannot read the credentials file `{file}`: {error}; name a readable file in the format \
                 of ~/.aws/credentials"
            ))
            .with_source(error)
        })?;
        Self::parse(&text).map_err(|error| Error::config(format!("{file}: {}", error.message())))
    }

    /// Parses the text of a credentials file.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`] for a line that cannot be parsed, a section with half of a
    /// key, a duplicate key, or a text without any key. The error names the line, and never shows
    /// its content, which may be a secret.
    pub fn parse(text: &str) -> Result<Self> {
        let mut keys = HashMap::new();
        let mut section: Option<Section<'_>> = None;
        // Some editors write a byte order mark at the beginning.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(rest) = line.strip_prefix('[') {
                finish(section.take(), &mut keys)?;
                section = Some(Section::start(number, rest)?);
                continue;
            }
            let Some((name, value)) = line.split_once('=') else {
                return Err(at(
                    number,
                    "expected a section, a setting or a comment; write a setting as \
                     `name = value`",
                ));
            };
            let Some(section) = &mut section else {
                return Err(at(
                    number,
                    "this setting is before the first section; add a line such as `[default]` above it",
                ));
            };
            section.set(number, name.trim_end(), value.trim_start())?;
        }
        finish(section, &mut keys)?;
        if keys.is_empty() {
            return Err(Error::config(
                "the file has no key; add a section such as `[default]` with `aws_access_key_id` \
                 and `aws_secret_access_key`",
            ));
        }
        Ok(Self(keys))
    }

    /// Returns the access key with this id, for servers of other protocols, which verify signatures
    /// of their own.
    ///
    /// An id is not a secret, and is looked up in a map. Compare the signature that is computed
    /// with the secret in constant time.
    pub fn access_key(&self, id: &str) -> Option<AccessKey<'_>> {
        self.find(id).map(|(id, key)| AccessKey { id, key })
    }

    /// Returns the key with this id, and the stored id.
    pub(super) fn find(&self, id: &str) -> Option<(&str, &Key)> {
        self.0.get_key_value(id).map(|(id, key)| (id.as_str(), key))
    }
}

/// Access key of [`Credentials`].
#[derive(Clone, Copy)]
pub struct AccessKey<'a> {
    id: &'a str,
    key: &'a Key,
}

impl<'a> AccessKey<'a> {
    /// Id of the key.
    pub fn id(&self) -> &'a str {
        self.id
    }

    /// Secret of the key, from which signing keys are derived. It must not be logged.
    pub fn secret(&self) -> &'a str {
        self.key.secret()
    }

    /// Whether requests with the key must carry a session token.
    pub fn requires_session_token(&self) -> bool {
        self.key.is_of_a_session()
    }

    /// Compares a session token with that of the key, in constant time. Returns `false` for a key
    /// without one.
    pub fn has_session_token(&self, token: &[u8]) -> bool {
        self.key.has_token(token)
    }
}

/// Shows the id of the key, and no secret.
impl fmt::Debug for AccessKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AccessKey").field(&self.id).finish()
    }
}

/// Shows the ids of the keys, and no secret.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ids: Vec<&str> = self.0.keys().map(String::as_str).collect();
        ids.sort_unstable();
        f.debug_tuple("Credentials").field(&ids).finish()
    }
}

const ID: &str = "aws_access_key_id";
const SECRET: &str = "aws_secret_access_key";
const TOKEN: &str = "aws_session_token";

/// Section that is being parsed.
struct Section<'a> {
    line: usize,
    name: &'a str,
    id: Option<&'a str>,
    secret: Option<&'a str>,
    token: Option<&'a str>,
}

impl<'a> Section<'a> {
    /// Starts a section. `rest` is its first line after the bracket.
    fn start(line: usize, rest: &'a str) -> Result<Self> {
        let is_end = |after: &str| {
            let after = after.trim_start();
            after.is_empty() || after.starts_with(['#', ';'])
        };
        match rest.split_once(']') {
            Some((name, after)) if is_end(after) => {
                Ok(Self { line, name: name.trim(), id: None, secret: None, token: None })
            }
            _ => Err(at(line, "a section name must be in brackets, such as `[default]`")),
        }
    }

    fn set(&mut self, line: usize, name: &str, value: &'a str) -> Result<()> {
        let (name, place) = if name.eq_ignore_ascii_case(ID) {
            (ID, &mut self.id)
        } else if name.eq_ignore_ascii_case(SECRET) {
            (SECRET, &mut self.secret)
        } else if name.eq_ignore_ascii_case(TOKEN) {
            (TOKEN, &mut self.token)
        } else {
            return Ok(());
        };
        if value.is_empty() {
            return Err(at(line, format!("`{name}` has no value; write it after the `=`")));
        }
        // Spaces and quotation marks around a value are mistakes. In a header, a slash or a comma
        // would end the id.
        if value.contains(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '\''))
            || name == ID && value.contains(['/', ','])
        {
            return Err(at(
                line,
                format!(
                    "the value of `{name}` has an invalid character; write it without quotation \
                     marks, spaces and comments"
                ),
            ));
        }
        if place.replace(value).is_some() {
            let section = self.name;
            return Err(at(line, format!("section `{section}` has `{name}` twice; keep one")));
        }
        Ok(())
    }
}

/// Adds the key of a complete section. A section without a key is for other programs.
fn finish(section: Option<Section<'_>>, keys: &mut HashMap<String, Key>) -> Result<()> {
    let Some(Section { line, name, id, secret, token }) = section else { return Ok(()) };
    let lacks = |setting| {
        Err(at(line, format!("section `{name}` has no `{setting}`; add it, or remove the section")))
    };
    let (id, secret) = match (id, secret) {
        (Some(id), Some(secret)) => (id, secret),
        (Some(_), None) => return lacks(SECRET),
        (None, Some(_)) => return lacks(ID),
        (None, None) if token.is_some() => return lacks(ID),
        (None, None) => return Ok(()),
    };
    match keys.entry(id.to_owned()) {
        Entry::Occupied(_) => Err(at(
            line,
            format!("section `{name}` repeats the key of an earlier section; keep one: {id}"),
        )),
        Entry::Vacant(place) => {
            place.insert(Key::new(secret.to_owned(), token.map(str::to_owned)));
            Ok(())
        }
    }
}

fn at(line: usize, message: impl fmt::Display) -> Error {
    Error::config(format!("line {line}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_with_a_key_is_read() {
        let text = "\u{feff}# who may write\r\n[default]\r\naws_access_key_id = AKID1\r\n\
                    aws_secret_access_key=one/+=\r\nregion = eu-west-1\r\n\n\
                    [profile reader] ; a session\n  AWS_ACCESS_KEY_ID=AKID2\n\
                    aws_secret_access_key =\ttwo\n aws_session_token = token==\n\n; no key\n\
                    [role]\nrole_arn = arn:aws:iam::123456789012:role/x\n";
        let credentials = Credentials::parse(text).unwrap();
        let (id, key) = credentials.find("AKID1").unwrap();
        assert_eq!(id, "AKID1");
        assert!(!key.is_of_a_session());
        let (_, key) = credentials.find("AKID2").unwrap();
        assert!(key.has_token(b"token=="));
        assert!(credentials.find("akid1").is_none());
        assert_eq!(credentials.0.len(), 2);
    }

    #[test]
    fn debug_output_shows_no_secret() {
        let text = "[a]\naws_access_key_id=AKID\naws_secret_access_key=hidden\n\
                    aws_session_token=hidden";
        let credentials = Credentials::parse(text).unwrap();
        assert_eq!(format!("{credentials:?}"), "Credentials([\"AKID\"])");
        assert_eq!(format!("{:?}", credentials.find("AKID").unwrap().1), "Key { .. }");
        let key = credentials.access_key("AKID").unwrap();
        assert_eq!(format!("{key:?}"), "AccessKey(\"AKID\")");
    }

    #[test]
    fn access_key_has_its_secret_and_its_session_token() {
        let text = "[a]\naws_access_key_id=AKID1\naws_secret_access_key=one\n\
                    [b]\naws_access_key_id=AKID2\naws_secret_access_key=two\n\
                    aws_session_token=token";
        let credentials = Credentials::parse(text).unwrap();
        let key = credentials.access_key("AKID1").unwrap();
        assert_eq!((key.id(), key.secret()), ("AKID1", "one"));
        assert!(!key.requires_session_token() && !key.has_session_token(b""));
        let key = credentials.access_key("AKID2").unwrap();
        assert_eq!(key.secret(), "two");
        assert!(key.requires_session_token() && key.has_session_token(b"token"));
        assert!(!key.has_session_token(b"other"));
        assert!(credentials.access_key("two").is_none());
    }

    #[test]
    fn parse_error_names_the_line_and_does_not_show_it() {
        const CHARACTER: &str = "has an invalid character; write it without quotation marks, \
                                 spaces and comments";
        let whole = "aws_access_key_id=A\naws_secret_access_key=hidden\n";
        for (text, expected) in [
            (
                String::new(),
                "the file has no key; add a section such as `[default]` with `aws_access_key_id` \
                 and `aws_secret_access_key`"
                    .to_owned(),
            ),
            (
                "[default]\nregion=local\n".to_owned(),
                "the file has no key; add a section such as `[default]` with `aws_access_key_id` \
                 and `aws_secret_access_key`"
                    .to_owned(),
            ),
            (
                whole.to_owned(),
                "line 1: this setting is before the first section; add a line such as `[default]` \
                 above it"
                    .to_owned(),
            ),
            (
                "[a]\n\nhidden".to_owned(),
                "line 3: expected a section, a setting or a comment; write a setting as \
                 `name = value`"
                    .to_owned(),
            ),
            (
                "[a".to_owned(),
                "line 1: a section name must be in brackets, such as `[default]`".to_owned(),
            ),
            (
                "[a] b".to_owned(),
                "line 1: a section name must be in brackets, such as `[default]`".to_owned(),
            ),
            (
                "[a]\naws_secret_access_key=\n".to_owned(),
                "line 2: `aws_secret_access_key` has no value; write it after the `=`".to_owned(),
            ),
            (
                "[a]\naws_secret_access_key = hidden # mine".to_owned(),
                format!("line 2: the value of `aws_secret_access_key` {CHARACTER}"),
            ),
            (
                "[a]\naws_session_token = \"hidden\"".to_owned(),
                format!("line 2: the value of `aws_session_token` {CHARACTER}"),
            ),
            (
                "[a]\naws_access_key_id = hid/den".to_owned(),
                format!("line 2: the value of `aws_access_key_id` {CHARACTER}"),
            ),
            (
                "[a]\naws_access_key_id = A\naws_access_key_id = B\n".to_owned(),
                "line 3: section `a` has `aws_access_key_id` twice; keep one".to_owned(),
            ),
            (
                format!("[a]\n{whole}\n[b]\naws_access_key_id=B\n[c]"),
                "line 5: section `b` has no `aws_secret_access_key`; add it, or remove the section"
                    .to_owned(),
            ),
            (
                "[b]\naws_secret_access_key=hidden".to_owned(),
                "line 1: section `b` has no `aws_access_key_id`; add it, or remove the section"
                    .to_owned(),
            ),
            (
                "[b]\naws_session_token=hidden".to_owned(),
                "line 1: section `b` has no `aws_access_key_id`; add it, or remove the section"
                    .to_owned(),
            ),
            (
                format!("[a]\n{whole}[b]\n{whole}"),
                "line 4: section `b` repeats the key of an earlier section; keep one: A".to_owned(),
            ),
        ] {
            let error = Credentials::parse(&text).unwrap_err();
            assert_eq!(*error.kind(), tabla_core::ErrorKind::Config);
            assert_eq!(error.message(), expected, "{text}");
        }
    }

    #[test]
    fn file_error_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        let message = || Credentials::from_file(&file).unwrap_err().message().to_owned();
        assert!(
            message()
                .starts_with(&format!("cannot read the credentials file `{}`: ", file.display()))
        );
        fs::write(&file, "[a").unwrap();
        assert!(message().starts_with(&format!("{}: line 1: ", file.display())));
        fs::write(&file, "[a]\naws_access_key_id=A\naws_secret_access_key=s").unwrap();
        assert!(Credentials::from_file(&file).unwrap().find("A").is_some());
    }
}
