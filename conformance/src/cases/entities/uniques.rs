//! Unique values under every order of writes.

use serde::{Deserialize, Serialize};
use tabla_entity::Commit::{Canceled, Committed};
use tabla_entity::{Entity, Id, Outcome};

use super::super::prelude::*;
use super::super::tokens::fresh_token;
use super::super::transactions::retry_on_conflict;
use super::design::*;

pub(super) async fn taken_unique_value_names_its_field(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let ana = created(&ctx, &db, customer("ana", Some("a#x"), Some(1))).await;
    // Empty values do not need to be unique.
    let (eva, zoe) = (customer("eva", None, None), customer("zoe", None, None));
    created(&ctx, &db, eva.clone()).await;
    created(&ctx, &db, zoe.clone()).await;
    let items = [
        item_of(&ana),
        guard("EMAIL#a%23x", "ana"),
        guard("PHONE#1", "ana"),
        item_of(&eva),
        item_of(&zoe),
    ];
    ctx.expect_table(&table, &items).await;
    for (other, outcome) in [
        (customer("max", Some("a#x"), Some(2)), Outcome::Taken { field: "email" }),
        (customer("max", Some("m@x"), Some(1)), Outcome::Taken { field: "phone" }),
        // An existing entity is reported before a taken value.
        (customer("ana", Some("z@x"), Some(9)), Outcome::Lost(Some(ana.clone()))),
        (customer("ana", Some("a#x"), Some(1)), Outcome::Lost(Some(ana.clone()))),
    ] {
        assert_eq!(ctx.ok(db.create(other).await), outcome);
        ctx.expect_table(&table, &items).await;
    }
    ctx.expect_validation_with(db.replace(ana).await, "use update");
    // The separator is escaped, so that different texts have different keys.
    let max = created(&ctx, &db, customer("max", Some("a%23x"), None)).await;
    let more = [item_of(&max), guard("EMAIL#a%2523x", "max")];
    ctx.expect_table(&table, &[&items[..], &more[..]].concat()).await;
}

pub(super) async fn changed_unique_value_is_free_again(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let ana = created(&ctx, &db, customer("ana", Some("a@x"), Some(1))).await;
    let eva = created(&ctx, &db, customer("eva", Some("e@x"), None)).await;
    let email = |read: &Customer, email: &str| read.change().set(Customer::EMAIL, email.to_owned());
    let before = ctx.snapshot(&table).await;
    assert_eq!(ctx.ok(db.update(email(&eva, "a@x")).await), Outcome::Taken { field: "email" });
    // The rest of the change is not applied either.
    let both = email(&eva, "new@x").set(Customer::PHONE, 1_u32).increment(Customer::VISITS, 1);
    assert_eq!(ctx.ok(db.update(both).await), Outcome::Taken { field: "phone" });
    let blind = eva.to_key().change().set(Customer::EMAIL, "new@x".to_owned());
    ctx.expect_validation_with(db.update(blind).await, "`email` is unique");
    ctx.expect_unchanged(&before).await;

    let ana = ctx.ok(db.update(email(&ana, "b@x")).await).done().expect("the value is free");
    let eva = ctx.ok(db.update(email(&eva, "a@x")).await).done().expect("the value was released");
    // A change of other fields, or to the same value, leaves the guard items unchanged.
    let visit = ana.to_key().change().increment(Customer::VISITS, 1);
    let ana = ctx.ok(db.update(visit).await).done().expect("the entity exists");
    assert_eq!(ctx.ok(db.update(email(&ana, "b@x")).await), Outcome::Done(ana.clone()));
    let guards = [guard("EMAIL#b@x", "ana"), guard("PHONE#1", "ana"), guard("EMAIL#a@x", "eva")];
    let items = [item_of(&ana), item_of(&eva)];
    ctx.expect_table(&table, &[&items[..], &guards[..]].concat()).await;

    let clear = ana.change().clear(Customer::EMAIL);
    let ana = ctx.ok(db.update(clear).await).done().expect("the entity exists");
    assert_eq!((&ana.email, ana.visits), (&None, 1));
    let eva = ctx.ok(db.update(email(&eva, "b@x")).await).done().expect("the value was released");
    let items = [item_of(&ana), item_of(&eva), guard("PHONE#1", "ana"), guard("EMAIL#b@x", "eva")];
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn stale_change_leaves_unique_values(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let read = created(&ctx, &db, customer("ana", Some("a@x"), Some(1))).await;
    let email = |email: &str| read.change().set(Customer::EMAIL, email.to_owned());
    let renamed = ctx.ok(db.update(email("b@x")).await).done().expect("the value is free");
    let before = ctx.snapshot(&table).await;
    for change in [
        // For the stale entity these are no changes, but they would release the stored email.
        email("a@x"),
        email("c@x"),
        read.change().clear(Customer::EMAIL),
    ] {
        assert_eq!(ctx.ok(db.update(change).await), Outcome::Lost(Some(renamed.clone())));
        ctx.expect_unchanged(&before).await;
    }
    let mut tx = db.transaction();
    let old = tx.delete_read(&read);
    let Canceled(c) = ctx.ok(tx.commit().await) else { panic!("the stale delete must fail") };
    assert_eq!(ctx.ok(c.current(&old)), Some(renamed.clone()));
    ctx.expect_unchanged(&before).await;
    let items = [item_of(&renamed), guard("EMAIL#b@x", "ana"), guard("PHONE#1", "ana")];
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn delete_releases_unique_values(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let ana = created(&ctx, &db, customer("ana", Some("a@x"), Some(1))).await;
    let items = [item_of(&ana), guard("EMAIL#a@x", "ana"), guard("PHONE#1", "ana")];
    let lost = ctx.ok(db.delete_if(&ana.to_key(), Customer::VISITS.gt(0_u32)).await);
    assert_eq!(lost, Outcome::Lost(Some(ana.clone())));
    let mut tx = db.transaction();
    tx.delete(&ana.to_key());
    ctx.expect_validation_with(tx.commit().await.map(drop), "use delete_read");
    ctx.expect_table(&table, &items).await;
    assert_eq!(ctx.ok(db.delete(&ana.to_key()).await), Outcome::Done(ana.clone()));
    ctx.expect_table(&table, &[]).await;
    assert_eq!(ctx.ok(db.delete(&ana.to_key()).await), Outcome::Lost(None));
    let eva = created(&ctx, &db, customer("eva", Some("a@x"), Some(1))).await;
    let items = [item_of(&eva), guard("EMAIL#a@x", "eva"), guard("PHONE#1", "eva")];
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn unique_values_are_swapped_in_a_transaction(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let ana = created(&ctx, &db, customer("ana", None, Some(1))).await;
    let eva = created(&ctx, &db, customer("eva", None, Some(2))).await;
    let mut tx = db.transaction();
    tx.update(ana.change().set(Customer::PHONE, 2_u32));
    tx.update(eva.change().set(Customer::PHONE, 1_u32));
    let commit = ctx.ok(tx.commit().await);
    assert!(matches!(commit, Committed), "{commit:?}");
    let (ana, eva) = (Customer { phone: Some(2), ..ana }, Customer { phone: Some(1), ..eva });
    let swapped = [item_of(&ana), item_of(&eva), guard("PHONE#2", "ana"), guard("PHONE#1", "eva")];
    ctx.expect_table(&table, &swapped).await;
    // A repetition from the stale entities would swap twice.
    let read = |old: &Customer, phone| Customer { phone: Some(phone), ..old.clone() };
    let (old_ana, old_eva) = (read(&ana, 1), read(&eva, 2));
    let mut tx = db.transaction();
    let to_two = tx.update(old_ana.change().set(Customer::PHONE, 2_u32));
    let to_one = tx.update(old_eva.change().set(Customer::PHONE, 1_u32));
    let Canceled(c) = ctx.ok(tx.commit().await) else { panic!("the stale swap must fail") };
    assert!(c.failed(&to_two) && c.failed(&to_one));
    ctx.expect_table(&table, &swapped).await;

    // One customer is deleted, and another is created with the same phone.
    let zoe = customer("zoe", Some("z@x"), Some(2));
    let mut tx = db.transaction();
    tx.create(zoe.clone());
    tx.delete_read(&ana);
    let commit = ctx.ok(tx.commit().await);
    assert!(matches!(commit, Committed), "{commit:?}");
    let items = [
        item_of(&zoe),
        guard("EMAIL#z@x", "zoe"),
        guard("PHONE#2", "zoe"),
        item_of(&eva),
        guard("PHONE#1", "eva"),
    ];
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn one_of_concurrent_takers_gets_the_value(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let names = ["ana", "eva", "zoe", "max", "ute", "leo"];
    let creators = names.map(|name| {
        let (ctx, db) = (ctx.clone(), db.clone());
        async move {
            let email = format!("{name}@x");
            let customer = customer(name, Some(&email), Some(1));
            ctx.ok(retry_on_conflict(|| db.create(customer.clone())).await)
        }
    });
    let outcomes = ctx.at_once(creators).await;
    let done: Vec<Customer> = outcomes.iter().cloned().filter_map(Outcome::done).collect();
    let [winner] = &done[..] else { panic!("not exactly one customer has the phone: {done:?}") };
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_done()) {
        assert_eq!(*outcome, Outcome::Taken { field: "phone" });
    }
    let name = winner.id.as_str();
    let items = [item_of(winner), guard(&format!("EMAIL#{name}@x"), name), guard("PHONE#1", name)];
    ctx.expect_table(&table, &items).await;
}

/// Desk that belongs to one person, until a time or without an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "DESK#{desk}",
    sk = "DESK",
    ttl = until,
    unique(person, pk = "PERSON#{person}", sk = "UNIQUE")
)]
struct Desk {
    #[entity(key_only)]
    desk: Id,
    person: Id,
    until: Option<u64>,
}

pub(super) async fn guard_item_expires_with_its_entity(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let end = START.as_secs() + 60;
    let guard = |person: &str| {
        let owner = Value::M(item! { "PK" => "DESK#1", "SK" => "DESK" }.into_map());
        item! { "PK" => format!("PERSON#{person}"), "SK" => "UNIQUE", "uniqueOwner" => owner }
    };
    let read =
        created(&ctx, &db, Desk { desk: id("1"), person: id("ana"), until: Some(end) }).await;
    ctx.expect_table(&table, &[item_of(&read), guard("ana").with("until", end)]).await;
    let longer = read.change().set(Desk::UNTIL, end + 60);
    let longer = ctx.ok(db.update(longer).await).done().expect("no concurrent change");
    let items = [item_of(&longer), guard("ana").with("until", end + 60)];
    ctx.expect_table(&table, &items).await;
    // A change of the stale entity would let the guard item expire too early.
    let stale = read.change().set(Desk::PERSON, id("eva"));
    assert_eq!(ctx.ok(db.update(stale).await), Outcome::Lost(Some(longer.clone())));
    let blind = read.to_key().change().set(Desk::UNTIL, end);
    ctx.expect_validation_with(db.update(blind).await, "`person` is unique, and expires, too");
    ctx.expect_table(&table, &items).await;
    let moved = longer.change().set(Desk::PERSON, id("eva"));
    let moved = ctx.ok(db.update(moved).await).done().expect("the entity is unchanged");
    ctx.expect_table(&table, &[item_of(&moved), guard("eva").with("until", end + 60)]).await;
    let kept = moved.change().clear(Desk::UNTIL);
    let kept = ctx.ok(db.update(kept).await).done().expect("the entity is unchanged");
    ctx.expect_table(&table, &[item_of(&kept), guard("eva")]).await;
    assert_eq!(ctx.ok(db.delete(&kept.to_key()).await), Outcome::Done(kept));
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn expired_entity_without_its_guard_can_be_changed(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let end = START.as_secs() + 60;
    let desk = |desk: &str, until| Desk { desk: id(desk), person: id("ana"), until };
    let guard = |person: &str, desk: &str| {
        let owner = item! { "PK" => format!("DESK#{desk}"), "SK" => "DESK" };
        let key = format!("PERSON#{person}");
        item! { "PK" => key, "SK" => "UNIQUE", "uniqueOwner" => Value::M(owner.into_map()) }
    };
    let key = |person: &str| item! { "PK" => format!("PERSON#{person}"), "SK" => "UNIQUE" };
    let first = created(&ctx, &db, desk("1", Some(end))).await;
    // The guard item expires and is swept before its entity; another entity takes the value.
    ctx.delete(&table, key("ana")).await;
    let second = created(&ctx, &db, desk("2", None)).await;
    let before = [item_of(&first), item_of(&second), guard("ana", "2")];
    ctx.expect_table(&table, &before).await;

    // It cannot be prolonged while another entity has its value.
    let longer = first.change().set(Desk::UNTIL, end + 60);
    assert_eq!(ctx.ok(db.update(longer).await), Outcome::Taken { field: "person" });
    ctx.expect_table(&table, &before).await;
    // It cannot hand on the value in a transaction either.
    let mut tx = db.transaction();
    let old = tx.delete_read(&first);
    let new = tx.create(desk("3", None));
    let Canceled(c) = ctx.ok(tx.commit().await) else { panic!("the taken value must fail") };
    assert!(!c.failed(&old) && !c.failed(&new));
    assert_eq!(c.taken(&new), Some(Desk::PERSON.name));
    ctx.expect_table(&table, &before).await;

    // It can be given another value, with and without a token; the other's guard item stays.
    let moved = first.change().set(Desk::PERSON, id("eva"));
    let moved = ctx.ok(db.update(moved).await).done().expect("the new value is free");
    let items = [
        item_of(&moved),
        guard("eva", "1").with("until", end),
        item_of(&second),
        guard("ana", "2"),
    ];
    ctx.expect_table(&table, &items).await;

    // The same with a delete.
    ctx.delete(&table, key("eva")).await;
    let third = Desk { desk: id("3"), person: id("eva"), until: None };
    let third = created(&ctx, &db, third).await;
    let token = fresh_token();
    for _ in 0..2 {
        // The transaction is executed once, however often it is sent.
        let mut tx = db.transaction().token(&token);
        tx.delete_read(&moved);
        let commit = ctx.ok(tx.commit().await);
        assert!(matches!(commit, Committed), "{commit:?}");
    }
    let left = [item_of(&second), guard("ana", "2"), item_of(&third), guard("eva", "3")];
    ctx.expect_table(&table, &left).await;
    let again = Desk { person: id("max"), ..desk("4", Some(end)) };
    let again = created(&ctx, &db, again).await;
    ctx.put(&table, guard("max", "9")).await;
    assert_eq!(ctx.ok(db.delete(&again.to_key()).await), Outcome::Done(again));
    let left = [&left[..], &[guard("max", "9")]].concat();
    ctx.expect_table(&table, &left).await;
}
