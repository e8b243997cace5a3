//! Random histories on a small key space.

use std::fmt;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use tabla_core::expr::{CompareOp, Condition, Path, Projection, SetValue, Update, attr};
use tabla_core::ops::*;
use tabla_core::{Item, KeyType, Number, Set, Value, ValueKind, ValueRef, assign};

use super::shapes::{IndexShape, SHAPES, TableShape};

/// Name of the table of a history.
pub(super) const TABLE: &str = "history";

/// Table and the operations on it.
#[derive(Clone)]
#[non_exhaustive]
pub struct History {
    /// Table that the history is on.
    pub shape: TableShape,
    /// View type of its stream; `None` for no stream.
    pub stream: Option<StreamViewType>,
    /// Operations, in order.
    pub operations: Vec<HistoryOperation>,
}

/// One operation of a history.
#[derive(Clone, Debug)]
pub enum HistoryOperation {
    /// Read of an item.
    Get(GetItem),
    /// Put of an item.
    Put(PutItem),
    /// Update of an item.
    Update(UpdateItem),
    /// Delete of an item.
    Delete(DeleteItem),
    /// Query of a partition, page by page.
    Query(Query),
    /// Scan of the table or an index, page by page.
    Scan(Scan),
    /// Batch of reads.
    BatchGet(BatchGetItem),
    /// Batch of writes.
    BatchWrite(BatchWriteItem),
    /// Transactional read.
    TransactGet(TransactGetItems),
    /// Transactional write.
    TransactWrite(TransactWriteItems),
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}, stream: {:?}", self.shape, self.stream)?;
        for operation in &self.operations {
            writeln!(f, "  {operation:?}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Strategy for all histories: 1 to 39 operations on a table of [`SHAPES`].
pub fn histories() -> impl Strategy<Value = History> {
    (0..SHAPES.len()).prop_flat_map(|number| {
        let shape = SHAPES[number];
        let history = (vec(operation(shape), 1..40), option::weighted(WITH_STREAM, view_type()));
        history.prop_map(move |(operations, stream)| History { shape, stream, operations })
    })
}

/// Share of histories whose table has a stream.
const WITH_STREAM: f64 = 0.25;

fn view_type() -> impl Strategy<Value = StreamViewType> {
    use StreamViewType as View;
    select(vec![View::KeysOnly, View::NewImage, View::OldImage, View::NewAndOldImages])
}

fn operation(shape: TableShape) -> impl Strategy<Value = HistoryOperation> {
    prop_oneof![
        6 => put(shape).prop_map(HistoryOperation::Put),
        6 => update(shape, given_key(shape)).prop_map(HistoryOperation::Update),
        3 => delete(given_key(shape)).prop_map(HistoryOperation::Delete),
        2 => get(shape).prop_map(HistoryOperation::Get),
        3 => query(shape).prop_map(HistoryOperation::Query),
        1 => scan(shape).prop_map(HistoryOperation::Scan),
        1 => batch_get(shape).prop_map(HistoryOperation::BatchGet),
        2 => batch_write(shape).prop_map(HistoryOperation::BatchWrite),
        1 => transact_get(shape).prop_map(HistoryOperation::TransactGet),
        3 => transact_write(shape).prop_map(HistoryOperation::TransactWrite),
    ]
}

// ---- values -----------------------------------------------------------------------------------

fn number() -> impl Strategy<Value = Number> {
    select(vec!["-10", "-1", "0", "1", "1.5", "2", "9", "10", "1E37"])
        .prop_map(|text| Number::parse(text).expect("a number"))
}

fn string() -> impl Strategy<Value = String> {
    select(vec!["a", "A", "ab", "abc", "b", "é", "10", "9"]).prop_map(str::to_owned)
}

fn binary() -> impl Strategy<Value = Bytes> {
    select(vec![&[0_u8][..], &[0, 0], &[1], &[127], &[255], &[255, 0]]).prop_map(Bytes::from_static)
}

fn key_value(kind: KeyType) -> BoxedStrategy<Value> {
    match kind {
        KeyType::S => string().prop_map(Value::from).boxed(),
        KeyType::N => number().prop_map(Value::from).boxed(),
        KeyType::B => binary().prop_map(Value::from).boxed(),
    }
}

/// Key value of the table, one of 3, so that operations touch the same items.
fn table_key_value(kind: KeyType) -> BoxedStrategy<Value> {
    match kind {
        KeyType::S => select(vec!["a", "b", "é"]).prop_map(Value::from).boxed(),
        KeyType::N => select(vec![-1, 9, 10]).prop_map(Value::from).boxed(),
        KeyType::B => select(vec![&[0_u8][..], &[0, 0], &[255]])
            .prop_map(|bytes| Value::B(Bytes::from_static(bytes)))
            .boxed(),
    }
}

fn set_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        subsequence(vec!["a", "b", "c"], 1..3).prop_map(|members| {
            Value::Ss(Set::new(members.into_iter().map(str::to_owned)).expect("distinct members"))
        }),
        subsequence(vec![1, 2, 3], 1..3).prop_map(|members| {
            Value::Ns(Set::new(members.into_iter().map(Number::from)).expect("distinct members"))
        }),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => number().prop_map(Value::from),
        3 => string().prop_map(Value::from),
        1 => Just(Value::from("")),
        1 => binary().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let list = || vec(scalar(), 0..3).prop_map(Value::L);
    let map = (option::of(scalar()), option::of(scalar())).prop_map(|(x, y)| {
        let entries = [("x", x), ("y", y)];
        Value::M(
            entries
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect(),
        )
    });
    prop_oneof![5 => scalar(), 1 => list(), 1 => map, 1 => set_value()]
}

// ---- items ------------------------------------------------------------------------------------

fn key(shape: TableShape) -> impl Strategy<Value = Item> {
    let parts: Vec<_> = shape
        .key()
        .into_iter()
        .map(|(name, kind)| table_key_value(kind).prop_map(move |value| (name, value)))
        .collect();
    parts.prop_map(|parts| parts.into_iter().collect())
}

/// Key that an operation names: valid in 40 of 44 draws.
fn given_key(shape: TableShape) -> impl Strategy<Value = Item> {
    prop_oneof![
        40 => key(shape),
        1 => key(shape).prop_map(|key| key.with("extra", 1)),
        1 => Just(Item::new()),
        1 => key(shape).prop_map(|key| key.with("pk", Value::Bool(true))),
        1 => key(shape).prop_map(|key| key.with("pk", "")),
    ]
}

/// Whether the key is none of the invalid keys of [`given_key`].
///
/// A request with an invalid key has no condition: which of two mistakes is reported first is not
/// compared here, and an expression that cannot be built is rejected before a request is sent to
/// a service.
fn is_right(key: &Item) -> bool {
    let wrong_value = match key.get("pk") {
        Some(ValueRef::Bool(_) | ValueRef::S("")) | None => true,
        Some(_) => false,
    };
    !wrong_value && !key.contains("extra")
}

/// Whether the item's attributes have the types of the index keys.
fn fits_indexes(shape: TableShape, item: &Item) -> bool {
    shape
        .index_attributes()
        .into_iter()
        .all(|(name, kind)| item.get(name).is_none_or(|value| value.kind() == kind.into()))
}

fn item(shape: TableShape) -> impl Strategy<Value = Item> {
    let index_attributes: Vec<_> = shape
        .index_attributes()
        .into_iter()
        .map(|(name, kind)| {
            let given = prop_oneof![
                12 => key_value(kind).prop_map(Some),
                4 => Just(None),
                1 => scalar().prop_map(Some),
            ];
            given.prop_map(move |value| value.map(|value| (name, value)))
        })
        .collect();
    let attributes = [option::of(value()), option::of(value()), option::of(value())];
    let names = ["a", "b", "n"];
    let map = option::of(value());
    (key(shape), index_attributes, attributes, map).prop_map(
        move |(key, index_attributes, attributes, map)| {
            let mut item = key;
            for (name, value) in index_attributes.into_iter().flatten() {
                item.insert(name, value);
            }
            for (name, value) in names.into_iter().zip(attributes) {
                if let Some(value) = value {
                    item.insert(name, value);
                }
            }
            if let Some(map) = map {
                item.insert("m", map);
            }
            item
        },
    )
}

// ---- expressions ------------------------------------------------------------------------------

fn path() -> impl Strategy<Value = Path> {
    prop_oneof![
        5 => select(vec!["a", "b", "n", "m", "gp", "gs"]).prop_map(attr),
        1 => Just(attr("m").field("x")),
        1 => Just(attr("m").field("y")),
        1 => Just(attr("a").index(0)),
        1 => Just(attr("a").index(1)),
    ]
}

fn compare_op() -> impl Strategy<Value = CompareOp> {
    use CompareOp as Op;
    select(vec![Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge])
}

/// Comparison, by order only with a type that has one.
fn comparison() -> impl Strategy<Value = Condition> {
    let ordered = prop_oneof![
        number().prop_map(Value::from),
        string().prop_map(Value::from),
        binary().prop_map(Value::from)
    ];
    prop_oneof![
        (path(), compare_op(), ordered).prop_map(|(path, op, value)| path.compare(op, value)),
        (path(), value()).prop_map(|(path, value)| path.eq(value)),
        (path(), value()).prop_map(|(path, value)| path.ne(value)),
        (path(), compare_op(), path()).prop_map(|(left, op, right)| left.compare(op, right)),
        (path(), compare_op(), 0..4).prop_map(|(path, op, n)| path.size().compare(op, n)),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let kinds = vec![ValueKind::S, ValueKind::N, ValueKind::M, ValueKind::L, ValueKind::Ss];
    let leaf = prop_oneof![
        6 => comparison(),
        1 => path().prop_map(Path::exists),
        1 => path().prop_map(Path::not_exists),
        1 => (path(), select(kinds)).prop_map(|(path, kind)| path.has_type(kind)),
        1 => (path(), string()).prop_map(|(path, prefix)| path.begins_with(prefix)),
        1 => (path(), scalar()).prop_map(|(path, part)| path.contains(part)),
        1 => (path(), number(), number()).prop_map(|(path, low, high)| path.between(low, high)),
        1 => (path(), vec(scalar(), 1..4)).prop_map(|(path, list)| path.is_in(list)),
        1 => Just(attr("pk").exists()),
        1 => Just(attr("pk").not_exists()),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(left, right)| left.and(right)),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| left.or(right)),
            inner.prop_map(|inner| !inner),
        ]
    })
}

fn maybe_condition() -> impl Strategy<Value = Option<Condition>> {
    prop_oneof![3 => Just(None), 2 => condition().prop_map(Some)]
}

fn set_to() -> impl Strategy<Value = SetValue> {
    let source = || select(vec!["a", "b", "n", "m"]).prop_map(attr);
    prop_oneof![
        6 => value().prop_map(SetValue::from),
        1 => source().prop_map(SetValue::from),
        2 => (source(), number()).prop_map(|(path, number)| path.plus(number)),
        1 => (source(), number()).prop_map(|(path, number)| path.minus(number)),
        1 => (source(), value()).prop_map(|(path, value)| {
            SetValue::from(path.if_not_exists(value))
        }),
        2 => (source(), number()).prop_map(|(path, n)| path.if_not_exists(0).plus(n)),
        1 => (source(), vec(scalar(), 0..2)).prop_map(|(path, list)| {
            path.if_not_exists(Vec::<Value>::new()).append(list)
        }),
    ]
}

#[derive(Clone, Debug)]
enum UpdateAction {
    Set(SetValue),
    Remove,
    Add(Value),
    Delete(Value),
}

/// Update with one action, which also sets a constant: DynamoDB Local creates an item for an update
/// that only removes, and AWS does not. Which of two failures of an update is reported is not
/// defined, so there is at most one: a path that may be invalid is set to a constant.
fn update_expression() -> impl Strategy<Value = Update> {
    let change = prop_oneof![
        5 => set_to().prop_map(UpdateAction::Set),
        2 => Just(UpdateAction::Remove),
        2 => number().prop_map(|number| UpdateAction::Add(number.into())),
        1 => set_value().prop_map(UpdateAction::Add),
        1 => set_value().prop_map(UpdateAction::Delete),
    ];
    let target = prop_oneof![
        6 => select(vec!["a", "b", "n", "m"]).prop_map(attr),
        1 => Just(attr("m").field("x")),
        1 => Just(attr("a").index(0)),
        1 => Just(attr("a").index(5)),
        1 => Just(attr("pk")),
    ];
    (target, change, scalar()).prop_map(|(target, change, mark)| {
        let update = Update::new().set("mark", mark);
        match change {
            UpdateAction::Set(_) if target.as_attribute().is_none() => update.set(target, 7),
            UpdateAction::Set(value) => update.set(target, value),
            UpdateAction::Remove => update.remove(target),
            UpdateAction::Add(value) => update.add(target, value),
            UpdateAction::Delete(value) => update.delete(target, value),
        }
    })
}

/// Update that sets an index key attribute to a value of its type, or removes it.
fn index_key_update(shape: TableShape) -> BoxedStrategy<Update> {
    let attributes = shape.index_attributes();
    if attributes.is_empty() {
        return update_expression().boxed();
    }
    select(attributes)
        .prop_flat_map(|(name, kind)| {
            option::weighted(0.7, key_value(kind)).prop_map(move |value| match value {
                Some(value) => Update::new().set(name, value),
                None => Update::new().set("mark", 1).remove(name),
            })
        })
        .boxed()
}

fn projection() -> impl Strategy<Value = Option<Projection>> {
    let paths = vec![
        attr("pk"),
        attr("a"),
        attr("b"),
        attr("m").field("x"),
        attr("m").field("y"),
        attr("n").index(1),
    ];
    option::weighted(0.3, subsequence(paths, 1..4).prop_map(Projection::new))
}

// ---- operations -------------------------------------------------------------------------------

fn on_failure() -> impl Strategy<Value = ReturnValuesOnConditionCheckFailure> {
    use ReturnValuesOnConditionCheckFailure as Return;
    select(vec![Return::None, Return::AllOld])
}

fn put(shape: TableShape) -> impl Strategy<Value = PutItem> {
    let returned = select(vec![ReturnValues::None, ReturnValues::AllOld]);
    (item(shape), maybe_condition(), returned, on_failure()).prop_map(
        move |(item, condition, returned, on_failure)| {
            let condition = condition.filter(|_| fits_indexes(shape, &item)).map(Into::into);
            assign!(PutItem::new(TABLE, item).return_values(returned), {
                condition,
                return_values_on_condition_check_failure: on_failure,
            })
        },
    )
}

fn delete(key: impl Strategy<Value = Item>) -> impl Strategy<Value = DeleteItem> {
    let returned = select(vec![ReturnValues::None, ReturnValues::AllOld]);
    (key, maybe_condition(), returned, on_failure()).prop_map(
        |(key, condition, returned, on_failure)| {
            let condition = condition.filter(|_| is_right(&key)).map(Into::into);
            assign!(DeleteItem::new(TABLE, key).return_values(returned), {
                condition,
                return_values_on_condition_check_failure: on_failure,
            })
        },
    )
}

fn update(
    shape: TableShape,
    key: impl Strategy<Value = Item>,
) -> impl Strategy<Value = UpdateItem> {
    let returned = select(vec![ReturnValues::None, ReturnValues::AllOld, ReturnValues::AllNew]);
    let expression = prop_oneof![
        4 => update_expression().prop_map(Some).boxed(),
        2 => index_key_update(shape).prop_map(Some).boxed(),
        1 => Just(None).boxed(),
    ];
    (key, expression, maybe_condition(), returned, on_failure()).prop_map(
        |(key, update, condition, returned, on_failure)| {
            let condition = condition.filter(|_| is_right(&key)).map(Into::into);
            assign!(UpdateItem::new(TABLE, key).return_values(returned), {
                update: update.map(Into::into),
                condition,
                return_values_on_condition_check_failure: on_failure,
            })
        },
    )
}

fn get(shape: TableShape) -> impl Strategy<Value = GetItem> {
    (given_key(shape), projection()).prop_map(|(key, projection)| {
        let projection = projection.map(Into::into);
        assign!(GetItem::new(TABLE, key).consistent_read(true), { projection })
    })
}

fn sort_condition(name: &'static str, kind: KeyType) -> BoxedStrategy<Option<Condition>> {
    let values = (key_value(kind), key_value(kind), 0..8_u8);
    values
        .prop_map(move |(value, other, which)| {
            let sort = attr(name);
            Some(match which {
                0 => return None,
                1 => sort.eq(value),
                2 => sort.lt(value),
                3 => sort.le(value),
                4 => sort.gt(value),
                5 => sort.ge(value),
                6 => sort.between(value, other),
                _ if kind == KeyType::N => sort.ge(other),
                _ => sort.begins_with(value),
            })
        })
        .boxed()
}

fn query(shape: TableShape) -> impl Strategy<Value = Query> {
    let sources: Vec<Option<&'static IndexShape>> =
        std::iter::once(None).chain(shape.indexes.iter().map(Some)).collect();
    select(sources).prop_flat_map(move |index| {
        let (partition, sort) = match index {
            Some(index) => (index.partition, index.sort),
            None => (("pk", shape.partition), shape.sort.map(|kind| ("sk", kind))),
        };
        let value = match partition.0 {
            "pk" => table_key_value(partition.1),
            _ => key_value(partition.1),
        };
        let sort = match sort {
            Some((name, kind)) => sort_condition(name, kind),
            None => Just(None).boxed(),
        };
        // A filter on a key attribute of the source is rejected, and so is one on an attribute that
        // is not projected: the suite has cases for both. All indexes but keys-only ones project
        // `a`.
        let filter = match index.and_then(|index| index.carries) {
            Some([]) => Just(None).boxed(),
            _ => option::weighted(
                0.3,
                (compare_op(), number()).prop_map(|(op, number)| attr("a").compare(op, number)),
            )
            .boxed(),
        };
        let consistent = index.is_none_or(|index| index.local);
        (value, sort, filter, any::<bool>(), option::of(1..4_i32)).prop_map(
            move |(value, sort, filter, forward, limit)| {
                let condition = attr(partition.0).eq(value);
                let condition = match sort {
                    Some(sort) => condition.and(sort),
                    None => condition,
                };
                assign!(Query::new(TABLE, condition).consistent_read(consistent), {
                    index: index.map(|index| index.name.to_owned()),
                    filter: filter.map(Into::into),
                    scan_index_forward: forward,
                    limit,
                })
            },
        )
    })
}

fn scan(shape: TableShape) -> impl Strategy<Value = Scan> {
    let sources: Vec<Option<&'static str>> =
        std::iter::once(None).chain(shape.indexes.iter().map(|index| Some(index.name))).collect();
    let local: Vec<&str> =
        shape.indexes.iter().filter(|index| index.local).map(|index| index.name).collect();
    let filter = option::weighted(0.5, comparison());
    (select(sources), filter, option::of(1..5_i32)).prop_map(move |(index, filter, limit)| {
        let consistent = index.is_none_or(|index| local.contains(&index));
        assign!(Scan::new(TABLE).consistent_read(consistent), {
            index: index.map(str::to_owned),
            // The suite has cases for filters on attributes that an index does not project.
            filter: filter.filter(|_| index.is_none()).map(Into::into),
            limit,
        })
    })
}

fn batch_get(shape: TableShape) -> impl Strategy<Value = BatchGetItem> {
    (vec(given_key(shape), 1..4), projection()).prop_map(|(mut keys, projection)| {
        if let Some(place) = keys.iter().position(|key| !is_right(key)) {
            keys = vec![keys.swap_remove(place)];
        }
        let projection = projection.map(Into::into);
        let reads = assign!(KeysAndAttributes::new(keys).consistent_read(true), { projection });
        BatchGetItem::new().request(TABLE, reads)
    })
}

fn batch_write(shape: TableShape) -> impl Strategy<Value = BatchWriteItem> {
    let write = prop_oneof![
        2 => item(shape).prop_map(WriteRequest::Put),
        1 => given_key(shape).prop_map(WriteRequest::Delete),
    ];
    vec(write, 1..4).prop_map(move |mut writes| {
        // An invalid write comes alone: which mistake is reported first is not compared.
        let is_wrong = |write: &WriteRequest| match write {
            WriteRequest::Put(item) => !fits_indexes(shape, item),
            WriteRequest::Delete(key) => !is_right(key),
        };
        if let Some(place) = writes.iter().position(is_wrong) {
            writes = vec![writes.swap_remove(place)];
        }
        let requests = [(TABLE.to_owned(), writes)].into();
        assign!(BatchWriteItem::new(), { requests })
    })
}

fn transact_get(shape: TableShape) -> impl Strategy<Value = TransactGetItems> {
    vec((key(shape), projection()), 1..4).prop_map(|reads| {
        TransactGetItems::new(reads.into_iter().map(|(key, projection)| {
            assign!(GetItem::new(TABLE, key), { projection: projection.map(Into::into) })
        }))
    })
}

/// Transactional write with valid keys: which of several invalid operations fails a transaction is
/// not defined. An update always has an expression, because the API requires one here.
fn transact_write(shape: TableShape) -> impl Strategy<Value = TransactWriteItems> {
    let write = prop_oneof![
        3 => put(shape).prop_map(|put| {
            TransactWriteItem::Put(put.return_values(ReturnValues::None))
        }),
        3 => update(shape, key(shape)).prop_map(|update| {
            let mut update = update.return_values(ReturnValues::None);
            update.update.get_or_insert_with(|| Update::new().set("mark", 1).into());
            TransactWriteItem::Update(update)
        }),
        2 => delete(key(shape)).prop_map(|delete| {
            TransactWriteItem::Delete(delete.return_values(ReturnValues::None))
        }),
        2 => (key(shape), condition(), on_failure()).prop_map(|(key, condition, on_failure)| {
            TransactWriteItem::ConditionCheck(assign!(ConditionCheck::new(TABLE, key, condition), {
                return_values_on_condition_check_failure: on_failure,
            }))
        }),
    ];
    vec(write, 1..5).prop_map(|items| assign!(TransactWriteItems::new(), { items }))
}
