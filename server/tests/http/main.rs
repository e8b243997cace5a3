//! The server as its clients meet it: heads and bodies, limits, and how it ends.

mod answers;
mod browsers;
mod client;
mod ends;
mod legacy;
mod limits;
mod only_aws;
mod sdk;
mod streams;
mod tables;
