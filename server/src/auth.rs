//! AWS Signature Version 4, in the form of an `Authorization` header.
//!
//! A client proves that it knows a secret by signing the request with it. The signature covers the
//! method, the path, the body, the time, and the headers that name the operation. The secret itself
//! is never sent. [`verify()`] computes the signature of the received request and compares.
//!
//! The errors have DynamoDB's order and wording, because clients depend on them: an SDK that
//! receives `Signature expired` corrects its clock and sends the request again. Their sources are
//! published responses of the service; where those disagree, the newest one counts. The algorithm
//! is that of
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>.

mod authorization;
mod canonical;
mod credentials;
mod key;
mod refusal;
mod scope;
mod signing_time;
mod verify;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod signer;
#[cfg(test)]
mod vectors;

pub use credentials::{AccessKey, Credentials};
pub(crate) use verify::verify;
