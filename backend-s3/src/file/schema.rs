//! Layout of the catalogue: format 1.

/// `application_id` in the header of a catalogue: `TBLB` in ASCII.
pub(super) const APPLICATION_ID: i32 = 0x5442_4C42;

/// Version of the format that this code writes: `user_version` in the header.
pub(super) const FORMAT_VERSION: i32 = 1;

/// Statements that create the tables of an empty catalogue.
pub(super) fn create() -> String {
    let versions = format!(
        "PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {FORMAT_VERSION};\n"
    );
    include_str!("schema.sql").to_owned() + &versions
}
