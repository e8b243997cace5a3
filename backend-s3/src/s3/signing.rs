//! Signature of a body whose SHA-256 is known, without hashing it again.

use aws_runtime::auth::PayloadSigningOverride;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextMut;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use tabla_core::blobs::Checksum;

/// Gives the signer the SHA-256 of the body; `None`: the signer computes it.
#[derive(Debug)]
pub(super) struct SignKnownBody(pub(super) Option<Checksum>);

#[dyn_dispatch_hint]
impl Intercept for SignKnownBody {
    fn name(&self) -> &'static str {
        "SignKnownBody"
    }

    fn modify_before_signing(
        &self,
        _: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(sha256) = &self.0 {
            let known = PayloadSigningOverride::Precomputed(sha256.hex());
            config.interceptor_state().store_put(known);
        }
        Ok(())
    }
}
