//! Texts in keys, each with its own rules.

use tabla::{Error, Result};

tabla::checked_text! {
    /// E-mail address in lower case, which identifies a user.
    ///
    /// An address with `#` is refused, although the standard allows it: `#` separates parts of keys.
    pub struct Email: address;

    /// Name of a room: any identifier but `STATUS`, whose partition holds the states of all rooms.
    pub struct RoomId: room;
}

impl Email {
    /// Domain with its `@`, as in [`ConfigDomains`](super::ConfigDomains).
    pub fn domain(&self) -> &str {
        let text = self.as_str();
        text.find('@').map_or("", |at| &text[at..])
    }
}

fn address(text: String) -> Result<String> {
    let text = text.to_lowercase();
    let parts: Vec<&str> = text.split('@').collect();
    let is_whole = parts.len() == 2 && parts.iter().all(|part| !part.is_empty());
    match is_whole && !text.contains(char::is_whitespace) {
        true => Ok(text),
        false => Err(Error::validation(format!(
            "{text:?} is not an e-mail address: expected text, one @ and text, without spaces"
        ))),
    }
}

fn room(text: String) -> Result<String> {
    match text.as_str() {
        "STATUS" => Err(Error::validation(
            "a room cannot be called STATUS: the partition ROOM#STATUS holds the states of all rooms",
        )),
        _ => Ok(text),
    }
}
