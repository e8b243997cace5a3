//! The activity log.

use std::collections::BTreeMap;

use tabla::entity::{Outcome, Sharded};
use tabla::env::{Random, SeededRandom};
use tabla::ops::{ListTables, Scan};
use tabla_esencia_fest::*;

use crate::{db, email, fest, id, text, time};

fn event(action: &str, country: Option<&str>) -> NewEvent {
    NewEvent { action: action.into(), country: country.map(id), ..NewEvent::default() }
}

#[tokio::test]
async fn event_is_logged_once_in_table_of_its_month() {
    let (db, _) = db().await;
    let fest = EsenciaFest::new(db.clone());
    let july = fest.at(time("2025-07-31T23:59:59Z"));
    let first = july.log_activity_as(id("e1"), &email("ana"), event("visit", None)).await;
    let first = first.unwrap().done().unwrap();
    let again = july.log_activity_as(id("e1"), &email("ana"), event("other", None)).await;
    assert_eq!(again.unwrap(), Outcome::Lost(Some(first)));
    let august = fest.at(time("2025-08-01T00:00:00Z"));
    august.log_activity(&email("ana"), event("visit", None)).await.unwrap().done().unwrap();
    for month in ["2025-07", "2025-08"] {
        let scan = Scan::new(format!("EsenciaFest-ActivityLogs-{month}"));
        let items = db.store().scan(scan).await.unwrap().items;
        assert_eq!(items.len(), 1, "{month}");
        assert!(text(&items[0], "SK").starts_with(month));
    }
}

#[tokio::test]
async fn missing_month_table_is_created_and_expired_one_dropped() {
    let (db, _) = db().await;
    let fest = EsenciaFest::new(db.clone());
    let tables = || async {
        let names = db.store().list_tables(ListTables::default()).await.unwrap().table_names;
        let logs = names.iter().filter_map(|n| n.strip_prefix("EsenciaFest-ActivityLogs-"));
        logs.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(tables().await, ["2025-07", "2025-08", "2025-09"]);
    for moment in ["2025-01-15T00:00:00Z", "2025-03-15T00:00:00Z"] {
        let then = fest.at(time(moment));
        then.log_activity(&email("ana"), event("visit", None)).await.unwrap().done().unwrap();
    }
    fest.ensure_month(time("2025-08-18T00:00:00Z").month()).await.unwrap();
    assert_eq!(tables().await, ["2025-01", "2025-03", "2025-07", "2025-08", "2025-09"]);
    // The last event of March, on the 31st, expires 90 days later, on the 29th of June.
    let since = time("2024-11-01T00:00:00Z").month();
    let kept = fest.at(time("2025-06-29T23:59:59Z"));
    let dropped = kept.drop_expired_months(since).await.unwrap();
    assert_eq!(dropped.iter().map(|month| month.to_string()).collect::<Vec<_>>(), ["2025-01"]);
    let gone = fest.at(time("2025-06-30T00:00:00Z")).drop_expired_months(since).await.unwrap();
    assert_eq!(gone.iter().map(|month| month.to_string()).collect::<Vec<_>>(), ["2025-03"]);
    assert_eq!(tables().await, ["2025-07", "2025-08", "2025-09"]);
}

#[tokio::test]
async fn events_spread_over_ten_shards() {
    let (db, _) = db().await;
    let fest = EsenciaFest::new(db.clone());
    let mut shards: BTreeMap<String, u32> = BTreeMap::new();
    let random = SeededRandom::new(7);
    for _ in 0..1000 {
        let event_id = id(&format!("{:016x}", random.next_u64()));
        let logged = fest.log_activity_as(event_id, &email("ana"), event("visit", None)).await;
        logged.unwrap().done().unwrap();
    }
    let scan = Scan::new("EsenciaFest-ActivityLogs-2025-08");
    for item in db.store().scan(scan).await.unwrap().items {
        *shards.entry(text(&item, "PK")).or_default() += 1;
    }
    let names: Vec<String> =
        Sharded::<10>::all().map(|shard| format!("USER#ana@sura.com.co#shard{shard}")).collect();
    assert_eq!(shards.keys().cloned().collect::<Vec<_>>(), names);
    assert!(shards.values().all(|count| (60..=140).contains(count)), "{shards:?}");
}

#[tokio::test]
async fn activity_is_found_by_country_and_day() {
    let fest = fest().await;
    let mut expected = Vec::new();
    for number in 0..250 {
        let (country, day) = (["Perú", "Chile"][number % 2], 17 + number % 3);
        let then = fest.at(time(&format!("2025-08-{day}T10:{:02}:00Z", number / 5)));
        let name = id(&format!("e{number:03}"));
        then.log_activity_as(name.clone(), &email("ana"), event("visit", Some(country)))
            .await
            .unwrap()
            .done()
            .unwrap();
        if country == "Chile" && day == 18 {
            expected.push((format!("{:02}", number / 5), name));
        }
    }
    fest.log_activity(&email("ana"), event("visit", None)).await.unwrap().done().unwrap();
    expected.sort();
    let day = "2025-08-18".parse().unwrap();
    let page = fest.get_activity_by_country(&id("Chile"), day, None).await.unwrap();
    let found: Vec<_> = page.items.iter().map(|log| log.event_id.clone()).collect();
    assert_eq!(found, expected.into_iter().map(|(_, name)| name).collect::<Vec<_>>());
    assert!(page.next.is_none());
    let never = "2031-01-01".parse().unwrap();
    let empty = fest.get_activity_by_country(&id("Chile"), never, None).await.unwrap();
    assert!(
        empty.items.is_empty() && empty.next.is_none(),
        "the table of the month does not exist"
    );
}

#[tokio::test]
async fn expired_event_is_not_returned() {
    let (db, clock) = db().await;
    let fest = EsenciaFest::new(db);
    let ana = email("ana");
    fest.log_activity(&ana, event("visit", Some("Chile"))).await.unwrap().done().unwrap();
    let (now, day) = (time("2025-08-18T10:30:00Z"), "2025-08-18".parse().unwrap());
    let span = Span::new(now, now).unwrap();
    for is_there in [true, false] {
        let logs = fest.get_user_logs(&ana, span, Order::Ascending, 10, None).await.unwrap();
        let country = fest.get_activity_by_country(&id("Chile"), day, None).await.unwrap();
        assert_eq!((logs.items.len(), country.items.len()), (is_there.into(), is_there.into()));
        clock.advance(KEPT);
    }
}
