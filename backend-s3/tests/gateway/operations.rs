//! Every request that the gateway serves, through the AWS SDK.

use aws_sdk_s3::primitives::{ByteStream, DateTime};
use aws_sdk_s3::types::{
    ChecksumAlgorithm, ChecksumMode, ChecksumType, CompletedMultipartUpload, CompletedPart, Delete,
    EncodingType, MetadataDirective, ObjectIdentifier,
};

use crate::support::{BUCKET, Gateway, code};

fn bytes(text: &'static str) -> ByteStream {
    ByteStream::from_static(text.as_bytes())
}

async fn put(gateway: &Gateway, key: &str, text: &'static str) -> String {
    let output = gateway.client.put_object().bucket(BUCKET).key(key).body(bytes(text));
    output.send().await.unwrap().e_tag.unwrap()
}

async fn read(gateway: &Gateway, bucket: &str, key: &str) -> String {
    let output = gateway.client.get_object().bucket(bucket).key(key).send().await.unwrap();
    String::from_utf8(output.body.collect().await.unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn key_above_its_root_is_refused_with_status_400_and_no_body() {
    let gateway = Gateway::start().await;
    let client = &gateway.client;
    put(&gateway, "k", "old").await;
    for key in ["../k", "a/../../k", "../default/k", ".."] {
        let refused = client.put_object().bucket(BUCKET).key(key).body(bytes("new")).send().await;
        let error = refused.expect_err(key);
        let response = error.raw_response().expect("a response");
        assert_eq!(response.status().as_u16(), 400, "{key}");
        assert_eq!(response.body().bytes(), Some(&b""[..]), "{key}");
        assert_eq!(code(client.get_object().bucket(BUCKET).key(key).send().await), "400", "{key}");
        let copy = client.copy_object().bucket(BUCKET).key("copy");
        let copy = copy.copy_source(format!("{BUCKET}/{key}")).send().await;
        assert_eq!(code(copy), "InvalidArgument", "{key}");
    }
    put(&gateway, "a/../k", "another key").await;
    assert_eq!(read(&gateway, BUCKET, "k").await, "old");
    assert_eq!(gateway.keys().await, ["a/../k", "k"]);
}

#[tokio::test]
async fn buckets_are_created_listed_and_deleted() {
    let gateway = Gateway::start().await;
    let client = &gateway.client;
    client.create_bucket().bucket("second").send().await.unwrap();
    let again = client.create_bucket().bucket("second").send().await;
    assert_eq!(code(again), "BucketAlreadyOwnedByYou");
    let invalid = client.create_bucket().bucket("Second_").send().await;
    assert_eq!(code(invalid), "InvalidBucketName");
    let head = client.head_bucket().bucket("second").send().await.unwrap();
    assert_eq!(head.bucket_region(), Some("us-east-1"));
    assert_eq!(code(client.head_bucket().bucket("third").send().await), "NotFound");
    let names = |output: &aws_sdk_s3::operation::list_buckets::ListBucketsOutput| -> Vec<String> {
        output.buckets().iter().filter_map(|bucket| bucket.name().map(str::to_owned)).collect()
    };
    let all = client.list_buckets().send().await.unwrap();
    assert_eq!(names(&all), [BUCKET, "second"]);
    let page = client.list_buckets().max_buckets(1).send().await.unwrap();
    assert_eq!(names(&page), [BUCKET]);
    let rest = client.list_buckets().set_continuation_token(page.continuation_token);
    assert_eq!(names(&rest.send().await.unwrap()), ["second"]);
    let location = client.get_bucket_location().bucket("second").send().await.unwrap();
    let region = location.location_constraint().map_or("", |region| region.as_str());
    assert_eq!(region, "", "us-east-1");
    put(&gateway, "k", "x").await;
    let full = client.delete_bucket().bucket(BUCKET).send().await;
    assert_eq!(code(full), "BucketNotEmpty");
    client.delete_bucket().bucket("second").send().await.unwrap();
    assert_eq!(code(client.delete_bucket().bucket("second").send().await), "NoSuchBucket");
}

#[tokio::test]
async fn object_keeps_content_headers_metadata_and_checksum() {
    let gateway = Gateway::start().await;
    let client = &gateway.client;
    let key = "a b/ü+%25/../x//";
    let put = client
        .put_object()
        .bucket(BUCKET)
        .key(key)
        .body(bytes("hello"))
        .content_type("text/plain")
        .cache_control("max-age=60")
        .content_disposition("attachment")
        .content_encoding("identity")
        .content_language("es")
        .metadata("owner", "me")
        .checksum_algorithm(ChecksumAlgorithm::Sha256)
        .send()
        .await
        .unwrap();
    assert_eq!(put.e_tag(), Some("\"5d41402abc4b2a76b9719d911017c592\""));
    let checksum = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";
    assert_eq!(put.checksum_sha256(), Some(checksum));
    let get = client.get_object().bucket(BUCKET).key(key).checksum_mode(ChecksumMode::Enabled);
    let get = get.send().await.unwrap();
    assert_eq!(get.checksum_sha256(), Some(checksum));
    assert_eq!(get.content_type(), Some("text/plain"));
    assert_eq!(get.cache_control(), Some("max-age=60"));
    assert_eq!(get.content_disposition(), Some("attachment"));
    assert_eq!(get.content_encoding(), Some("identity"));
    assert_eq!(get.content_language(), Some("es"));
    assert_eq!(get.metadata().unwrap()["owner"], "me");
    assert_eq!(get.content_length(), Some(5));
    assert_eq!(get.e_tag(), put.e_tag());
    assert_eq!(get.body.collect().await.unwrap().to_vec(), b"hello");
    let head = client.head_object().bucket(BUCKET).key(key).send().await.unwrap();
    assert_eq!(head.content_length(), Some(5));
    assert_eq!(head.content_type(), Some("text/plain"));
    assert_eq!(head.metadata().unwrap()["owner"], "me");
    assert_eq!(head.checksum_sha256(), None, "the checksum was not asked for");
    let empty = client.put_object().bucket(BUCKET).key("empty").body(bytes("")).send().await;
    assert_eq!(empty.unwrap().e_tag(), Some("\"d41d8cd98f00b204e9800998ecf8427e\""));
    assert_eq!(read(&gateway, BUCKET, "empty").await, "");
    client.delete_object().bucket(BUCKET).key(key).send().await.unwrap();
    client.delete_object().bucket(BUCKET).key(key).send().await.unwrap();
    let missing = client.get_object().bucket(BUCKET).key(key).send().await;
    assert_eq!(code(missing), "NoSuchKey");
    assert_eq!(code(client.head_object().bucket(BUCKET).key(key).send().await), "NotFound");
    let missing = client.get_object().bucket("missing").key(key).send().await;
    assert_eq!(code(missing), "NoSuchBucket");
}

#[tokio::test]
async fn every_checksum_algorithm_is_verified_and_stored() {
    let gateway = Gateway::start().await;
    for algorithm in [
        ChecksumAlgorithm::Crc32,
        ChecksumAlgorithm::Crc32C,
        ChecksumAlgorithm::Crc64Nvme,
        ChecksumAlgorithm::Sha1,
        ChecksumAlgorithm::Sha256,
    ] {
        let request = gateway.client.put_object().bucket(BUCKET).key(algorithm.as_str());
        let put = request.body(bytes("hello")).checksum_algorithm(algorithm.clone());
        let put = put.send().await.unwrap();
        let get = gateway.client.get_object().bucket(BUCKET).key(algorithm.as_str());
        let get = get.checksum_mode(ChecksumMode::Enabled).send().await.unwrap();
        let all = [
            get.checksum_crc32(),
            get.checksum_crc32_c(),
            get.checksum_crc64_nvme(),
            get.checksum_sha1(),
            get.checksum_sha256(),
        ];
        assert_eq!(all.iter().flatten().count(), 1, "{algorithm}: {put:?}");
        assert_eq!(get.checksum_type(), Some(&ChecksumType::FullObject));
        assert_eq!(get.body.collect().await.unwrap().to_vec(), b"hello");
    }
    let put = |key: &'static str| gateway.client.put_object().bucket(BUCKET).key(key);
    let wrong = put("wrong").body(bytes("hello")).checksum_crc32("AAAAAA==").send().await;
    assert_eq!(code(wrong), "BadDigest");
    let wrong = put("wrong").body(bytes("hello")).content_md5("kAFQmDzST7DWlj99KOF/cg==");
    assert_eq!(code(wrong.send().await), "BadDigest");
    let invalid = put("wrong").body(bytes("hello")).content_md5("x").send().await;
    assert_eq!(code(invalid), "InvalidDigest");
    assert!(!gateway.keys().await.contains(&"wrong".to_owned()));
}

#[tokio::test]
async fn ranges_are_read() {
    let gateway = Gateway::start().await;
    put(&gateway, "k", "0123456789").await;
    for (range, expected, content_range) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-2", "89", "bytes 8-9/10"),
        ("bytes=8-100", "89", "bytes 8-9/10"),
        ("bytes=0-9", "0123456789", "bytes 0-9/10"),
    ] {
        let get = gateway.client.get_object().bucket(BUCKET).key("k").range(range);
        let get = get.send().await.unwrap();
        assert_eq!(get.content_range(), Some(content_range));
        assert_eq!(get.body.collect().await.unwrap().to_vec(), expected.as_bytes());
        let head = gateway.client.head_object().bucket(BUCKET).key("k").range(range);
        assert_eq!(head.send().await.unwrap().content_length(), Some(expected.len() as i64));
    }
    let behind = gateway.client.get_object().bucket(BUCKET).key("k").range("bytes=10-");
    assert_eq!(code(behind.send().await), "InvalidRange");
    for ignored in ["bytes=5-2", "bytes=0-1,3-4", "lines=1-2"] {
        let get = gateway.client.get_object().bucket(BUCKET).key("k").range(ignored);
        assert_eq!(get.send().await.unwrap().content_length(), Some(10), "{ignored}");
    }
}

#[tokio::test]
async fn conditions_of_reads_and_writes_hold() {
    let gateway = Gateway::start().await;
    let etag = put(&gateway, "k", "one").await;
    let get = || gateway.client.get_object().bucket(BUCKET).key("k");
    let head = || gateway.client.head_object().bucket(BUCKET).key("k");
    get().if_match(&etag).send().await.unwrap();
    assert_eq!(code(get().if_match("\"other\"").send().await), "PreconditionFailed");
    assert_eq!(code(get().if_none_match(&etag).send().await), "304");
    get().if_none_match("\"other\"").send().await.unwrap();
    let now = gateway.client.head_object().bucket(BUCKET).key("k").send().await.unwrap();
    let modified = *now.last_modified().unwrap();
    let later = DateTime::from_secs(modified.secs() + 10);
    let earlier = DateTime::from_secs(modified.secs() - 10);
    assert_eq!(code(get().if_modified_since(later).send().await), "304");
    get().if_modified_since(earlier).send().await.unwrap();
    assert_eq!(code(get().if_unmodified_since(earlier).send().await), "PreconditionFailed");
    assert_eq!(code(head().if_none_match(&etag).send().await), "304");
    assert_eq!(code(head().if_match("\"other\"").send().await), "412");
    let write = || gateway.client.put_object().bucket(BUCKET).key("k").body(bytes("two"));
    assert_eq!(code(write().if_none_match("*").send().await), "PreconditionFailed");
    assert_eq!(code(write().if_match("\"other\"").send().await), "PreconditionFailed");
    assert_eq!(code(write().if_none_match("\"other\"").send().await), "NotImplemented");
    let absent = gateway.client.put_object().bucket(BUCKET).key("x").body(bytes("two"));
    assert_eq!(code(absent.if_match(&etag).send().await), "NoSuchKey");
    write().if_match(&etag).send().await.unwrap();
    assert_eq!(read(&gateway, BUCKET, "k").await, "two");
    let delete = || gateway.client.delete_object().bucket(BUCKET).key("k");
    assert_eq!(code(delete().if_match(&etag).send().await), "PreconditionFailed");
    delete().if_match("*").send().await.unwrap();
    assert!(gateway.keys().await.is_empty());
}

#[tokio::test]
async fn listings_have_pages_prefixes_and_encoded_keys() {
    let gateway = Gateway::start().await;
    for key in ["a", "b/1", "b/2", "c d+%ü", "e\u{1}\r"] {
        put(&gateway, key, "x").await;
    }
    let list = || gateway.client.list_objects_v2().bucket(BUCKET);
    let all = list().send().await.unwrap();
    let keys: Vec<_> = all.contents().iter().map(|object| object.key().unwrap()).collect();
    assert_eq!(keys[..4], ["a", "b/1", "b/2", "c d+%ü"]);
    assert_eq!((all.key_count(), all.is_truncated()), (Some(5), Some(false)));
    let encoded = list().encoding_type(EncodingType::Url).send().await.unwrap();
    let keys: Vec<_> = encoded.contents().iter().map(|object| object.key().unwrap()).collect();
    assert_eq!(keys, ["a", "b/1", "b/2", "c%20d%2B%25%C3%BC", "e%01%0D"]);
    let first = list().delimiter("/").max_keys(2).send().await.unwrap();
    assert_eq!(first.contents()[0].key(), Some("a"));
    assert_eq!(first.common_prefixes()[0].prefix(), Some("b/"));
    assert_eq!(first.is_truncated(), Some(true));
    let token = first.next_continuation_token().unwrap();
    let second = list().delimiter("/").continuation_token(token).send().await.unwrap();
    assert_eq!(second.contents()[0].key(), Some("c d+%ü"));
    assert_eq!(code(list().continuation_token("!").send().await), "InvalidArgument");
    let behind = list().start_after("b/1").prefix("b").send().await.unwrap();
    assert_eq!(behind.contents()[0].key(), Some("b/2"));
    let legacy = gateway.client.list_objects().bucket(BUCKET).delimiter("/").max_keys(2);
    let legacy = legacy.send().await.unwrap();
    assert_eq!(legacy.next_marker(), Some("b/"));
    let rest = gateway.client.list_objects().bucket(BUCKET).marker("b/2").send().await.unwrap();
    assert_eq!(rest.contents()[0].key(), Some("c d+%ü"));
}

#[tokio::test]
async fn objects_are_deleted_together() {
    let gateway = Gateway::start().await;
    for key in ["a", "b<&>\u{1}", "c"] {
        put(&gateway, key, "x").await;
    }
    let objects = ["a", "b<&>\u{1}", "missing"]
        .map(|key| ObjectIdentifier::builder().key(key).build().unwrap());
    let delete = Delete::builder().set_objects(Some(objects.to_vec())).build().unwrap();
    let output = gateway.client.delete_objects().bucket(BUCKET).delete(delete);
    let output = output.send().await.unwrap();
    assert_eq!((output.deleted().len(), output.errors().len()), (3, 0));
    assert_eq!(gateway.keys().await, ["c"]);
    let quiet = Delete::builder().objects(ObjectIdentifier::builder().key("c").build().unwrap());
    let quiet = quiet.quiet(true).build().unwrap();
    let output = gateway.client.delete_objects().bucket(BUCKET).delete(quiet).send().await;
    assert!(output.unwrap().deleted().is_empty());
    assert!(gateway.keys().await.is_empty());
}

#[tokio::test]
async fn objects_are_copied_inside_and_between_buckets() {
    let gateway = Gateway::start().await;
    let client = &gateway.client;
    client.create_bucket().bucket("second").send().await.unwrap();
    let put = client.put_object().bucket(BUCKET).key("a ü").body(bytes("hello"));
    let etag = put.metadata("x", "1").content_type("text/plain").send().await.unwrap().e_tag;
    let etag = etag.unwrap();
    for bucket in [BUCKET, "second"] {
        let copy = || {
            let source = format!("{BUCKET}/a%20%C3%BC");
            client.copy_object().bucket(bucket).key("copy").copy_source(source)
        };
        let copied = copy().send().await.unwrap();
        assert_eq!(copied.copy_object_result().unwrap().e_tag(), Some(etag.as_str()));
        let head = client.head_object().bucket(bucket).key("copy").send().await.unwrap();
        assert_eq!(head.metadata().unwrap()["x"], "1");
        assert_eq!(head.content_type(), Some("text/plain"));
        assert_eq!(read(&gateway, bucket, "copy").await, "hello");
        let replace = copy().metadata_directive(MetadataDirective::Replace).metadata("y", "2");
        replace.content_type("text/html").send().await.unwrap();
        let head = client.head_object().bucket(bucket).key("copy").send().await.unwrap();
        assert_eq!(head.metadata().unwrap().len(), 1);
        assert_eq!(head.content_type(), Some("text/html"));
        let failed = copy().copy_source_if_match("\"other\"").send().await;
        assert_eq!(code(failed), "PreconditionFailed");
        let failed = copy().copy_source_if_none_match(&etag).send().await;
        assert_eq!(code(failed), "PreconditionFailed");
        let checksum = copy().checksum_algorithm(ChecksumAlgorithm::Sha1).send().await.unwrap();
        assert!(checksum.copy_object_result().unwrap().checksum_sha1().is_some());
    }
    let missing = client.copy_object().bucket(BUCKET).key("c").copy_source("second/missing");
    assert_eq!(code(missing.send().await), "NoSuchKey");
    let itself = client.copy_object().bucket(BUCKET).key("copy").copy_source("default/copy");
    assert_eq!(code(itself.send().await), "InvalidRequest");
}

#[tokio::test]
async fn multipart_upload_is_completed_listed_and_aborted() {
    let gateway = Gateway::start().await;
    let client = &gateway.client;
    let create = client.create_multipart_upload().bucket(BUCKET).key("k");
    let create = create.checksum_algorithm(ChecksumAlgorithm::Crc32).metadata("x", "1");
    let created = create.send().await.unwrap();
    let id = created.upload_id().unwrap();
    let large = vec![b'a'; 5 << 20];
    let upload = |number, body: Vec<u8>| {
        let part = client.upload_part().bucket(BUCKET).key("k").upload_id(id);
        let part = part.part_number(number).body(ByteStream::from(body));
        part.checksum_algorithm(ChecksumAlgorithm::Crc32).send()
    };
    let one = upload(1, large.clone()).await.unwrap();
    let copy = client.put_object().bucket(BUCKET).key("source").body(bytes("0123456789"));
    copy.send().await.unwrap();
    let part = client.upload_part_copy().bucket(BUCKET).key("k").upload_id(id).part_number(2);
    let two = part.copy_source("default/source").copy_source_range("bytes=2-4").send().await;
    let two = two.unwrap().copy_part_result.unwrap();
    let parts = client.list_parts().bucket(BUCKET).key("k").upload_id(id).max_parts(1);
    let parts = parts.send().await.unwrap();
    assert_eq!(parts.parts()[0].size(), Some(5 << 20));
    assert_eq!(parts.next_part_number_marker(), Some("1"));
    let uploads = client.list_multipart_uploads().bucket(BUCKET).send().await.unwrap();
    assert_eq!(uploads.uploads()[0].upload_id(), Some(id));
    let complete = |parts: Vec<CompletedPart>| {
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let request = client.complete_multipart_upload().bucket(BUCKET).key("k").upload_id(id);
        request.multipart_upload(parts).send()
    };
    let list = |swap: bool| {
        let part = |number, etag: Option<String>, crc: Option<String>| {
            let part = CompletedPart::builder().part_number(number).set_e_tag(etag);
            part.set_checksum_crc32(crc).build()
        };
        let mut parts = vec![
            part(1, one.e_tag.clone(), one.checksum_crc32.clone()),
            part(2, two.e_tag.clone(), two.checksum_crc32.clone()),
        ];
        if swap {
            parts.reverse();
        }
        parts
    };
    assert_eq!(code(complete(list(true)).await), "InvalidPartOrder");
    let mut wrong = list(false);
    wrong[0].e_tag = Some("\"x\"".to_owned());
    assert_eq!(code(complete(wrong).await), "InvalidPart");
    let done = complete(list(false)).await.unwrap();
    assert!(done.e_tag().unwrap().ends_with("-2\""), "{done:?}");
    assert_eq!(done.checksum_type(), Some(&ChecksumType::Composite));
    let head = client.head_object().bucket(BUCKET).key("k").send().await.unwrap();
    assert_eq!(head.content_length(), Some((5 << 20) + 3));
    assert_eq!(head.metadata().unwrap()["x"], "1");
    let range = client.get_object().bucket(BUCKET).key("k").range("bytes=-4").send().await;
    assert_eq!(range.unwrap().body.collect().await.unwrap().to_vec(), b"a234");
    let again = client.create_multipart_upload().bucket(BUCKET).key("k").send().await.unwrap();
    let abort = || {
        let id = again.upload_id().unwrap();
        client.abort_multipart_upload().bucket(BUCKET).key("k").upload_id(id).send()
    };
    abort().await.unwrap();
    assert_eq!(code(abort().await), "NoSuchUpload");
}

#[tokio::test]
async fn other_requests_are_not_implemented() {
    let gateway = Gateway::start().await;
    let client = &gateway.client;
    put(&gateway, "k", "x").await;
    assert_eq!(code(client.get_bucket_acl().bucket(BUCKET).send().await), "NotImplemented");
    assert_eq!(code(client.get_bucket_policy().bucket(BUCKET).send().await), "NotImplemented");
    let tags = client.get_object_tagging().bucket(BUCKET).key("k").send().await;
    assert_eq!(code(tags), "NotImplemented");
    let delete = client.delete_bucket_lifecycle().bucket(BUCKET).send().await;
    assert_eq!(code(delete), "NotImplemented");
    let part = client.get_object().bucket(BUCKET).key("k").part_number(1).send().await;
    assert_eq!(code(part), "NotImplemented");
    let acl = aws_sdk_s3::types::ObjectCannedAcl::PublicRead;
    let acl = client.put_object().bucket(BUCKET).key("x").acl(acl).send().await;
    assert_eq!(code(acl), "NotImplemented");
    let tagged = client.put_object().bucket(BUCKET).key("x").tagging("a=b").send().await;
    assert_eq!(code(tagged), "NotImplemented");
    assert_eq!(gateway.keys().await, ["k"]);
}
