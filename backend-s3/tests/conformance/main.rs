//! The conformance suite of blobs on each backend of this crate, and the comparison of its results
//! with `docs/conformance.md`.
//!
//! `-- '[gateway]'` runs one engine, `-- blobs::listing` one family on all of them. A run with all
//! features and without a filter compares the section "Conformance of blobs" of the document;
//! with `TABLA_DOCS=overwrite` it writes the section.

#[cfg(all(feature = "gateway", feature = "s3"))]
mod gateway;
#[cfg(feature = "object-store")]
mod object_store;
#[cfg(feature = "s3")]
mod versitygw;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use tabla_conformance::blobs::{BlobHarness, BlobReport, main_on};
use tabla_s3::MemoryBlobHarness;

/// Engines with a column in the document, in order.
const COLUMNS: [&str; 5] = ["memory", "file", "gateway", "versitygw", "object_store InMemory"];

/// Environment variable whose value `overwrite` makes a run write the document.
const DOCS_VARIABLE: &str = "TABLA_DOCS";

/// Command that writes the section of the document.
const COMMAND: &str = "TABLA_DOCS=overwrite cargo test --package tabla-s3 --features \
                       gateway,object-store,s3 --test conformance";

fn main() -> ExitCode {
    let place = tempfile::tempdir().expect("a folder for the cases");
    let mut harnesses: Vec<Arc<dyn BlobHarness>> = vec![Arc::new(MemoryBlobHarness)];
    #[cfg(feature = "file")]
    {
        let files = tabla_s3::FileBlobHarness::new(place.path().join("file"));
        harnesses.push(Arc::new(files.expect("the folder exists")));
    }
    #[cfg(all(feature = "gateway", feature = "s3"))]
    {
        #[cfg(feature = "file")]
        harnesses.push(Arc::new(gateway::GatewayHarness::on_files(place.path().join("gateway"))));
        harnesses.push(Arc::new(gateway::GatewayHarness::in_memory()));
    }
    #[cfg(feature = "s3")]
    match tabla_testkit::versitygw::is_excluded() {
        true => println!("skipped (TABLA_WITHOUT): the conformance suite of blobs on versitygw"),
        false => harnesses.push(Arc::new(versitygw::VersitygwHarness::default())),
    }
    #[cfg(feature = "object-store")]
    harnesses.push(Arc::new(object_store::InMemoryHarness));
    let code = main_on(harnesses, check_document);
    drop(place);
    code
}

/// Compares the report with its section of the document, if every column has run.
fn check_document(report: &BlobReport) -> Result<(), String> {
    let mut report = report.clone();
    report.columns.retain(|column| COLUMNS.contains(&column.engine.as_str()));
    let engines: Vec<&str> = report.columns.iter().map(|column| column.engine.as_str()).collect();
    if engines != COLUMNS {
        println!("docs/conformance.md is not compared: it needs the columns {COLUMNS:?}");
        return Ok(());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let document = fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    if std::env::var(DOCS_VARIABLE).as_deref() == Ok("overwrite") {
        return fs::write(&path, report.write_into(&document))
            .map_err(|error| format!("cannot write {}: {error}", path.display()));
    }
    match report.is_in(&document) {
        true => Ok(()),
        false => Err(format!(
            "the section `Conformance of blobs` of docs/conformance.md differs from the results of \
             this run; regenerate it: {COMMAND}"
        )),
    }
}
