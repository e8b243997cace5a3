//! What indexes are for, and what they carry.

use serde::{Deserialize, Serialize};
use tabla_core::ops::IndexProjection;
use tabla_entity::lint::Rule;
use tabla_entity::{Entity, Id, KeyPart, Pattern, UtcTime};

use super::{Order, SHOP, customer, design, fires, found, orders, projected};

#[test]
fn an_index_is_used() {
    let get = || Pattern::new("order", "by its key").get::<Order>();
    let wrong = design(&SHOP, &[Order::design()], vec![get()]);
    let right = design(&SHOP, &[Order::design()], vec![get(), orders()]);
    fires(Rule::UnusedIndex, "GSI1: no pattern reads this index of shop", &wrong, &right);
}

#[test]
fn an_index_carries_what_is_read_through_it() {
    let of = |projection| design(projected(projection), &[Order::design()], vec![orders()]);
    let wrong = of(IndexProjection::include(["at", "total"]));
    let right = of(IndexProjection::include(["at", "total", "note"]));
    let words = "orders: it reads Order through GSI1, which does not carry note";
    fires(Rule::MissingAttribute, words, &wrong, &right);
    // A pattern that says what it uses needs no more.
    let used = design(
        projected(IndexProjection::include(["at", "total"])),
        &[Order::design()],
        vec![orders().reads(&["total"])],
    );
    assert_eq!(found(Rule::MissingAttribute, &used), [""; 0]);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    tag("type" = "SESSION"),
    pk = "SESSION#{id}",
    sk = "SESSION",
    index(GSI1, pk = "USER#{user}", sk = "SESSION#{id}"),
    ttl = expires
)]
struct Session {
    #[entity(key_only)]
    id: Id,
    user: Id,
    expires: u64,
}

#[test]
fn an_index_carries_the_tag_and_the_expiry_that_a_reader_looks_at() {
    let of = |projection| {
        let sessions = Pattern::new("sessions", "of a user").reads(&[]).find(|| {
            let find = Session::gsi1(Id::example("user"));
            find.unexpired().describe()
        });
        design(projected(projection), &[Session::design()], vec![sessions])
    };
    let wrong = of(IndexProjection::keys_only());
    let right = of(IndexProjection::include(["type", "expires"]));
    fires(Rule::MissingAttribute, "does not carry expires, type", &wrong, &right);
}

/// What a list of orders shows of an [`Order`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index(GSI1, pk = "BUYER#{customer}", sk = "{at}")
)]
struct OrderLine {
    #[entity(key_only)]
    customer: Id,
    #[entity(key_only)]
    number: u32,
    at: UtcTime,
    total: u32,
}

fn lines() -> Pattern {
    Pattern::new("lines", "of a list of orders").find(|| OrderLine::gsi1(customer()).describe())
}

#[test]
fn an_index_does_not_carry_what_nobody_reads() {
    let of = |projection, pattern: Pattern| {
        design(projected(projection), &[Order::design()], vec![pattern])
    };
    let wrong = of(IndexProjection::all(), lines());
    let right = of(IndexProjection::include(["at", "total"]), lines());
    // Four keys and three fields, of which one is not read: 6 of 7 are left.
    let words = "GSI1: its patterns read less than there is: INCLUDE of at, total would do, with \
                 about 15 % fewer attributes in an entry";
    fires(Rule::WideProjection, words, &wrong, &right);
    // Whoever reads the whole entity needs all of it.
    assert_eq!(found(Rule::WideProjection, &of(IndexProjection::all(), orders())), [""; 0]);
    // A pattern that says what it uses is like one that reads a part.
    let used = of(IndexProjection::all(), orders().reads(&["at", "total"]));
    assert_eq!(found(Rule::WideProjection, &used).len(), 1);
    let keys = of(IndexProjection::all(), orders().reads(&[]));
    assert!(found(Rule::WideProjection, &keys)[0].contains("KEYS_ONLY would do, with about 43 %"));
}

/// What is in the same partitions of the index as orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "REFUND#{refund}",
    sk = "REFUND",
    index(GSI1, pk = "BUYER#{customer}", sk = "{at}")
)]
struct Refund {
    #[entity(key_only)]
    refund: Id,
    customer: Id,
    at: UtcTime,
    why: String,
}

#[test]
fn a_whole_partition_may_be_read_for_all_that_is_in_it() {
    let of = |call| {
        let pattern = Pattern::new("account", "of a customer").find(call);
        design(&SHOP, &[Order::design(), Refund::design()], vec![pattern])
    };
    let whole = of(|| {
        let find = Order::gsi1(customer());
        find.whole_partition().describe()
    });
    assert_eq!(found(Rule::WideProjection, &whole), [""; 0]);
    let orders_alone = of(|| Order::gsi1(customer()).describe());
    assert_eq!(found(Rule::WideProjection, &orders_alone).len(), 1, "nobody reads `why`");
}
