//! A part of a key whose text has the separator.

use tabla::entity::KeyPart;

#[derive(KeyPart, serde::Serialize)]
enum Status {
    Open,
    #[serde(rename = "paid#full")]
    Paid,
}

fn main() {}
