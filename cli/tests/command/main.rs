//! Tests of the command `tabla` as a process: demo, apps, check and conformance. `serve` has its
//! own modules.

mod blob_conformance;
mod config_errors;
mod counters;
mod crowd;
mod load;
mod memory;
mod open_files;
mod process;
mod retries;
mod serve;
mod signals;
mod things;
mod wire;
mod worker;

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn tabla(arguments: &[&str]) -> Output {
    Command::new(process::program()).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program prints text")
}

#[test]
fn demo_output_has_every_app_and_at_most_100_columns() {
    let output = tabla(&["demo"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for app in ["gamificacion", "rk-pai", "branding", "esencia-fest", "crypto-cards"] {
        assert!(shown.contains(&format!("\n{app}: ")), "{shown}");
    }
    assert!(shown.contains("patterns returned the expected results"), "{shown}");
    assert!(shown.contains("race: publishing: 1 of 100 won"), "{shown}");
    for line in shown.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
    }
}

#[test]
fn demo_keeps_its_files_in_the_named_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("demo");
    let kept = kept.to_str().expect("the path is UTF-8");
    let output = tabla(&["demo", "--folder", kept]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let file = format!("{kept}/branding.db");
    assert!(tabla(&["check", &file]).status.success());
}

#[test]
fn app_patterns_lint_and_schema_print_the_design() {
    let patterns = tabla(&["app", "branding", "patterns"]);
    let shown = text(&patterns.stdout);
    assert!(shown.contains("published_theme") && shown.contains("THEME#{version:08}"), "{shown}");
    for app in ["gamificacion", "rk-pai", "branding", "esencia-fest", "crypto-cards"] {
        let patterns = tabla(&["app", app, "patterns"]);
        for line in text(&patterns.stdout).lines() {
            assert!(line.chars().count() <= 100, "too wide: {line}");
        }
    }
    let lint = tabla(&["app", "branding", "lint"]);
    assert!(lint.status.success(), "{}", text(&lint.stdout));
    assert!(text(&lint.stdout).contains("0 errors, 0 warnings"), "{}", text(&lint.stdout));
    let check = tabla(&["app", "branding", "check"]);
    assert!(check.status.success(), "{}", text(&check.stdout));
    assert!(text(&check.stdout).contains("patterns; 0 failed"), "{}", text(&check.stdout));
    for (format, part) in [
        ("cloudformation", "AWS::DynamoDB::Table"),
        ("terraform", "aws_dynamodb_table"),
        ("workbench", "ModelName"),
    ] {
        let schema = tabla(&["app", "branding", "schema", "--format", format]);
        serde_json::from_slice::<serde_json::Value>(&schema.stdout).expect("it is JSON");
        assert!(text(&schema.stdout).contains(part), "{format}");
    }
    let renamed = tabla(&["app", "branding", "schema", "--name", "branding=themes-prod"]);
    assert!(text(&renamed.stdout).contains("themes-prod"), "{renamed:?}");
    let monthly = tabla(&["app", "esencia-fest", "schema"]);
    assert!(text(&monthly.stdout).contains("\"EsenciaFest-ActivityLogs-20"), "{monthly:?}");
}

#[test]
fn app_seed_writes_a_sound_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("branding.db");
    let address = format!("sqlite:{}", file.display());
    let seed = tabla(&["app", "branding", "seed", "--store", &address, "--scale", "2"]);
    assert!(seed.status.success(), "{}", text(&seed.stderr));
    let check = tabla(&["check", file.to_str().expect("the path is UTF-8")]);
    assert!(text(&check.stdout).contains("sound"), "{}", text(&check.stdout));
}

/// `tabla app … | head` closes the pipe early.
#[test]
fn closed_standard_output_is_not_an_error() {
    let mut child = Command::new(process::program())
        .args(["app", "rk-pai", "patterns"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn missing_command_prints_the_commands() {
    let output = tabla(&[]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("demo"), "{output:?}");
    assert!(text(&output.stderr).contains("conformance"), "{output:?}");
}

#[test]
fn conformance_reports_selected_cases_as_json() {
    let output = tabla(&["conformance", "--store", "memory:", "--json", "transactions::"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let shown = report.to_string();
    assert!(shown.contains("transactions"), "{shown}");
    assert!(!shown.contains("\"fail\","), "{shown}");
}

/// Compares the section of stores in `docs/conformance.md` with the results on every engine that the
/// tests use. The test `conformance` of `tabla-s3` compares the section of blobs.
#[test]
fn conformance_document_is_current() {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("skipped (TABLA_WITHOUT): the table of docs/conformance.md needs DynamoDB Local");
        return;
    }
    let server = tabla_testkit::dynamodb::endpoint().expect("a server");
    let address = server.url().replacen("http:", "dynamodb:", 1);
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let table = table.to_str().expect("the path is UTF-8");
    let folder = tempfile::tempdir().expect("a folder for the files");
    let file = format!("sqlite:{}/case", folder.path().display());
    let stores = ["--store", "memory:", "--store", &file, "--store", &address];
    let output = tabla(&[&["conformance", "--check", table][..], &stores[..]].concat());
    assert!(
        output.status.success(),
        "{}{}\nregenerate it: cargo run --release --features full -- conformance {} --update docs/conformance.md",
        text(&output.stdout),
        text(&output.stderr),
        stores.join(" ")
    );
}

#[test]
fn check_accepts_a_path_and_an_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.db");
    let address = format!("sqlite:{}", path.display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        use tabla::Store;
        let config = tabla::sqlite::SqliteConfig::file(&path);
        let store = tabla::sqlite::SqliteStore::open(&config).await.expect("a store");
        let songs = tabla::ops::CreateTable::new("songs");
        let songs = songs.partition_key("artist", tabla::KeyType::S);
        store.create_table(songs).await.expect("a table");
        let song = tabla::item! { "artist" => "Nina" };
        store.put(tabla::ops::PutItem::new("songs", song)).await.expect("a put");
    });
    for named in [address.as_str(), path.to_str().expect("text")] {
        let output = tabla(&["check", named]);
        assert!(output.status.success(), "{output:?}");
        let sound = "shop.db: sound (1 table, 1 item, 0 index entries, 0 stream records)";
        assert!(text(&output.stdout).contains(sound), "{output:?}");
    }
}
