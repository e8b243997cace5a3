//! Layout of the file: format 1, as `docs/sqlite-format.md` describes it.
//!
//! The comments in the SQL are stored in every file with the schema. A change of one is a change of
//! the file, and the test of the sample file finds it.

/// `application_id` in the header of every tabla file: `TBLA` in ASCII.
pub const APPLICATION_ID: i32 = 0x5442_4C41;

/// `application_id` of files from before the first release: `tabl`. They are refused.
pub(crate) const PRERELEASE_APPLICATION_ID: i32 = 0x7461_626C;

/// Version of the file format that this code writes: `user_version` in the file's header.
pub const FORMAT_VERSION: i32 = 1;

/// Page size of the file, in bytes.
pub(crate) const PAGE_SIZE: u32 = 4096;

/// Migration steps: number *n* takes a file from version *n* to *n* + 1. Step 0 creates the tables
/// of an empty file.
const MIGRATIONS: [&str; FORMAT_VERSION as usize] = [include_str!("format/1.sql")];

/// Returns the statements that migrate a file of version `from` to the current version, in one
/// transaction. Version 0 is an empty file.
pub(crate) fn migration(from: i32) -> String {
    let steps = MIGRATIONS.iter().skip(usize::try_from(from).unwrap_or(0));
    let versions = format!(
        "PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {FORMAT_VERSION};\n"
    );
    steps.copied().chain([versions.as_str()]).collect()
}

/// Returns the statements that create `items_N` and `keys_N`: the rows of table number N.
pub(crate) fn create_rows(number: i64) -> String {
    format!(
        "CREATE TABLE items_{number} (\n  \
           id INTEGER PRIMARY KEY, -- counts up\n  \
           sum INTEGER NOT NULL, -- XXH3-64 of the item, seeded with the id\n  \
           item BLOB NOT NULL -- docs/item-format.md\n\
         );\n\
         CREATE TABLE keys_{number} (\n  \
           key BLOB PRIMARY KEY, -- hash, partition key, sort key\n  \
           id INTEGER NOT NULL -- the row of items_{number}\n\
         ) WITHOUT ROWID;"
    )
}

/// Returns the statement that creates `index_N`: the entries of index number N. An entry
/// of an index that projects all attributes refers to the item; any other stores the
/// projected attributes.
pub(crate) fn create_index(number: i64, projects_all: bool) -> String {
    let carried = match projects_all {
        true => "",
        false => {
            "sum INTEGER NOT NULL, -- XXH3-64 of what follows, seeded with the id\n  \
             item BLOB NOT NULL, -- what the index carries\n  "
        }
    };
    format!(
        "CREATE TABLE index_{number} (\n  \
           key BLOB PRIMARY KEY, -- hash, partition key, sort key of the index, key of the table\n  \
           {carried}id INTEGER NOT NULL -- the row of the table's items\n\
         ) WITHOUT ROWID;"
    )
}

/// Returns the statement that creates `expiry_N`: the expiry index number N.
pub(crate) fn create_expiry(number: i64) -> String {
    format!(
        "CREATE TABLE expiry_{number} (\n  \
           at INTEGER NOT NULL, -- the second since 1970 in which the item's time comes\n  \
           id INTEGER NOT NULL, -- the row of the table's items\n  \
           PRIMARY KEY (at, id)\n\
         ) WITHOUT ROWID;"
    )
}

/// Returns the name of the SQL table with the records of stream number N.
pub(crate) fn records(number: i64) -> String {
    format!("records_{number}")
}

/// Returns the statement that creates `records_N`: the records of stream number N.
pub(crate) fn create_records(number: i64) -> String {
    format!(
        "CREATE TABLE records_{number} (\n  \
           number INTEGER PRIMARY KEY, -- the sequence number\n  \
           lane INTEGER NOT NULL, -- the one of the stream's shards at a time that it is in\n  \
           at INTEGER NOT NULL, -- seconds since 1970\n  \
           event_id NOT NULL, -- first 8 of its 16 bytes, as an integer; the number is the rest\n  \
           event INTEGER NOT NULL, -- 1 INSERT, 2 MODIFY, 3 REMOVE\n  \
           image BLOB NOT NULL, -- new image, else old image, else keys: docs/item-format.md\n  \
           before BLOB, -- what the old image has differently, if there are both; or an integer,\n  \
                        -- the record from whose image the one of this differs by what is in it\n  \
           by TEXT -- who made the change, if no caller did: JSON\n\
         );"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migration_of_an_empty_file_creates_the_current_format() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(&migration(0)).unwrap();
        let value = |pragma: &str| -> i32 {
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!(value("application_id"), APPLICATION_ID);
        assert_eq!(value("user_version"), FORMAT_VERSION);
        connection.execute_batch(&create_rows(7)).unwrap();
        connection.execute_batch(&create_index(8, true)).unwrap();
        connection.execute_batch(&create_index(9, false)).unwrap();
        connection.execute_batch(&create_records(10)).unwrap();
        connection.execute_batch(&create_expiry(11)).unwrap();
        assert!(!migration(FORMAT_VERSION).contains("CREATE"), "nothing is left to migrate");
    }
}
