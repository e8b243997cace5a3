//! The server over sockets: heads and bodies, limits, shutdown.

mod answers;
mod browsers;
mod client;
mod ends;
mod legacy;
mod limits;
mod only_aws;
mod sdk;
mod streaming;
mod streams;
mod tables;
