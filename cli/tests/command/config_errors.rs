//! Every configuration error of the command: bad options, addresses, files of keys, AWS settings
//! and variables of the tests.
//!
//! Each error names the value, the cause and the remedy, ends the command with the right exit code,
//! and leaves no file behind. Addresses that any program can open are in
//! `tabla/tests/bad_addresses.rs`.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::process::{parse_number, program};
use crate::serve::names;
use crate::text;

/// Arguments of the command, its exit code, and the parts of its error: value, cause and remedy.
type Case<'a> = (&'a [&'a str], i32, &'a str, &'a str, &'a str);

/// Remedy of the argument parser, where the message itself has none.
const SEE_HELP: &str = "try '--help'";

/// Runs the command without the AWS settings of this machine, and with these variables.
fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(&name);
        }
    }
    command.args(arguments).envs(variables.iter().copied()).output().expect("the program starts")
}

/// Checks the exit code and the parts of the error, and that standard output is empty.
fn assert_refused(output: &Output, (arguments, code, value, cause, remedy): &Case<'_>) {
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {errors}");
    assert!(errors.contains("error: "), "{arguments:?}: {errors}");
    for (column, part) in [("value", value), ("cause", cause), ("remedy", remedy)] {
        assert!(errors.contains(*part), "{arguments:?}: no {column} {part:?} in: {errors}");
    }
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
}

/// Runs a command with the arguments of each case, and checks that the folder has no new file.
fn assert_all_refused(command: &[&str], folder: &TempDir, cases: &[Case<'_>]) {
    let before = names(folder.path());
    for case in cases {
        assert_refused(&run(&[command, case.0].concat(), &[]), case);
        assert_eq!(names(folder.path()), before, "created by {:?}", case.0);
    }
}

/// A folder with `no-database.db` and `half-a-key`, and a function that returns paths in it.
fn folder() -> (TempDir, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().to_owned();
    let path = move |name: &str| base.join(name).display().to_string();
    fs::write(path("no-database.db"), "A text of some length, which is not a database file.")
        .expect("a file");
    fs::write(path("half-a-key"), "[somebody]\naws_secret_access_key = hidden\n").expect("a file");
    (folder, path)
}

#[tokio::test]
async fn bad_serve_option_names_value_cause_and_remedy() {
    let (folder, path) = folder();
    let other = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let taken = &*other.local_addr().expect("its address").to_string();
    let new_file = &*format!("sqlite:{}", path("new.db"));
    let no_database = &*format!("sqlite:{}", path("no-database.db"));
    let no_folder = &*format!("sqlite:{}", path("no-such-folder/a.db"));
    let bad_cache = &*format!("sqlite:{}?cache=8MB", path("new.db"));
    let half_a_key = &*path("half-a-key");

    let no_address = "expected an IP address and a port";
    let address = "such as 127.0.0.1:8000, [::1]:8000 or localhost:8000";
    let another = "choose another address or port";
    let is_open = "can be reached from other machines";
    let protect = "with --auth FILE, listen on 127.0.0.1, or allow it with --insecure";
    let port = "give a number from 0 to 65535";
    let delay = "expected a number of seconds from 0 to 3600";
    let levels = "[possible values: off, error, warn, info, debug, trace]";
    let origin = "give one of the form https://app.example";
    let host = "give a name or an address without a port";
    let any = "127.0.0.1:0";
    let cases: &[Case<'_>] = &[
        (&["--listen", taken, "--store", new_file], 1, taken, "in use", another),
        // An address for documentation, which no machine has.
        (
            &["--listen", "192.0.2.1:0", "--insecure", "--store", new_file],
            1,
            "192.0.2.1:0",
            "assign requested address",
            another,
        ),
        (&["--listen", "0.0.0.0:0", "--store", new_file], 1, "0.0.0.0:0", is_open, protect),
        (&["--listen", "[::]:0", "--store", new_file], 1, "[::]:0", is_open, protect),
        (&["--listen", "nowhere"], 2, "'nowhere'", no_address, address),
        (&["--listen", "127.0.0.1"], 2, "'127.0.0.1'", no_address, address),
        (&["--listen", "127.0.0.1:65536"], 2, "'127.0.0.1:65536'", no_address, address),
        (&["--listen", "db.example:8000"], 2, "'db.example:8000'", no_address, address),
        (&["--listen", "localhost:no"], 2, "`no`", "is not a port", port),
        (&["--listen", "localhost:65536"], 2, "`65536`", "is not a port", port),
        (&["--table-delay=-1"], 2, "'-1'", "'--table-delay <SECONDS>'", delay),
        (&["--table-delay", "forever"], 2, "'forever'", "'--table-delay <SECONDS>'", delay),
        (&["--table-delay", "5s"], 2, "'5s'", "'--table-delay <SECONDS>'", delay),
        (&["--table-delay", "nan"], 2, "'nan'", "'--table-delay <SECONDS>'", delay),
        (&["--table-delay", "3601"], 2, "'3601'", "'--table-delay <SECONDS>'", delay),
        (&["--log", "loud"], 2, "'loud'", "'--log <LEVEL>'", levels),
        (&["--cors", "*"], 2, "'*'", "is not an origin", origin),
        (&["--cors", "null"], 2, "'null'", "is not an origin", origin),
        (&["--cors", "app.example"], 2, "'app.example'", "is not an origin", origin),
        (&["--host", "db:8000"], 2, "'db:8000'", "is not a host", host),
        (&["--host", "db example"], 2, "'db example'", "is not a host", host),
        (
            &["--auth", half_a_key, "--cors", "https://app.example"],
            1,
            "--cors",
            "no effect with --auth",
            "leave it out, or serve blobs with --blobs",
        ),
        (
            &["--blobs", "memory:", "--blobs-listen", "0.0.0.0:0"],
            1,
            "0.0.0.0:0",
            is_open,
            "with --auth FILE, or listen on 127.0.0.1",
        ),
        (&["--blobs-listen", any], 2, "--blobs <ADDRESS>", "were not provided", SEE_HELP),
        (
            &["--listen", any, "--blobs", "s3://photos"],
            1,
            "`s3://photos`",
            "not of `s3:`",
            "such as `file:assets`",
        ),
        (
            &["--auth", half_a_key, "--host", "db.example"],
            2,
            "--host",
            "cannot be used with",
            SEE_HELP,
        ),
        (&["--sotre", "memory:"], 2, "'--sotre'", "unexpected argument", "'--store'"),
        (&["--store"], 2, "--store", "a value is required", SEE_HELP),
        (
            &["--listen", any, "--store", "mongo:shop"],
            1,
            "cannot open `mongo:shop`",
            "no store opens `mongo:` addresses",
            "valid addresses:\n",
        ),
        (
            &["--listen", any, "--store", no_folder],
            1,
            "no-such-folder/a.db`",
            "there is no folder",
            "create it",
        ),
        (
            &["--listen", any, "--store", no_database],
            1,
            "no-database.db`",
            "not an SQLite file",
            "use another file",
        ),
        (
            &["--listen", any, "--store", bad_cache],
            1,
            "not `8MB`",
            "the option `cache`",
            "of megabytes",
        ),
        (
            &["--listen", any, "--store", "dynamodb://127.0.0.1:1"],
            1,
            "`http://127.0.0.1:1`",
            "cannot be reached",
            "check that a server",
        ),
    ];
    assert_all_refused(&["serve"], &folder, cases);
}

#[test]
fn bad_file_of_keys_names_line_cause_and_remedy_and_no_secret() {
    let (folder, path) = folder();
    let (keys, new_file) = (path("keys"), format!("sqlite:{}", path("new.db")));
    let arguments =
        ["serve", "--listen", "127.0.0.1:0", "--auth", keys.as_str(), "--store", &new_file];
    let check = |value: &str, cause: &str, remedy: &str| {
        let before = names(folder.path());
        let output = run(&arguments, &[]);
        assert_refused(&output, &(&arguments[..], 1, value, cause, remedy));
        assert!(!text(&output.stderr).contains("hidden"), "{}", text(&output.stderr));
        assert_eq!(names(folder.path()), before);
    };
    let readable = "name a readable file in the format of ~/.aws/credentials";
    let value = format!("cannot read the credentials file `{keys}`");
    check(&value, "No such file or directory", readable);
    fs::write(&keys, [0xFF_u8]).expect("a file");
    check(&value, "UTF-8", readable);
    let no_keys = format!("{keys}: ");
    for (content, value, cause, remedy) in [
        ("", &*no_keys, "the file has no key", "add a section such as `[default]`"),
        ("hidden", "line 1", "expected a section, a setting or a comment", "as `name = value`"),
        ("aws_access_key_id = hidden", "line 1", "before the first section", "add a line such as"),
        ("[a", "line 1", "a section name must be in brackets", "such as `[default]`"),
        ("[a]\naws_access_key_id =", "`aws_access_key_id`", "has no value", "write it after the"),
        (
            "[a]\naws_secret_access_key = \"hidden\"",
            "the value of `aws_secret_access_key`",
            "has an invalid character",
            "write it without quotation",
        ),
        (
            "[a]\naws_secret_access_key = hidden\naws_secret_access_key = hidden",
            "section `a`",
            "has `aws_secret_access_key` twice",
            "keep one",
        ),
        ("[a]\naws_access_key_id = A", "section `a`", "has no `aws_secret_access_key`", "add it"),
        (
            "[somebody]\naws_secret_access_key = hidden",
            "section `somebody`",
            "has no `aws_access_key_id`",
            "add it, or remove the section",
        ),
        (
            "[a]\naws_access_key_id = A\naws_secret_access_key = hidden\n\
             [b]\naws_access_key_id = A\naws_secret_access_key = hidden",
            "section `b`",
            "repeats the key of an earlier section",
            "keep one: A",
        ),
    ] {
        fs::write(&keys, content).expect("a file");
        check(value, cause, remedy);
    }
}

#[test]
fn bad_option_of_another_command_names_value_cause_and_remedy() {
    let (folder, path) = folder();
    fs::write(path("empty.db"), "").expect("a file");
    let (missing, empty) = (&*path("missing.db"), &*path("empty.db"));
    let (no_database, whole_folder) = (&*path("no-database.db"), &*path(""));
    let bad_cache = &*format!("sqlite:{}?cache=8MB", path("new.db"));
    let bad_retries = &*format!("sqlite:{}?retries=some", path("new.db"));
    let no_file = &*path("results.md");
    let no_parent = &*format!("file:{}", path("no-such-folder/assets"));

    let no_value = "required arguments were not provided";
    let no_number = "invalid digit found in string";
    let new_folder = "name an empty or new folder";
    let cases: &[Case<'_>] = &[
        (&["srve"], 2, "'srve'", "unrecognized subcommand", "'serve'"),
        (&["check"], 2, "<FILE>", no_value, "Usage: tabla check"),
        (&["check", missing], 1, missing, "there is no such file", "name the file of a store"),
        (&["check", empty], 1, empty, "the file is empty", "name the file of a store"),
        (&["check", whole_folder], 1, whole_folder, "it is a directory", "name a file in it"),
        (&["check", no_database], 1, no_database, "not an SQLite file", "use another file"),
        (&["demo", "--folder", whole_folder], 1, whole_folder, "is not empty", new_folder),
        (&["demo", "--folder", no_database], 1, no_database, "File exists", new_folder),
        (&["app", "brandig", "lint"], 2, "'brandig'", "invalid value", "[possible values: "),
        (&["app", "branding", "lnt"], 2, "'lnt'", "unrecognized subcommand", "'lint'"),
        (
            &["app", "branding", "patterns", "--item-size", "big"],
            2,
            "'big' for '--item-size <BYTES>'",
            no_number,
            SEE_HELP,
        ),
        (
            &["app", "branding", "schema", "--format", "yaml"],
            2,
            "'yaml'",
            "invalid value",
            "[possible values: cloudformation, terraform, workbench]",
        ),
        (
            &["app", "branding", "schema", "--name", "themes"],
            2,
            "'themes'",
            "expected a table of the app and its new name",
            "such as branding=branding-prod",
        ),
        (
            &["app", "branding", "schema", "--name", "themes=themes-prod"],
            1,
            "cannot rename the table `themes`",
            "the app branding has no such table",
            "name one of branding",
        ),
        (&["app", "branding", "seed"], 2, "--store <ADDRESS>", no_value, "Usage: tabla app"),
        (
            &["app", "branding", "seed", "--store", "mongo:shop"],
            1,
            "`mongo:shop`",
            "no store opens `mongo:` addresses",
            "valid addresses:\n",
        ),
        (
            &["app", "branding", "seed", "--store", "memory:", "--scale", "many"],
            2,
            "'many' for '--scale <N>'",
            no_number,
            SEE_HELP,
        ),
        (
            &["conformance"],
            2,
            "<--store <ADDRESS>|--blobs <ADDRESS>>",
            no_value,
            "Usage: tabla conformance",
        ),
        (
            &["conformance", "--store", "memory:", "--blobs", "memory:"],
            2,
            "'--store <ADDRESS>'",
            "cannot be used with",
            SEE_HELP,
        ),
        (
            &["conformance", "--blobs", "memory:", "--check", "a.md", "keys_differ_by_case"],
            2,
            "'--check <FILE>'",
            "cannot be used with",
            SEE_HELP,
        ),
        (
            &["conformance", "--blobs", "memory:", "--update", no_file, "--json"],
            2,
            "'--update <FILE>'",
            "cannot be used with",
            SEE_HELP,
        ),
        (
            &["conformance", "--blobs", "gs://photos"],
            1,
            "cannot open `gs://photos`",
            "no buckets of `gs:` addresses",
            "name `memory:`, a folder such as `file:assets`",
        ),
        (
            &["conformance", "--blobs", "memory:", "--blobs", no_parent],
            1,
            no_parent,
            "there is no parent folder",
            "such as `file:assets`",
        ),
        (
            &["conformance", "--blobs", "memory:?versions=on"],
            1,
            "`memory:?versions=on`",
            "unknown options of a `memory:` address",
            "the only option is `retries`",
        ),
        (
            &["conformance", "--blobs", "s3://suite/dev?endpoint=http://127.0.0.1:1"],
            1,
            "`dev/`",
            "the suite makes buckets of its own",
            "leave out the prefix",
        ),
        (
            &["conformance", "--blobs", "s3://suite?endpoint=127.0.0.1:1"],
            1,
            "not `127.0.0.1:1`",
            "is the URL of a service",
            "such as `http://127.0.0.1:9000`",
        ),
        (
            &["conformance", "--store", "memory:", "--json", "--markdown"],
            2,
            "'--json'",
            "cannot be used with",
            SEE_HELP,
        ),
        (
            &["conformance", "--store", "mongo:shop"],
            1,
            "cannot open `mongo:shop`",
            "no store opens `mongo:` addresses",
            "  memory:  ",
        ),
        (
            &["conformance", "--store", bad_cache],
            1,
            "not `8MB`",
            "the option `cache`",
            "of megabytes",
        ),
        (
            &["conformance", "--store", bad_retries],
            1,
            "not `some`",
            "the option `retries`",
            "is `on` or `off`",
        ),
        (
            &["conformance", "--store", "dynamodb://127.0.0.1:1"],
            1,
            "`http://127.0.0.1:1`",
            "cannot be reached",
            "check that a server",
        ),
    ];
    assert_all_refused(&[], &folder, cases);
}

/// Neither the machine's configuration files nor the metadata service of EC2 are used.
#[test]
fn missing_aws_setting_names_cause_and_remedy() {
    let (_folder, path) = folder();
    let config = path("aws-config");
    fs::write(&config, "").expect("a file");
    let isolated = [
        ("AWS_CONFIG_FILE", config.as_str()),
        ("AWS_SHARED_CREDENTIALS_FILE", config.as_str()),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    let serve = |store| ["serve", "--listen", "127.0.0.1:0", "--store", store];
    let no_region = "no AWS region is set";
    let region = "name one in the address (`?region=eu-west-1`), in AWS_REGION or in the profile";
    for (variable, store, value) in [
        (None, "dynamodb:", "cannot open `dynamodb:`"),
        (None, "dynamodb:?profile=nobody", "cannot open `dynamodb:?profile=nobody`"),
        (Some(("AWS_PROFILE", "nobody")), "dynamodb:", "cannot open `dynamodb:`"),
    ] {
        let variables: Vec<_> = isolated.into_iter().chain(variable).collect();
        let arguments = serve(store);
        let case = (&arguments[..], 1, value, no_region, region);
        assert_refused(&run(&arguments, &variables), &case);
    }

    // Credentials are first needed by a request.
    let seed = ["app", "branding", "seed", "--store", "dynamodb:?region=eu-west-1"];
    let remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile";
    for variable in [
        None,
        Some(("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")),
        Some(("AWS_SECRET_ACCESS_KEY", "hidden")),
        Some(("AWS_PROFILE", "nobody")),
    ] {
        let variables: Vec<_> = isolated.into_iter().chain(variable).collect();
        let output = run(&seed, &variables);
        assert_refused(&output, &(&seed[..], 1, "AWS credentials", "no AWS credentials: ", remedy));
        assert!(!text(&output.stderr).contains("hidden"), "{}", text(&output.stderr));
    }
}

/// The command reads no `TABLA_…` variable; its tests do.
#[test]
fn bad_variable_of_the_tests_names_value_cause_and_remedy() {
    for (value, cause) in [
        ("", "empty string"),
        ("many", "invalid digit"),
        ("-1", "invalid digit"),
        ("1.5", "invalid digit"),
        ("60s", "invalid digit"),
        ("18446744073709551616", "too large"),
    ] {
        let error = parse_number("TABLA_SECONDS", value).expect_err(value);
        for part in [&*format!("TABLA_SECONDS={value}: "), cause, "such as TABLA_SECONDS=60"] {
            assert!(error.contains(part), "{value}: {part:?} is not in: {error}");
        }
    }
}
