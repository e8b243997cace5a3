//! Texts that keys are made of, each with rules of its own.

use tabla::{Error, Result};

tabla::checked_text! {
    /// The address of a user, which is who they are: in lower case, so that one address is one
    /// user.
    ///
    /// An address may have a `#` by the standard; one that does is refused, because it separates
    /// the parts of a key.
    pub struct Email: address;

    /// The name of a room: any identifier but `STATUS`, whose partition holds the states of all
    /// rooms.
    pub struct RoomId: room;
}

impl Email {
    /// From the `@` on, as lists of domains have it.
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
        false => Err(Error::validation(format!("{text:?} is not the address of a user"))),
    }
}

fn room(text: String) -> Result<String> {
    match text.as_str() {
        "STATUS" => Err(Error::validation("no room is called STATUS: all their states are")),
        _ => Ok(text),
    }
}
