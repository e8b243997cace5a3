//! A part of a key whose variants have data.

use tabla::entity::KeyPart;

#[derive(KeyPart)]
enum Status {
    Open,
    Paid { amount: u32 },
}

fn main() {}
