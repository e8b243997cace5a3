//! Email addresses in keys.

use tabla::{Error, Result};

tabla::checked_text! {
    /// Email address in lower case: keys are compared byte by byte, and addresses ignore case.
    pub struct Email: address;
}

/// Maximum length of an address in bytes (RFC 5321).
const MAX_LENGTH: usize = 254;

fn address(text: String) -> Result<String> {
    let text = text.to_lowercase();
    let is_address = text
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if !is_address || text.len() > MAX_LENGTH || text.contains(char::is_whitespace) {
        return Err(Error::validation(format!(
            "{text:?} is not an email address: expected name@host, at most {MAX_LENGTH} bytes, without spaces"
        )));
    }
    Ok(text)
}
