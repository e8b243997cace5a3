//! Check of document paths that lead into key attributes.

use crate::error::{Error, Result};
use crate::expr::Path;
use crate::schema::TableSchema;

/// Refuses paths to an element of a key attribute, of the table or of an index: keys are scalars.
pub(super) fn check_keys_are_scalars<'a>(
    schema: &TableSchema,
    paths: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    for path in paths.into_iter().filter(|path| path.as_attribute().is_none()) {
        let name = path.root();
        let role = if schema.is_key(name) {
            "Key"
        } else if schema.is_index_key(name) {
            "IndexKey"
        } else {
            continue;
        };
        return Err(Error::validation(format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
             allowed: {role}: {name}"
        )));
    }
    Ok(())
}
