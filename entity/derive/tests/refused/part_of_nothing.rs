//! A part of a key without a value.

use tabla::entity::KeyPart;

#[derive(KeyPart)]
enum Status {}

fn main() {}
