//! Addresses of email, as keys have them.

use tabla::{Error, Result};

tabla::checked_text! {
    /// An address of email in lower case: keys are compared byte by byte, and nobody means another
    /// person by other capitals.
    pub struct Email: address;
}

/// The longest address, in bytes (RFC 5321).
const MAX_LENGTH: usize = 254;

fn address(text: String) -> Result<String> {
    let text = text.to_lowercase();
    let is_address = text
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if !is_address || text.len() > MAX_LENGTH || text.contains(char::is_whitespace) {
        return Err(Error::validation(format!(
            "{text:?} is not an address of email that can be kept"
        )));
    }
    Ok(text)
}
