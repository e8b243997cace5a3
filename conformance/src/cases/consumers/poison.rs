//! Records whose handlers fail, panic or stop the consumer.

use tabla_consumer::{RetryReport, each};

use super::*;

pub(super) async fn failing_record_is_set_aside(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=1).await;
    write(&ctx, &table, "bad", 1..=1).await;
    write(&ctx, &table, "a", 2..=3).await;
    let notes = Arc::default();
    let mailer = consumer(&ctx, &table).max_attempts(2);
    drain_until(&ctx, &mailer, &notes, 3).await;
    let settled = ctx.poll(|| async {
        ctx.ok(mailer.drain(&notes).await);
        let aside = ctx.ok(mailer.set_aside().await);
        (!aside.is_empty()).then_some(aside)
    });
    let aside = settled.await.expect("one record was set aside");
    let shown: Vec<_> =
        aside.iter().map(|a| (&a.record.keys, a.error.as_str(), a.attempts)).collect();
    assert_eq!(shown, [(&item! { "pk" => "bad" }, "a bad record", 2)]);
    // The stored record equals the one in the stream.
    let records = ctx.records(&table, 4).await;
    assert_eq!(records.iter().filter(|record| **record == aside[0].record).count(), 1);
    assert_eq!(notes.of("a"), [1, 2, 3]);
    let retried = ctx.ok(mailer.retry_set_aside(&each(|_| async { Ok(()) })).await);
    assert_eq!(retried, assign!(RetryReport::default(), { handled: 1 }));
    assert_eq!(ctx.ok(mailer.set_aside().await), []);
}

pub(super) async fn panicking_record_is_set_aside(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=1).await;
    write(&ctx, &table, "panic", 1..=1).await;
    write(&ctx, &table, "a", 2..=3).await;
    let notes = Arc::default();
    let mailer = consumer(&ctx, &table).max_attempts(2);
    drain_until(&ctx, &mailer, &notes, 3).await;
    let settled = ctx.poll(|| async {
        ctx.ok(mailer.drain(&notes).await);
        let aside = ctx.ok(mailer.set_aside().await);
        (!aside.is_empty()).then_some(aside)
    });
    let aside = settled.await.expect("one record was set aside");
    let shown: Vec<_> =
        aside.iter().map(|a| (&a.record.keys, a.error.as_str(), a.attempts)).collect();
    let error = "the handler panicked: a panicking record";
    assert_eq!(shown, [(&item! { "pk" => "panic" }, error, 2)]);
    assert_eq!(notes.of("a"), [1, 2, 3]);
}

pub(super) async fn large_record_is_set_aside_without_its_old_image(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewAndOldImages)).await;
    let large = |n: i64| item! { "pk" => "bad", "n" => n, "text" => "x".repeat(300_000) };
    ctx.put(&table, large(1)).await;
    ctx.put(&table, large(2)).await;
    let (notes, mailer) = (Arc::<Notes>::default(), consumer(&ctx, &table).max_attempts(1));
    let settled = ctx.poll(|| async {
        ctx.ok(mailer.drain(&notes).await);
        let aside = ctx.ok(mailer.set_aside().await);
        (aside.len() == 2).then_some(aside)
    });
    let aside = settled.await.expect("two records were set aside");
    assert_eq!((&aside[0].left_out, &aside[0].record.new_image), (&vec![], &Some(large(1))));
    assert_eq!(aside[1].left_out, ["old_image"]);
    assert_eq!((&aside[1].record.new_image, &aside[1].record.old_image), (&Some(large(2)), &None));
    // The retry gets the whole record, since the stream still has it.
    let whole = each(move |record| async move {
        let expected = match record.event_name {
            EventName::Insert => None,
            _ => Some(large(1)),
        };
        (record.old_image == expected).then_some(()).ok_or_else(|| "not whole".into())
    });
    let retried = ctx.ok(mailer.retry_set_aside(&whole).await);
    assert_eq!(retried, assign!(RetryReport::default(), { handled: 2 }));
}

pub(super) async fn stopping_handler_leaves_its_record(ctx: Ctx) {
    let table = table(&ctx).await;
    write(&ctx, &table, "a", 1..=1).await;
    write(&ctx, &table, "stop", 1..=1).await;
    let (notes, mailer) = (Arc::<Notes>::default(), consumer(&ctx, &table));
    for _ in 0..2 {
        let stopped = ctx.poll(|| async { mailer.drain(&notes).await.err() });
        let error = stopped.await.expect("the handler stops the consumer");
        assert!(matches!(error.kind(), ErrorKind::Unexpected), "{error}");
        assert!(error.message().contains("no disk"), "{error}");
    }
    // A handler that succeeds still gets the record.
    let repaired = each(|_| async { Ok(()) });
    let drained = ctx.ok(mailer.drain(&repaired).await);
    assert!(drained.handled >= 1 && drained.set_aside == 0, "{drained:?}");
    assert_eq!(ctx.ok(mailer.drain(&repaired).await), DrainReport::default());
}
