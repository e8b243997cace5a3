//! Secret of an access key, and the signing keys derived from it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::canonical;
use super::scope::Scope;

type HmacSha256 = Hmac<Sha256>;

/// Secret of an access key, with the session token if it has one.
pub(super) struct Key {
    secret: String,
    session_token: Option<String>,
    /// Signing key that was derived last. It is valid for one day, region and service, so that a
    /// client uses the same one for many requests.
    last: Mutex<Option<Derived>>,
}

struct Derived {
    scope: String,
    key: HmacSha256,
}

impl Key {
    /// Creates a key. Requests with it must carry `session_token` if there is one.
    pub(super) fn new(secret: String, session_token: Option<String>) -> Self {
        Self { secret, session_token, last: Mutex::new(None) }
    }

    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    /// Whether requests have to carry a session token.
    pub(super) fn is_of_a_session(&self) -> bool {
        self.session_token.is_some()
    }

    /// Whether the token is that of the session. Returns false for a key without a session.
    pub(super) fn has_token(&self, token: &[u8]) -> bool {
        self.session_token.as_ref().is_some_and(|own| own.as_bytes().ct_eq(token).into())
    }

    /// Returns the signature of a text, in hexadecimal digits.
    pub(super) fn sign(&self, scope: &Scope<'_>, text: &str) -> String {
        canonical::hexadecimal(&mac(self.signing_key(scope), text))
    }

    fn signing_key(&self, scope: &Scope<'_>) -> HmacSha256 {
        if let Some(last) = self.last().as_ref().filter(|last| last.scope == scope.text) {
            return last.key.clone();
        }
        let key = derive(&self.secret, scope);
        *self.last() = Some(Derived { scope: scope.text.to_owned(), key: key.clone() });
        key
    }

    fn last(&self) -> MutexGuard<'_, Option<Derived>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows no field: logs must not contain secrets.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

/// Derives the signing key for a day, region and service.
fn derive(secret: &str, scope: &Scope<'_>) -> HmacSha256 {
    let mut key = keyed(format!("AWS4{secret}").as_bytes());
    for part in [scope.day, scope.region, scope.service, "aws4_request"] {
        key = keyed(&mac(key, part));
    }
    key
}

fn keyed(key: &[u8]) -> HmacSha256 {
    HmacSha256::new_from_slice(key).expect("HMAC accepts keys of any length")
}

fn mac(key: HmacSha256, text: &str) -> [u8; 32] {
    key.chain_update(text).finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn scope(credential: &str) -> Scope<'_> {
        Scope::read(credential).unwrap()
    }

    #[test]
    fn signature_matches_the_example_of_the_aws_documentation() {
        let key = Key::new(SECRET.to_owned(), None);
        let text = "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/iam/aws4_request\n\
                    f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59";
        assert_eq!(
            key.sign(&scope("AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request"), text),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }

    #[test]
    fn derived_key_is_not_used_for_another_scope() {
        let signed = |key: &Key, scope: &Scope<'_>| key.sign(scope, "text");
        let used = Key::new(SECRET.to_owned(), None);
        for credential in [
            "a/20150830/us-east-1/dynamodb/aws4_request",
            "a/20150831/us-east-1/dynamodb/aws4_request",
            "a/20150831/us-east-2/dynamodb/aws4_request",
            "a/20150831/us-east-2/dynamodb/aws4_request",
            "a/20150830/us-east-1/dynamodb/aws4_request",
        ] {
            let fresh = Key::new(SECRET.to_owned(), None);
            let scope = scope(credential);
            assert_eq!(signed(&used, &scope), signed(&fresh, &scope), "{credential}");
        }
        let other = scope("a/20150831/us-east-1/dynamodb/aws4_request");
        let scope = scope("a/20150830/us-east-1/dynamodb/aws4_request");
        assert_ne!(signed(&used, &scope), signed(&used, &other));
    }

    #[test]
    fn key_without_a_session_has_no_token() {
        let key = Key::new(SECRET.to_owned(), None);
        assert!(!key.has_token(b""));
        let key = Key::new(SECRET.to_owned(), Some("token".to_owned()));
        assert!(key.has_token(b"token"));
        assert!(!key.has_token(b"tokens"));
        assert!(!key.has_token(b""));
    }
}
