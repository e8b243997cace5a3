//! Random operations on memory and on a folder: both answer the same.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tabla_core::blobs::*;
use tabla_core::env::ManualClock;
use tabla_core::{Applied, Error, ErrorKind, Retry};
use tabla_s3::{Buckets, FileFolder, MemoryBuckets};

use crate::support::*;

/// One operation. Indexes refer to the few keys, ETags, versions and uploads of a run.
#[derive(Clone, Debug)]
enum Step {
    Put { key: usize, content: u8, condition: u8 },
    Delete { key: usize, is_conditional: bool },
    DeleteMany { keys: Vec<usize> },
    Copy { source: usize, key: usize, condition: u8, is_replaced: bool },
    Get { key: usize, range: (u64, u64), if_none_match: Option<usize> },
    List { prefix: usize, delimiter: usize, limit: usize },
    ListVersions { prefix: usize, limit: usize },
    Version { version: usize, action: u8 },
    CreateUpload { key: usize },
    UploadPart { upload: usize, number: u32, content: u8 },
    EndUpload { upload: usize, action: u8 },
    ListUploads { prefix: usize, limit: usize },
    EnableVersions,
    Advance,
}

const KEYS: [&str; 7] = ["a", "a/1", "a/2", "a//", "b\0", "é", "a/1/x"];
const PREFIXES: [&str; 4] = ["", "a", "a/", "é"];
const DELIMITERS: [&str; 3] = ["", "/", "1"];

fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS.len();
    let index = 0..20_usize;
    let limit = 1..4_usize;
    prop_oneof![
        6 => (key.clone(), 0..4_u8, 0..3_u8)
            .prop_map(|(key, content, condition)| Step::Put { key, content, condition }),
        2 => (key.clone(), any::<bool>())
            .prop_map(|(key, is_conditional)| Step::Delete { key, is_conditional }),
        1 => proptest::collection::vec(key.clone(), 1..4)
            .prop_map(|keys| Step::DeleteMany { keys }),
        2 => (key.clone(), key.clone(), 0..3_u8, any::<bool>()).prop_map(
            |(source, key, condition, is_replaced)| Step::Copy { source, key, condition, is_replaced }
        ),
        3 => (key.clone(), (0..4_u64, 0..6_u64), proptest::option::of(index.clone()))
            .prop_map(|(key, range, if_none_match)| Step::Get { key, range, if_none_match }),
        2 => (0..PREFIXES.len(), 0..DELIMITERS.len(), limit.clone())
            .prop_map(|(prefix, delimiter, limit)| Step::List { prefix, delimiter, limit }),
        2 => (0..PREFIXES.len(), limit.clone())
            .prop_map(|(prefix, limit)| Step::ListVersions { prefix, limit }),
        4 => (index.clone(), 0..4_u8).prop_map(|(version, action)| Step::Version { version, action }),
        2 => key.prop_map(|key| Step::CreateUpload { key }),
        4 => (index.clone(), 1..4_u32, 0..4_u8)
            .prop_map(|(upload, number, content)| Step::UploadPart { upload, number, content }),
        3 => (index, 0..4_u8).prop_map(|(upload, action)| Step::EndUpload { upload, action }),
        1 => (0..PREFIXES.len(), limit)
            .prop_map(|(prefix, limit)| Step::ListUploads { prefix, limit }),
        1 => Just(Step::EnableVersions),
        2 => Just(Step::Advance),
    ]
}

/// One backend, and its responses so far.
struct Run {
    buckets: Arc<dyn Buckets>,
    blobs: Arc<dyn Blobs>,
    clock: ManualClock,
    etags: Vec<String>,
    versions: Vec<(String, String)>,
    uploads: Vec<(String, String)>,
}

fn pick<T: Clone>(all: &[T], index: usize) -> Option<T> {
    (!all.is_empty()).then(|| all[index % all.len()].clone())
}

/// Everything of an error that callers see, without ids of uploads.
fn outcome(error: &Error) -> (ErrorKind, &'static str, Retry, Applied) {
    (error.kind().clone(), error.code(), error.retry(), error.applied())
}

/// Text of a result, which both backends must share.
fn text<T: std::fmt::Debug>(result: tabla_core::Result<T>) -> String {
    match result {
        Ok(output) => format!("{output:?}"),
        Err(error) => format!("{:?}", outcome(&error)),
    }
}

impl Run {
    fn condition(&self, kind: u8, index: usize) -> WriteCondition {
        match (kind, pick(&self.etags, index)) {
            (1, _) => WriteCondition::IfAbsent,
            (2, Some(etag)) => WriteCondition::IfMatch(etag),
            _ => WriteCondition::None,
        }
    }

    fn written(&mut self, key: &str, result: tabla_core::Result<PutBlobOutput>) -> String {
        if let Ok(output) = &result {
            self.etags.push(output.etag.clone());
            self.versions.extend(output.version.clone().map(|version| (key.to_owned(), version)));
        }
        text(result)
    }

    async fn apply(&mut self, step: &Step) -> String {
        let blobs = Arc::clone(&self.blobs);
        match step {
            Step::Put { key, content, condition } => {
                let key = KEYS[*key];
                let body = "x".repeat(usize::from(*content));
                let condition = self.condition(*condition, usize::from(*content));
                let put = PutBlob::new(key, body)
                    .content_type("text/plain")
                    .metadata("content", content.to_string())
                    .condition(condition);
                let result = blobs.put(put).await;
                self.written(key, result)
            }
            Step::Delete { key, is_conditional } => {
                let delete = DeleteBlob::new(KEYS[*key]);
                let delete = match (is_conditional, pick(&self.etags, *key)) {
                    (true, Some(etag)) => delete.if_match(etag),
                    _ => delete,
                };
                let result = blobs.delete(delete).await;
                if let Ok(DeleteBlobOutput { version: Some(version), .. }) = &result {
                    self.versions.push((KEYS[*key].to_owned(), version.clone()));
                }
                text(result)
            }
            Step::DeleteMany { keys } => {
                let keys = keys.iter().map(|key| KEYS[*key]).chain([""]);
                text(blobs.delete_many(DeleteBlobs::new(keys)).await)
            }
            Step::Copy { source, key, condition, is_replaced } => {
                let condition = self.condition(*condition, *source);
                let copy = CopyBlob::new(KEYS[*source], KEYS[*key]).condition(condition);
                let copy = match is_replaced {
                    true => copy.replace(BlobHeaders::of_type("a/b"), Default::default()),
                    false => copy,
                };
                let result = blobs.copy(copy).await;
                self.written(KEYS[*key], result)
            }
            Step::Get { key, range: (first, length), if_none_match } => {
                let mut get = GetBlob::new(KEYS[*key]);
                if *length > 0 {
                    get = get.range(*first..first + length);
                }
                if let Some(etag) = if_none_match.and_then(|index| pick(&self.etags, index)) {
                    get = get.if_none_match(etag);
                }
                match blobs.get(get).await {
                    Ok(found) => {
                        let head = format!("{:?} {:?}", found.info, found.range);
                        format!("{head} {}", text(found.body.collect().await))
                    }
                    Err(error) => format!("{:?}", outcome(&error)),
                }
            }
            Step::List { prefix, delimiter, limit } => {
                let request = ListBlobs::with_prefix(PREFIXES[*prefix])
                    .delimiter(DELIMITERS[*delimiter])
                    .limit(Some(*limit));
                let (mut all, mut after) = (String::new(), None);
                loop {
                    let page = blobs.list(request.clone().after(after)).await.expect("a page");
                    all.push_str(&format!("{page:?}"));
                    match page.next {
                        Some(next) => after = Some(next),
                        None => return all,
                    }
                }
            }
            Step::ListVersions { prefix, limit } => {
                let Some(versions) = blobs.versions() else { return "none".to_owned() };
                let request =
                    ListVersions::new().prefix(PREFIXES[*prefix].to_owned()).limit(Some(*limit));
                let (mut all, mut after) = (String::new(), None);
                loop {
                    let page = versions.list_versions(request.clone().after(after)).await;
                    let page = page.expect("a page");
                    all.push_str(&format!("{page:?}"));
                    match page.next {
                        Some(next) => after = Some(next),
                        None => return all,
                    }
                }
            }
            Step::Version { version, action } => {
                let Some(versions) = blobs.versions() else { return "none".to_owned() };
                let Some((key, version)) = pick(&self.versions, *version) else {
                    return "no version".to_owned();
                };
                match action {
                    0 => text(versions.head_version(&version, HeadBlob::new(key)).await),
                    1 => match versions.get_version(&version, GetBlob::new(key)).await {
                        Ok(found) => text(found.body.collect().await),
                        Err(error) => format!("{:?}", outcome(&error)),
                    },
                    2 => {
                        let result = versions.restore_version(&key, &version).await;
                        self.written(&key, result)
                    }
                    _ => text(versions.delete_version(&key, &version).await),
                }
            }
            Step::CreateUpload { key } => {
                let create = CreateUpload::new(KEYS[*key]).metadata("by", "parts");
                let upload = blobs.create_upload(create).await.expect("an upload").upload;
                self.uploads.push((KEYS[*key].to_owned(), upload));
                "created".to_owned()
            }
            Step::UploadPart { upload, number, content } => {
                let Some((key, upload)) = pick(&self.uploads, *upload) else {
                    return "no upload".to_owned();
                };
                let body = "y".repeat(usize::from(*content));
                text(blobs.upload_part(UploadPart::new(key, upload, *number, body)).await)
            }
            Step::EndUpload { upload, action } => {
                let Some((key, upload)) = pick(&self.uploads, *upload) else {
                    return "no upload".to_owned();
                };
                if *action == 0 {
                    return text(blobs.abort_upload(AbortUpload::new(key, upload)).await);
                }
                let page = match blobs.list_parts(ListParts::new(&key, &upload)).await {
                    Ok(page) => page,
                    Err(error) => return format!("{:?}", outcome(&error)),
                };
                // Small parts cannot be put together, so that one at a time is used.
                let index = usize::from(*action);
                let parts = pick(&page.parts, index);
                let complete = CompleteUpload::new(&key, &upload, parts);
                let result = blobs.complete_upload(complete).await;
                format!("{page:?} {}", self.written(&key, result))
            }
            Step::ListUploads { prefix, limit } => {
                let request =
                    ListUploads::new().prefix(PREFIXES[*prefix].to_owned()).limit(Some(*limit));
                let (mut all, mut after) = (String::new(), None);
                loop {
                    let page = blobs.list_uploads(request.clone().after(after)).await;
                    let page = page.expect("a page");
                    for upload in &page.uploads {
                        all.push_str(&format!("{:?} {:?};", upload.key, upload.created));
                    }
                    match page.next {
                        Some(next) => after = Some(next),
                        None => return all,
                    }
                }
            }
            Step::EnableVersions => text(self.buckets.enable_versions("default").await),
            Step::Advance => {
                self.clock.advance(Duration::from_secs(1));
                String::new()
            }
        }
    }
}

async fn start(buckets: Arc<dyn Buckets>, clock: ManualClock) -> Run {
    let blobs = buckets.open_bucket("default").await.expect("the default bucket");
    let (etags, versions, uploads) = Default::default();
    Run { buckets, blobs, clock, etags, versions, uploads }
}

#[test]
fn memory_and_folder_answer_the_same() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("assets");
    let mut runner = TestRunner::new(Config { cases: 100, ..Config::default() });
    let steps = proptest::collection::vec(step(), 1..60);
    let result = runner.run(&steps, |steps| {
        let _ = std::fs::remove_dir_all(&path);
        runtime.block_on(async {
            let (clock, env) = manual();
            let mut memory = start(Arc::new(MemoryBuckets::with_env(env)), clock).await;
            let (clock, env) = manual();
            let folder = FileFolder::open_with_env(&path, env).await.expect("a folder");
            let folder = folder.with_sweeps(false);
            let mut file = start(Arc::new(folder), clock).await;
            for step in &steps {
                let (expected, found) = (memory.apply(step).await, file.apply(step).await);
                prop_assert_eq!(found, expected, "{:?}", step);
            }
            Ok(())
        })?;
        assert_agreement(&path);
        Ok(())
    });
    result.unwrap();
}
