//! Tests that every program succeeds and prints the expected output.

use std::process::Command;

use tabla_testkit::dynamodb;

/// Runs a program, and returns its standard output.
fn run(program: &str, arguments: &[&str]) -> String {
    // An empty current folder shows files that a program leaves behind.
    let folder = tempfile::tempdir().expect("a folder for the test");
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("cargo has built the program");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{program}: {}\n{stdout}{stderr}", output.status);
    assert_eq!(stderr, "", "{program}");
    let left = std::fs::read_dir(folder.path()).expect("the folder of the test").count();
    assert_eq!(left, 0, "{program} leaves files in the current folder");
    stdout
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("a program prints UTF-8")
}

macro_rules! programs {
    ($($program:ident => $expected:expr;)+) => {
        $(
            #[test]
            fn $program() {
                let stdout = run(env!(concat!("CARGO_BIN_EXE_", stringify!($program))), &[]);
                assert_eq!(stdout.lines().collect::<Vec<_>>(), $expected);
            }
        )+
    };
}

programs! {
    first_steps => [
        "plays of Sinnerman: 2",
        "songs of Nina Simone: Feeling Good, Sinnerman",
        "Sinnerman is deleted",
    ];
    conditions_and_transactions => [
        "ana has an account already, with 50 euros",
        "30 euros are moved: ana 20, bo 30",
        "30 more are refused: ana 20, bo 30",
        "bo's account stays open: The conditional request failed",
    ];
    typed_entities => [
        "created order 1, once",
        "paid: Order { customer: Id(\"ana\"), number: 1, status: Paid, total: 40 }",
        "created order 2, because order 1 is paid",
        "orders of ana: [1, 2]",
        "open orders: [2]",
    ];
    unique_email => [
        "1 user created, 1 refused: the email is taken",
        "cleo has hello@example.com now",
        "dora has it after cleo is deleted",
    ];
    pages_and_cursors => ["page [7, 6, 5]", "page [4, 3, 2]", "page [1]", "all: 7 posts"];
    stream_consumer => [
        "handled 5, set aside 1",
        "receipts: {\"1 ana@example.com\", \"3 bo@example.com\"}",
        "set aside: no address",
    ];
    any_store => ["sqlite: bo, ana; The conditional request failed"];
    aws_sdk => [
        "ana has a ticket, 1 left",
        "bo has a ticket, 0 left",
        "cleo comes too late",
    ];
}

#[test]
fn any_store_runs_on_dynamodb_local() {
    if dynamodb::is_excluded() {
        println!("skipped (TABLA_WITHOUT): any_store on DynamoDB Local");
        return;
    }
    let server = dynamodb::endpoint().expect("a server for the tests");
    let address = server.url().replacen("http:", "dynamodb:", 1);
    let stdout = run(env!("CARGO_BIN_EXE_any_store"), &[&address]);
    assert_eq!(stdout, "dynamodb-local: bo, ana; The conditional request failed\n");
}

#[test]
fn programs_have_at_most_80_lines() {
    let folder = env!("CARGO_MANIFEST_DIR");
    for entry in std::fs::read_dir(folder).expect("the folder of the examples") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a program is UTF-8");
            let lines = text.lines().count();
            assert!(lines <= 80, "{}: {lines} lines", path.display());
        }
    }
}
