//! Lifetime of a server: from the return of `endpoint` to the end of the process that called it.

mod dynamodb;
mod helper;
mod versitygw;
