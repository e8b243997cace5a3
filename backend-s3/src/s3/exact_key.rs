//! Keys of white space alone, which the SDK takes for missing ones.

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextMut;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

use crate::sign::encode;

/// Key that the SDK gets for one of white space alone.
const STAND_IN: &str = "blank";

/// Key as the SDK accepts it. [`ExactKey`] restores it in the same call.
pub(super) fn sdk_key(key: &str) -> &str {
    match key.trim() {
        "" => STAND_IN,
        _ => key,
    }
}

/// Puts the key of a request into its URL before it is signed, if the SDK has got a stand-in.
#[derive(Debug)]
pub(super) struct ExactKey(Option<String>);

impl ExactKey {
    pub(super) fn new(key: &str) -> Self {
        Self(key.trim().is_empty().then(|| encode(key, true)))
    }

    fn restore(&self, uri: &str) -> Option<String> {
        let key = self.0.as_ref()?;
        let (path, query) = match uri.split_once('?') {
            Some((path, query)) => (path, format!("?{query}")),
            None => (uri, String::new()),
        };
        let path = path.strip_suffix(STAND_IN)?;
        Some(format!("{path}{key}{query}"))
    }
}

#[dyn_dispatch_hint]
impl Intercept for ExactKey {
    fn name(&self) -> &'static str {
        "ExactKey"
    }

    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(uri) = self.restore(context.request().uri()) {
            context.request_mut().set_uri(uri)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_of_white_space_is_restored_before_the_query() {
        let restored = |key: &str, uri: &str| ExactKey::new(key).restore(uri);
        assert_eq!(sdk_key(" "), "blank");
        assert_eq!(restored(" ", "http://h/b/blank?x-id=a"), Some("http://h/b/%20?x-id=a".into()));
        assert_eq!(restored("\n", "http://h/b/blank"), Some("http://h/b/%0A".into()));
        assert_eq!((sdk_key("blank"), restored("blank", "http://h/b/blank")), ("blank", None));
        assert_eq!((sdk_key(" a"), restored(" a", "http://h/b/%20a")), (" a", None));
    }
}
