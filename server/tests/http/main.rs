//! The server as its clients meet it: heads and bodies, limits, and how it ends.

mod answers;
mod client;
mod ends;
mod limits;
mod sdk;
mod tables;
