//! Access keys with which requests may be signed.

use std::sync::Arc;

use tabla_server::Credentials;

use crate::SigningKey;

/// The buckets' own key, with which their presigned URLs are signed, and the keys of a
/// credentials file.
#[derive(Debug)]
pub(super) struct Keys {
    own: SigningKey,
    credentials: Option<Arc<Credentials>>,
}

/// Key with the id of a request.
pub(super) struct Key<'a> {
    /// Secret of the key. It must not be logged.
    pub(super) secret: &'a str,
    /// Whether the session token of the request is that of the key, or neither has one.
    pub(super) has_token: bool,
}

impl Keys {
    pub(super) fn new(own: SigningKey, credentials: Option<Arc<Credentials>>) -> Self {
        Self { own, credentials }
    }

    /// Returns the key with this id; `token` is the session token of the request.
    pub(super) fn find(&self, id: &str, token: Option<&[u8]>) -> Option<Key<'_>> {
        if id == self.own.id() {
            return Some(Key { secret: self.own.secret(), has_token: token.is_none() });
        }
        let key = self.credentials.as_ref()?.access_key(id)?;
        let has_token = match token {
            Some(token) => key.has_session_token(token),
            None => !key.requires_session_token(),
        };
        Some(Key { secret: key.secret(), has_token })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_key_and_keys_of_the_file_are_found() {
        let file = "[a]\naws_access_key_id=a\naws_secret_access_key=b\n\
                    [c]\naws_access_key_id=c\naws_secret_access_key=d\naws_session_token=e\n";
        let credentials = Some(Arc::new(Credentials::parse(file).unwrap()));
        let keys = Keys::new(SigningKey::new("own", "secret"), credentials);
        let find = |id, token| keys.find(id, token).map(|key| (key.secret, key.has_token));
        assert_eq!(find("own", None), Some(("secret", true)));
        assert_eq!(find("own", Some(&b"e"[..])), Some(("secret", false)));
        assert_eq!(find("a", None), Some(("b", true)));
        assert_eq!(find("c", None), Some(("d", false)));
        assert_eq!(find("c", Some(&b"e"[..])), Some(("d", true)));
        assert_eq!(find("x", None), None);
        let keys = Keys::new(SigningKey::new("own", "secret"), None);
        assert!(keys.find("a", None).is_none());
    }
}
