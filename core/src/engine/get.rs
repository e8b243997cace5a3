//! Reading one item.

use super::paths::check_keys_are_scalars;
use super::write::check_placeholders_have_use;
use super::{Fault, Position};
use crate::Item;
use crate::expr::{Expr, Names, Placeholders, Projection, Values};
use crate::ops::{GetItem, KeysAndAttributes};
use crate::schema::TableSchema;

/// A read of one item that has been checked against its table.
#[derive(Clone, Debug)]
pub struct GetPlan {
    /// Where the item stands.
    pub position: Position,
    projection: Option<Projection>,
}

impl GetPlan {
    /// Plans a read.
    pub fn new(request: &GetItem, schema: &TableSchema) -> Result<Self, Fault> {
        let projection = parse_projection(&request.names, request.projection.as_ref(), schema)?;
        Ok(Self { position: Position::of_key(schema, &request.key)?, projection })
    }

    /// Plans the reads of a batch from one table.
    pub fn batch(request: &KeysAndAttributes, schema: &TableSchema) -> Result<Vec<Self>, Fault> {
        let projection = parse_projection(&request.names, request.projection.as_ref(), schema)?;
        request
            .keys
            .iter()
            .map(|key| {
                let position = Position::of_key(schema, key)?;
                Ok(Self { position, projection: projection.clone() })
            })
            .collect()
    }

    /// What the request asked for of the item.
    pub fn answer(&self, item: Item) -> Item {
        match &self.projection {
            Some(projection) => projection.project(&item),
            None => item,
        }
    }
}

fn parse_projection(
    names: &Names,
    projection: Option<&Expr<Projection>>,
    schema: &TableSchema,
) -> Result<Option<Projection>, Fault> {
    check_placeholders_have_use(names, &Values::new(), projection.is_some(), &[])?;
    let values = Values::new();
    let mut placeholders = Placeholders::new(names, &values)?;
    let projection =
        projection.map(|projection| placeholders.projection(projection)).transpose()?;
    placeholders.finish()?;
    check_keys_are_scalars(schema, projection.iter().flat_map(Projection::paths))?;
    Ok(projection)
}
