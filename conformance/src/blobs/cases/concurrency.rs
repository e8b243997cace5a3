//! Concurrent conditional writes.

use super::prelude::*;

blob_cases! {
    Concurrency;

    concurrent_puts_if_absent_have_one_winner:
        "Of 16 concurrent puts if absent exactly one succeeds, in each of 20 rounds.",
        needs [PutIfAbsent];
    concurrent_puts_if_match_have_one_winner:
        "Of 16 concurrent puts if match with one ETag exactly one succeeds, in each of 20 rounds.",
        needs [PutIfMatch];
    concurrent_completions_if_absent_have_one_winner:
        "Of 8 concurrent completions if absent exactly one succeeds.",
        needs [Multipart, PutIfAbsent, ConditionalUploads];
    concurrent_increments_are_all_counted:
        "10 increments by each of 5 workers, by read and put if match, add up to 50.",
        needs [PutIfMatch];
    reader_sees_whole_blobs_while_they_are_replaced:
        "A read during replacements returns content, metadata and ETag of one put.",
        needs [Metadata];
    concurrent_puts_leave_one_of_them: "Of concurrent puts one is left, whole.";
}

/// Most repetitions of a write that a service refuses because of a concurrent one.
const CONFLICTS: usize = 50;

/// Executes a put. A conflict with a concurrent write decides nothing, so it is repeated.
async fn put_decided(blobs: &dyn Blobs, request: PutBlob) -> Result<PutBlobOutput> {
    let bytes = request.body.as_bytes().cloned().expect("a body in memory");
    let mut last = Err(Error::validation("no put was tried"));
    for _ in 0..CONFLICTS {
        last = blobs.put(request.with_body(bytes.clone())).await;
        match &last {
            Err(error) if *error.kind() == ErrorKind::TransactionConflict => {
                tokio::task::yield_now().await;
            }
            _ => break,
        }
    }
    last
}

/// Asserts that exactly one of the results is a success and all others have this name. Returns the
/// position of the success.
fn only_winner<T: std::fmt::Debug>(results: &[Result<T>], round: usize) -> usize {
    let mut winners = Vec::new();
    for (position, result) in results.iter().enumerate() {
        match result {
            Ok(_) => winners.push(position),
            Err(error) => assert_eq!(error.code(), codes::PRECONDITION_FAILED, "{error:?}"),
        }
    }
    assert_eq!(winners.len(), 1, "round {round}: winners {winners:?}");
    winners[0]
}

/// Writes one key by 16 tasks with this condition, and asserts that one of them wins and is read.
async fn race(ctx: &BlobCtx, key: &str, condition: WriteCondition, round: usize) {
    let content = |task: usize| format!("round {round}, task {task}");
    let tasks = (0..16).map(|task| {
        let blobs = ctx.shared();
        let request = PutBlob::new(key, content(task)).condition(condition.clone());
        async move { put_decided(&*blobs, request).await }
    });
    let results = ctx.at_once(tasks).await;
    let winner = only_winner(&results, round);
    ctx.expect_blob(key, content(winner)).await;
    let etag = results[winner].as_ref().map(|output| output.etag.clone());
    assert_eq!(etag.ok(), Some(ctx.info(key).await.etag));
}

async fn concurrent_puts_if_absent_have_one_winner(ctx: BlobCtx) {
    for round in 0..20 {
        let key = format!("round-{round}");
        race(&ctx, &key, WriteCondition::IfAbsent, round).await;
    }
}

async fn concurrent_puts_if_match_have_one_winner(ctx: BlobCtx) {
    ctx.put("a", "begin").await;
    for round in 0..20 {
        let etag = ctx.info("a").await.etag;
        race(&ctx, "a", WriteCondition::IfMatch(etag), round).await;
    }
}

async fn concurrent_completions_if_absent_have_one_winner(ctx: BlobCtx) {
    let mut requests = Vec::new();
    for task in 0..8 {
        let upload = ctx.upload("a").await;
        let part = ctx.part("a", &upload, 1, format!("task {task}")).await;
        requests.push(CompleteUpload::new("a", upload, [part]).if_absent());
    }
    let tasks = requests.into_iter().map(|request| {
        let blobs = ctx.shared();
        async move {
            let mut last = blobs.complete_upload(request.clone()).await;
            for _ in 0..CONFLICTS {
                match &last {
                    Err(error) if *error.kind() == ErrorKind::TransactionConflict => {
                        last = blobs.complete_upload(request.clone()).await;
                    }
                    _ => break,
                }
            }
            last
        }
    });
    let results = ctx.at_once(tasks).await;
    let winner = only_winner(&results, 0);
    ctx.expect_blob("a", format!("task {winner}")).await;
    assert_eq!(ctx.uploads().await.len(), 7, "the uploads whose condition failed stay");
}

async fn increment(blobs: &dyn Blobs) -> Result<bool> {
    let found = blobs.get(GetBlob::new("counter")).await?;
    let etag = found.info.etag;
    let text = String::from_utf8_lossy(&found.body.collect().await?).into_owned();
    let count: u32 = text.parse().map_err(|_| Error::corrupt(format!("no number: {text:?}")))?;
    let put = PutBlob::new("counter", (count + 1).to_string()).if_match(etag);
    match blobs.put(put).await {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::ConditionFailed { .. } | ErrorKind::TransactionConflict
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

async fn concurrent_increments_are_all_counted(ctx: BlobCtx) {
    ctx.put("counter", "0").await;
    let workers = (0..5).map(|_| {
        let blobs = ctx.shared();
        async move {
            let mut done = 0;
            // Each failure is the success of another worker, so 50 successes bound the failures.
            for _ in 0..5000 {
                if increment(&*blobs).await? {
                    done += 1;
                }
                if done == 10 {
                    break;
                }
            }
            Ok::<usize, Error>(done)
        }
    });
    for done in ctx.at_once(workers).await {
        assert_eq!(ctx.ok(done), 10, "increments of one worker");
    }
    ctx.expect_blob("counter", "50").await;
}

async fn reader_sees_whole_blobs_while_they_are_replaced(ctx: BlobCtx) {
    let put = |round: usize| {
        let content = round.to_string().repeat(50_000);
        PutBlob::new("a", content).metadata("round", round.to_string())
    };
    ctx.write(put(0)).await;
    let writer = ctx.shared();
    let writes = tokio::spawn(async move {
        for round in 1..=40 {
            writer.put(put(round)).await?;
        }
        Ok::<(), Error>(())
    });
    let mut last = 0;
    while last < 40 {
        let (info, _, bytes) = ctx.get(GetBlob::new("a")).await;
        let round: usize = info.metadata["round"].parse().expect("a number");
        assert!(round >= last, "the read of round {round} follows that of round {last}");
        let expected = round.to_string().repeat(50_000);
        assert!(bytes == expected, "round {round} has other content");
        assert_eq!(info.size, expected.len() as u64, "round {round}");
        last = round;
        if writes.is_finished() {
            break;
        }
        tokio::task::yield_now().await;
    }
    match writes.await {
        Ok(result) => ctx.ok(result),
        Err(error) => panic!("the writer was canceled or panicked: {error}"),
    }
    assert_eq!(ctx.info("a").await.metadata["round"], "40");
}

async fn concurrent_puts_leave_one_of_them(ctx: BlobCtx) {
    let contents: Vec<String> = (0..16).map(|task| format!("task {task} ").repeat(2000)).collect();
    let tasks = contents.clone().into_iter().map(|content| {
        let blobs = ctx.shared();
        async move { blobs.put(PutBlob::new("a", content)).await }
    });
    for result in ctx.at_once(tasks).await {
        ctx.ok(result);
    }
    let bytes = ctx.read("a").await;
    assert!(contents.iter().any(|content| bytes == *content), "a mixture of several puts");
    ctx.expect_keys(["a"]).await;
}
