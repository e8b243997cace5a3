//! Plans of reads of one item, by themselves or in a batch.

use super::key_paths::check_keys_are_scalars;
use super::write_plan::check_placeholders_have_use;
use super::{OperationError, RowKey, batch};
use crate::Item;
use crate::expr::{Expr, Names, Placeholders, Projection, Values};
use crate::ops::{GetItem, KeysAndAttributes};
use crate::schema::TableSchema;

/// Validated read of one item.
#[derive(Clone, Debug)]
pub(crate) struct GetPlan {
    /// Row key of the item.
    pub row_key: RowKey,
    projection: Option<Projection>,
}

impl GetPlan {
    /// Validates a read against its table.
    pub(crate) fn new(request: &GetItem, schema: &TableSchema) -> Result<Self, OperationError> {
        let GetItem {
            table: _,
            key,
            projection,
            names,
            // The operation that executes the plan uses these.
            consistent_read: _,
            return_consumed_capacity: _,
        } = request;
        let projection = parse_projection(names, projection.as_ref(), schema)?;
        Ok(Self { row_key: RowKey::of_read_key(schema, key)?, projection })
    }

    /// Applies the projection of the request to the item.
    pub(crate) fn project(&self, item: Item) -> Item {
        project(self.projection.as_ref(), item)
    }
}

/// Validated reads of a batch from one table.
#[derive(Clone, Debug)]
pub(super) struct BatchPlan {
    pub(super) positions: Vec<RowKey>,
    projection: Option<Projection>,
}

impl BatchPlan {
    pub(super) fn new(
        reads: &KeysAndAttributes,
        schema: &TableSchema,
    ) -> Result<Self, OperationError> {
        // The batch uses the consistency.
        let KeysAndAttributes { keys, projection, names, consistent_read: _ } = reads;
        let projection = parse_projection(names, projection.as_ref(), schema)?;
        let positions = keys.iter().map(|key| RowKey::of_key(schema, key));
        let positions: Vec<RowKey> = positions.collect::<Result<_, OperationError>>()?;
        batch::check_distinct(&positions)?;
        Ok(Self { positions, projection })
    }

    /// Applies the projection of the request to an item.
    pub(super) fn project(&self, item: Item) -> Item {
        project(self.projection.as_ref(), item)
    }
}

fn project(projection: Option<&Projection>, item: Item) -> Item {
    match projection {
        Some(projection) => projection.project(&item),
        None => item,
    }
}

fn parse_projection(
    names: &Names,
    projection: Option<&Expr<Projection>>,
    schema: &TableSchema,
) -> Result<Option<Projection>, OperationError> {
    check_placeholders_have_use(names, &Values::new(), projection.is_some(), &[])?;
    let values = Values::new();
    let mut placeholders = Placeholders::new(names, &values)?;
    let projection =
        projection.map(|projection| placeholders.projection(projection)).transpose()?;
    placeholders.finish()?;
    check_keys_are_scalars(schema, projection.iter().flat_map(Projection::paths))?;
    Ok(projection)
}
