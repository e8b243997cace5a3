//! Document paths that lead into key attributes.

use crate::error::{Error, Result};
use crate::expr::Path;
use crate::schema::TableSchema;

/// Refuses paths that look inside a key attribute, of the table or of any of its indexes: keys
/// are scalars, so there is nothing inside.
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
