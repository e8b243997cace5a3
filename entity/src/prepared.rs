//! A transaction that can be sent again.

use super::Db;
use super::lost::{Lost, Part, Transacted};
use tabla_core::CancellationCode;
use tabla_core::backend::limits::TRANSACT_ITEMS;
use tabla_core::ops::{TransactWriteItem, TransactWriteItems, TransactWriteItemsOutput};
use tabla_core::{CancellationReason, Error, ErrorKind, Result, assign};

/// A transaction as it goes to the store, time and token included: however often it is run within
/// ten minutes, it is carried out once.
///
/// ```
/// # use std::sync::{Arc, LazyLock};
/// # use serde::{Deserialize, Serialize};
/// # use tabla::MemoryStore;
/// # use tabla::entity::{Db, Entity, Id, TableDesign, Transacted, UtcTime};
/// # static SHOP: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("shop").key("PK", "SK"));
/// #[derive(Clone, Serialize, Deserialize, Entity)]
/// #[entity(table = SHOP, pk = "ORDER#{number}", sk = "ORDER", created_at = placed_at)]
/// struct Order {
///     number: Id,
///     placed_at: UtcTime,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let db = Db::new(Arc::new(MemoryStore::new()));
/// # db.create_table(&SHOP).await?;
/// let order = Order { number: Id::new("7")?, placed_at: UtcTime::default() };
/// let placed = db.transaction().create("order", order)?.prepare()?;
/// for _ in 0..2 {
///     // The second time, as if the answer to the first had been lost on its way.
///     assert!(matches!(placed.run().await?, Transacted::Done));
/// }
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct Prepared<'d> {
    db: &'d Db,
    parts: Vec<Part>,
    request: TransactWriteItems,
}

impl<'d> Prepared<'d> {
    pub(super) fn new(
        db: &'d Db,
        operations: impl Iterator<Item = (Part, TransactWriteItem)>,
        token: Option<String>,
    ) -> Result<Self> {
        let (parts, items): (Vec<Part>, Vec<TransactWriteItem>) = operations.unzip();
        if items.len() > TRANSACT_ITEMS {
            return Err(Error::validation(format!(
                "a transaction has at most {TRANSACT_ITEMS} operations, and this one {}, of which \
                 {} are for unique values",
                items.len(),
                parts.iter().filter(|part| matches!(part, Part::Guard { .. })).count(),
            )));
        }
        let request =
            assign!(TransactWriteItems::default(), { items, client_request_token: token });
        Ok(Self { db, parts, request })
    }

    /// The token that it goes under.
    pub fn token(&self) -> Option<&str> {
        self.request.client_request_token.as_deref()
    }

    /// Carries it out, unless that was done before.
    ///
    /// # Errors
    /// Those of the store. That a condition did not hold is none.
    pub async fn run(&self) -> Result<Transacted> {
        send(self.db, &self.parts, self.request.clone()).await
    }

    /// Carries it out for the only time.
    pub(super) async fn run_once(self) -> Result<Transacted> {
        send(self.db, &self.parts, self.request).await
    }
}

async fn send(db: &Db, parts: &[Part], request: TransactWriteItems) -> Result<Transacted> {
    // Only a guard that is given up and may be another's makes a second request.
    let is_spared = |part: &Part| matches!(part, Part::Guard { spared: Some(_), .. });
    let kept = parts.iter().any(is_spared).then(|| request.clone());
    let reasons = match lost(db.store().transact_write(request).await)? {
        None => return Ok(Transacted::Done),
        Some(reasons) => reasons,
    };
    if let Some(request) = kept.and_then(|request| sparing(request, parts, &reasons)) {
        return Ok(match lost(db.store().transact_write(request).await)? {
            None => Transacted::Done,
            Some(reasons) => Transacted::Lost(Lost::of_parts(parts, reasons)),
        });
    }
    Ok(Transacted::Lost(Lost::of_parts(parts, reasons)))
}

/// Why a transaction was cancelled, if conditions, and nothing else, are why; `None` if it was not.
fn lost(answer: Result<TransactWriteItemsOutput>) -> Result<Option<Vec<CancellationReason>>> {
    let Err(error) = answer else { return Ok(None) };
    match error.kind() {
        ErrorKind::TransactionCanceled { reasons } if is_lost(reasons) => Ok(Some(reasons.clone())),
        _ => Err(error),
    }
}

/// The same transaction without the deletion of guards that are other entities': the guard of an
/// expired entity may be swept before the entity, and another may take the value. `None` if no
/// guard is why the transaction was cancelled.
fn sparing(
    mut request: TransactWriteItems,
    parts: &[Part],
    reasons: &[CancellationReason],
) -> Option<TransactWriteItems> {
    let mut is_changed = false;
    for ((item, part), reason) in request.items.iter_mut().zip(parts).zip(reasons) {
        if let Part::Guard { spared: Some(check), .. } = part
            && reason.code == CancellationCode::ConditionalCheckFailed
        {
            *item = TransactWriteItem::ConditionCheck((**check).clone());
            is_changed = true;
        }
    }
    // It is another transaction, under a token that is the same each time that it comes to this.
    request.client_request_token = request.client_request_token.map(|token| {
        format!("{:016x}-spared", tabla_core::backend::key_encoding::hash(token.as_bytes()))
    });
    is_changed.then_some(request)
}

/// Whether conditions, and nothing else, are why it was cancelled.
fn is_lost(reasons: &[CancellationReason]) -> bool {
    let failed = CancellationCode::ConditionalCheckFailed;
    reasons.iter().any(|reason| reason.code == failed)
        && reasons
            .iter()
            .all(|reason| reason.code == failed || reason.code == CancellationCode::None)
}
