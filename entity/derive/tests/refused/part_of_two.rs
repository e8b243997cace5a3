//! A part of a key that is made of two.

use tabla::entity::KeyPart;

#[derive(KeyPart)]
struct Place(u32, u32);

fn main() {}
