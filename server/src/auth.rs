//! Who may send requests: AWS Signature Version 4, in the form of an `Authorization` header.
//!
//! A client proves that it knows a secret by signing the request with it; the signature covers
//! the method, the path, the body, the time and the headers that say what is asked for. The
//! secret itself is never sent. [`verify()`] makes the signature again from what arrived and
//! compares.
//!
//! The refusals are DynamoDB's own, in its order and its words, because clients act on them: an
//! SDK that is told `Signature expired` corrects its clock and tries again. Their sources are
//! answers of the service that others have published; where those disagree, the newest one counts.
//! The algorithm is that of
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

pub use credentials::Credentials;
pub(crate) use verify::verify;
