//! Order of versions and delete markers in a listing.
//!
//! S3 lists both in one order. The SDK returns two lists, from which that order does not follow: two
//! writes of one second have the same time. So an interceptor reads it from the response.

use std::sync::{Arc, Mutex, PoisonError};

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::AfterDeserializationInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

/// Kinds of the entries of a response, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct VersionOrder(Arc<Mutex<Vec<Entry>>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Version,
    DeleteMarker,
}

impl VersionOrder {
    /// Merges the lists of the SDK. Entries beyond the order of the response come last.
    pub(super) fn merge<T>(&self, versions: Vec<T>, markers: Vec<T>) -> Vec<T> {
        let (mut versions, mut markers) = (versions.into_iter(), markers.into_iter());
        let order = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all: Vec<T> = order
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Version => versions.next(),
                Entry::DeleteMarker => markers.next(),
            })
            .collect();
        all.extend(versions);
        all.extend(markers);
        all
    }
}

#[dyn_dispatch_hint]
impl Intercept for VersionOrder {
    fn name(&self) -> &'static str {
        "VersionOrder"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response().body().bytes().unwrap_or_default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = entries(body);
        Ok(())
    }
}

/// Kinds of the elements of a response. Keys are escaped, so no text looks like an element.
fn entries(body: &[u8]) -> Vec<Entry> {
    let elements = body.split(|byte| *byte == b'<').skip(1);
    let name = |element: &[u8]| {
        let is_end = |byte: &u8| matches!(byte, b'>' | b' ' | b'/' | b'\n' | b'\r' | b'\t');
        let end = element.iter().position(is_end).unwrap_or(element.len());
        match &element[..end] {
            b"Version" => Some(Entry::Version),
            b"DeleteMarker" => Some(Entry::DeleteMarker),
            _ => None,
        }
    };
    elements.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_markers_keep_the_order_of_the_response() {
        let body = b"<?xml version=\"1.0\"?><ListVersionsResult><VersionIdMarker/>\
            <Version><VersionId>1</VersionId></Version><DeleteMarker><Key>a</Key></DeleteMarker>\
            <DeleteMarker xmlns=\"x\"/><Version></Version></ListVersionsResult>";
        let order = VersionOrder::default();
        *order.0.lock().unwrap() = entries(body);
        assert_eq!(order.merge(vec![1, 4], vec![2, 3]), [1, 2, 3, 4]);
        assert_eq!(order.merge(vec![1, 4, 5], vec![2]), [1, 2, 4, 5]);
    }
}
