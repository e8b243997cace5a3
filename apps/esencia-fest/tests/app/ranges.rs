//! Reads over days and months under one cursor.

use tabla::entity::UtcTime;
use tabla_esencia_fest::*;

use crate::{db, email, id, time};

fn span(from: &str, to: &str) -> Span {
    Span::new(time(from), time(to)).unwrap()
}

fn events() -> Vec<UtcTime> {
    [
        "2025-06-30T23:59:59Z",
        "2025-07-01T00:00:00Z",
        "2025-07-15T12:00:00Z",
        "2025-07-15T12:00:00Z",
        "2025-07-31T23:59:59Z",
        "2025-08-01T00:00:00Z",
        "2025-08-10T00:00:00Z",
        "2025-08-18T10:30:00Z",
    ]
    .map(time)
    .into()
}

/// Festival with an event of Ana and one of Eva at each moment, and without a table for May.
async fn filled() -> EsenciaFest {
    let fest = EsenciaFest::new(db().await.0);
    for (number, moment) in events().into_iter().enumerate() {
        let then = fest.at(moment);
        for name in ["ana", "eva"] {
            let event = NewEvent { action: "visit".into(), ..NewEvent::default() };
            let event_id = id(&format!("e{number}"));
            then.log_activity_as(event_id, &email(name), event).await.unwrap().done().unwrap();
        }
    }
    fest
}

/// Moments of all pages, whose cursors go through text.
async fn all(fest: &EsenciaFest, span: Span, order: Order, limit: u32) -> Vec<UtcTime> {
    let (mut found, mut after): (Vec<UtcTime>, Option<RangeCursor>) = (Vec::new(), None);
    loop {
        let page =
            fest.get_user_logs(&email("ana"), span, order, limit, after.as_ref()).await.unwrap();
        assert!(page.items.len() <= limit as usize);
        assert!(page.items.iter().all(|log| log.user_id == email("ana")));
        found.extend(page.items.iter().map(|log| log.timestamp));
        let Some(next) = page.next else { return found };
        let text = next.to_string();
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)), "{text}");
        after = Some(text.parse().unwrap());
        assert_eq!(after, Some(next));
    }
}

#[tokio::test]
async fn pages_over_months_equal_one_sorted_list() {
    let fest = filled().await;
    let moments = [
        "2025-05-01T00:00:00Z",
        "2025-06-30T23:59:59Z",
        "2025-07-01T00:00:00Z",
        "2025-07-15T12:00:00Z",
        "2025-08-09T00:00:00Z",
        "2025-12-31T23:59:59Z",
    ]
    .map(time);
    for from in moments {
        for to in moments.into_iter().filter(|to| *to >= from) {
            let mut expected = events();
            expected.retain(|moment| (from..=to).contains(moment));
            let span = Span::new(from, to).unwrap();
            for limit in [1, 2, 3, 100] {
                assert_eq!(all(&fest, span, Order::Ascending, limit).await, expected);
                let mut backward = all(&fest, span, Order::Descending, limit).await;
                backward.reverse();
                assert_eq!(backward, expected, "{from} to {to} by {limit}");
            }
        }
    }
    assert!(Span::new(moments[1], moments[0]).is_err());
}

#[tokio::test]
async fn page_reads_bounded_number_of_buckets() {
    let fest = filled().await;
    // A thousand years of months without a table.
    let span = span("1970-01-01T00:00:00Z", "2970-01-01T00:00:00Z");
    let page = fest.get_user_logs(&email("ana"), span, Order::Ascending, 10, None).await.unwrap();
    assert!(page.items.is_empty() && page.next.is_some());
    let next = fest
        .get_user_logs(&email("ana"), span, Order::Ascending, 10, page.next.as_ref())
        .await
        .unwrap();
    assert_ne!(next.next, page.next, "the cursor advances");
    let latest = all(
        &fest,
        self::span("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
        Order::Descending,
        100,
    )
    .await;
    assert_eq!(latest.len(), events().len());
}

#[tokio::test]
async fn range_cursor_of_another_read_is_refused() {
    let fest = filled().await;
    let whole = span("2025-06-01T00:00:00Z", "2025-08-31T00:00:00Z");
    let order = Order::Ascending;
    let page = fest.get_user_logs(&email("ana"), whole, order, 3, None).await.unwrap();
    let next = page.next.unwrap();
    let shorter = span("2025-06-01T00:00:00Z", "2025-08-30T00:00:00Z");
    for (name, span, order) in [
        ("eva", whole, Order::Ascending),
        ("ana", shorter, Order::Ascending),
        ("ana", whole, Order::Descending),
    ] {
        let refused = fest.get_user_logs(&email(name), span, order, 3, Some(&next)).await;
        assert!(refused.unwrap_err().message().contains("another query"));
    }
    let logs = fest.get_moderation_logs(whole, None, 3, Some(&next)).await;
    assert!(logs.unwrap_err().message().contains("another query"));
    // The limit can change.
    let rest = fest.get_user_logs(&email("ana"), whole, order, 100, Some(&next)).await.unwrap();
    assert_eq!((page.items.len() + rest.items.len(), rest.next), (events().len(), None));
    let text = next.to_string();
    for wrong in ["", "a", &text[1..], &text[..text.len() - 1], &text.replace("2025", "2026")] {
        assert!(wrong.parse::<RangeCursor>().is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn moderation_log_is_read_over_days() {
    let fest = EsenciaFest::new(db().await.0);
    let entries = [
        ("2025-08-15T09:00:00Z", Action::Ban),
        ("2025-08-15T10:00:00Z", Action::Delete),
        ("2025-08-15T11:00:00Z", Action::Ban),
        ("2025-08-17T23:59:59Z", Action::Restore),
        ("2025-08-18T00:00:00Z", Action::Ban),
    ];
    for (moment, action) in entries {
        let (then, admin, post) = (fest.at(time(moment)), id("admin1"), id("p1"));
        let target = (TargetType::Post, &post);
        then.log_moderation_action(&admin, action, target, "x").await.unwrap().done().unwrap();
    }
    for (from, to, action) in [
        ("2025-08-01T00:00:00Z", "2025-08-31T00:00:00Z", None),
        ("2025-08-01T00:00:00Z", "2025-08-31T00:00:00Z", Some(Action::Ban)),
        ("2025-08-15T09:30:00Z", "2025-08-17T23:59:58Z", None),
        ("2025-08-15T09:00:00Z", "2025-08-15T11:00:00Z", Some(Action::Ban)),
        ("2025-08-16T00:00:00Z", "2025-08-16T23:59:59Z", None),
    ] {
        let span = span(from, to);
        let expected: Vec<UtcTime> = entries
            .iter()
            .filter(|(_, own)| action.is_none_or(|action| action == *own))
            .map(|(moment, _)| time(moment))
            .filter(|moment| (span.from()..=span.to()).contains(moment))
            .collect();
        for limit in [1, 2, 10] {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = fest.get_moderation_logs(span, action, limit, after.as_ref()).await;
                let page = page.unwrap();
                found.extend(page.items.iter().map(|log| log.timestamp));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{from} to {to}, {action:?}, by {limit}");
        }
    }
}
