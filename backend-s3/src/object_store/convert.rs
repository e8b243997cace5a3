//! Conversion of headers, metadata, times and ETags.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use ::object_store::{Attribute, Attributes, ObjectMeta};
use tabla_core::blobs::{BlobHeaders, BlobInfo, BlobSummary};
use tabla_core::env::Timestamp;

/// Attributes with the headers and the metadata of a blob.
pub(super) fn to_attributes(
    headers: &BlobHeaders,
    metadata: &BTreeMap<String, String>,
) -> Attributes {
    let headers = [
        (Attribute::ContentType, &headers.content_type),
        (Attribute::CacheControl, &headers.cache_control),
        (Attribute::ContentDisposition, &headers.content_disposition),
        (Attribute::ContentEncoding, &headers.content_encoding),
        (Attribute::ContentLanguage, &headers.content_language),
    ];
    let headers = headers.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
    let metadata = metadata
        .iter()
        .map(|(name, value)| (Attribute::Metadata(name.clone().into()), value.clone()));
    headers.chain(metadata).collect()
}

/// Headers and metadata of a blob, and the attributes that a blob cannot have.
pub(super) fn from_attributes(
    attributes: &Attributes,
) -> (BlobHeaders, BTreeMap<String, String>, Vec<&Attribute>) {
    let mut headers = BlobHeaders::default();
    let mut metadata = BTreeMap::new();
    let mut others = Vec::new();
    for (name, value) in attributes {
        let value = value.to_string();
        match name {
            Attribute::ContentType => headers.content_type = Some(value),
            Attribute::CacheControl => headers.cache_control = Some(value),
            Attribute::ContentDisposition => headers.content_disposition = Some(value),
            Attribute::ContentEncoding => headers.content_encoding = Some(value),
            Attribute::ContentLanguage => headers.content_language = Some(value),
            Attribute::Metadata(name) => {
                metadata.insert(name.to_string(), value);
            }
            other => others.push(other),
        }
    }
    (headers, metadata, others)
}

/// Description of a blob.
pub(super) fn to_info(meta: &ObjectMeta, attributes: &Attributes) -> BlobInfo {
    // A storage class is no header of a blob.
    let (headers, metadata, _) = from_attributes(attributes);
    BlobInfo::new(meta.location.as_ref(), meta.size, etag(meta), modified(meta))
        .headers(headers)
        .metadata(metadata)
}

/// Description of a blob in a listing.
pub(super) fn to_summary(meta: &ObjectMeta) -> BlobSummary {
    BlobSummary::new(meta.location.as_ref(), meta.size, etag(meta), modified(meta))
}

fn modified(meta: &ObjectMeta) -> Timestamp {
    let since_epoch = SystemTime::from(meta.last_modified).duration_since(UNIX_EPOCH);
    (Timestamp::default() + since_epoch.unwrap_or_default()).to_millis()
}

/// Time for [`ObjectMeta::last_modified`], whose type is of a crate that this one does not name.
pub(super) fn to_system_time(time: Timestamp) -> SystemTime {
    UNIX_EPOCH + time.since(Timestamp::default())
}

/// ETag of a blob, without quotes. If the store has none, it is made of the time and the length.
fn etag(meta: &ObjectMeta) -> String {
    match &meta.e_tag {
        Some(etag) => unquoted(etag),
        // In seconds, because the listings of some services are more exact than their headers.
        None => format!("{:x}-{:x}", modified(meta).as_secs(), meta.size),
    }
}

/// ETag without the quotes of its header.
pub(super) fn unquoted(etag: &str) -> String {
    let (weak, tag) = match etag.strip_prefix("W/") {
        Some(tag) => ("W/", tag),
        None => ("", etag),
    };
    let tag = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag);
    format!("{weak}{tag}")
}

/// ETag in the form of its header.
pub(super) fn quoted(etag: &str) -> String {
    format!("\"{etag}\"")
}

#[cfg(test)]
mod tests {
    use ::object_store::path::Path;

    use super::*;

    #[test]
    fn attributes_keep_headers_and_metadata() {
        let mut headers = BlobHeaders::of_type("text/html");
        headers.cache_control = Some("no-cache".to_owned());
        headers.content_disposition = Some("inline".to_owned());
        headers.content_encoding = Some("gzip".to_owned());
        headers.content_language = Some("es".to_owned());
        let metadata = BTreeMap::from([("page".to_owned(), "2".to_owned())]);
        let mut attributes = to_attributes(&headers, &metadata);
        assert_eq!(from_attributes(&attributes), (headers, metadata, Vec::new()));
        attributes.insert(Attribute::StorageClass, "COLD".into());
        assert_eq!(from_attributes(&attributes).2, [&Attribute::StorageClass]);
        let none = to_attributes(&BlobHeaders::default(), &BTreeMap::new());
        assert!(none.is_empty());
    }

    #[test]
    fn etags_have_no_quotes() {
        for (header, expected) in
            [("\"abc\"", "abc"), ("abc", "abc"), ("W/\"abc\"", "W/abc"), ("\"", "\"")]
        {
            assert_eq!(unquoted(header), expected);
        }
    }

    #[test]
    fn missing_etag_is_made_of_time_and_length() {
        let meta = |millis, size| ObjectMeta {
            location: Path::from("a"),
            last_modified: to_system_time(Timestamp::from_millis(millis)).into(),
            size,
            e_tag: None,
            version: None,
        };
        assert_eq!(etag(&meta(16_500, 255)), "10-ff");
        assert_eq!(etag(&meta(16_000, 255)), etag(&meta(16_500, 255)));
        assert_ne!(etag(&meta(17_000, 255)), etag(&meta(16_500, 255)));
        assert_eq!(to_summary(&meta(16_500, 255)).last_modified, Timestamp::from_millis(16_500));
    }
}
