//! Two variants with one text.

use tabla::entity::KeyPart;

#[derive(KeyPart, serde::Serialize)]
enum Status {
    Open,
    #[serde(rename = "Open")]
    Paid,
}

fn main() {}
