//! Builds and runs programs outside this workspace: with the facade, the facade under another name,
//! the crates below it, the entities under another name, the program of the README, and the facade
//! without its default features.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Program with an entity, an index and a transaction.
///
/// Placeholders: `ENTITY`, `CORE` and `MACROS` are paths of crates, `OPEN` is an expression that
/// opens the store, `LAST` is statements at the end.
const PROGRAM: &str = r#"
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use ENTITY::{Db, Entity, Id, KeyPart, TableDesign};

static SHOP: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("shop").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK"));

MACROS::checked_text! {
    struct Coupon: capitals;
}

MACROS::collection! {
    struct Customer {
        orders: Vec<Order>,
    }
}

#[derive(Debug)]
struct Wrapper<S>(S);

macro_rules! passed_on {
    ($self:ident, $method:ident, $request:ident) => {
        $self.0.$method($request).await
    };
}

CORE::wrap_store! {
    impl[S: CORE::Store] Store for Wrapper<S>, inner: 0, call: passed_on
}

fn capitals(text: String) -> CORE::Result<String> {
    Ok(text.to_ascii_uppercase())
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "lowercase")]
enum Status {
    Open,
    Paid,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index(GSI1, query = by_status, pk = "STATUS#{status}", sk = "ORDER#{number:08}")
)]
struct Order {
    customer: Id,
    coupon: Coupon,
    number: u32,
    status: Status,
}

#[tokio::main]
async fn main() -> CORE::Result<()> {
    let db = Db::new(std::sync::Arc::new(Wrapper(OPEN)));
    db.create_table(&SHOP).await?;
    let order = |number| Order {
        customer: Id::new("ana").unwrap(),
        coupon: Coupon::new("spring").unwrap(),
        number,
        status: Status::Open,
    };
    assert!(db.create(order(1)).await?.is_done());
    let pay = order(1).change().set(Order::STATUS, Status::Paid);
    let pay = pay.when(Order::STATUS.eq(Status::Open));
    let mut tx = db.transaction();
    tx.update(pay);
    tx.create(order(2));
    assert!(tx.commit().await?.is_committed());
    let open = db.all(Order::by_status(Status::Open).number(2..)).await?;
    assert_eq!(open, [order(2)]);
    let customer: Customer = db.collect(Order::of(Id::new("ana")?)).await?;
    assert_eq!((customer.orders.len(), customer.unknown.len()), (2, 0));
    LAST
    println!("1 order is open");
    Ok(())
}
"#;

/// Statements that open an address whose scheme needs a feature that is off by default.
const OPEN_WITHOUT_FEATURE: &str = r#"
    let error = CORE::open("dynamodb:?region=eu-west-1").await.err().expect("the feature is off");
    assert_eq!(
        error.message(),
        "cannot open `dynamodb:?region=eu-west-1`: this program was built without `dynamodb:` \
         addresses; enable the feature `dynamodb` of the crate `tabla`"
    );
"#;

/// Program without the default features, so that the scheme `sqlite:` has no opener.
const WITHOUT_SQLITE: &str = r#"
#[tokio::main]
async fn main() -> tabla::Result<()> {
    let error = tabla::open("sqlite:x.db").await.err().expect("the feature is off");
    println!("{}", error.message());
    tabla::open("memory:").await.map(drop)
}
"#;

/// Output of [`WITHOUT_SQLITE`].
const WITHOUT_SQLITE_OUTPUT: &str = "cannot open `sqlite:x.db`: this program was built without \
                                     `sqlite:` addresses; enable the feature `sqlite` of the crate \
                                     `tabla`\n";

/// Package of the outside workspace: name, dependency lines, program.
type Member = (&'static str, String, String);

#[test]
fn programs_outside_the_workspace_build_and_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate has a parent");
    let path = |folder: &str| toml_text(&root.join(folder));
    let open_file = |library: &str| format!(r#"{library}::open("sqlite:shop.db").await?"#);
    let open_memory = "std::sync::Arc::new(tabla_core::MemoryStore::new())";
    let core = format!("tabla-core = {{ path = {} }}", path("core"));
    let members: [Member; 5] = [
        (
            "facade",
            format!("tabla = {{ path = {} }}", path("tabla")),
            program("tabla::entity", "tabla", &open_file("tabla"), OPEN_WITHOUT_FEATURE),
        ),
        (
            "renamed",
            format!("db = {{ package = \"tabla\", path = {} }}", path("tabla")),
            program("db::entity", "db", &open_file("db"), ""),
        ),
        (
            "direct",
            format!("{core}\ntabla-entity = {{ path = {} }}", path("entity")),
            program("tabla_entity", "tabla_core", open_memory, ""),
        ),
        (
            "direct-renamed",
            format!("{core}\nmodel = {{ package = \"tabla-entity\", path = {} }}", path("entity")),
            program("model", "tabla_core", open_memory, ""),
        ),
        ("readme", format!("tabla = {{ path = {} }}", path("tabla")), readme_program(root)),
    ];
    let folder = tempfile::tempdir().expect("a folder outside the workspace");
    write_workspace(root, folder.path(), &members);
    // Inside `target`, so that later runs do not compile the dependencies again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    build(folder.path(), &target);
    for (name, expected) in [
        ("facade", "1 order is open\n"),
        ("renamed", "1 order is open\n"),
        ("direct", "1 order is open\n"),
        ("direct-renamed", "1 order is open\n"),
        ("readme", README_OUTPUT),
    ] {
        let data = folder.path().join("data").join(name);
        fs::create_dir_all(&data).expect("a folder for the data");
        let stdout = run(&target.join("debug").join(name), &data);
        assert_eq!(stdout, expected, "{name}");
        assert_eq!(data.join("shop.db").exists(), !name.starts_with("direct"), "{name}: shop.db");
    }
    let again = run(&target.join("debug/readme"), &folder.path().join("data/readme"));
    assert_eq!(again, README_OUTPUT_AGAIN, "readme, with the file of the first run");
}

/// In a workspace of its own: one build of a workspace gives a crate the features of all members.
#[test]
fn program_without_default_features_names_the_feature_and_creates_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate has a parent");
    let tabla = toml_text(&root.join("tabla"));
    let dependencies = format!("tabla = {{ path = {tabla}, default-features = false }}");
    let folder = tempfile::tempdir().expect("a folder outside the workspace");
    write_workspace(
        root,
        folder.path(),
        &[("without-sqlite", dependencies, WITHOUT_SQLITE.to_owned())],
    );
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    build(folder.path(), &target);
    let data = folder.path().join("data");
    fs::create_dir_all(&data).expect("a folder for the data");
    let stdout = run(&target.join("debug/without-sqlite"), &data);
    assert_eq!(stdout, WITHOUT_SQLITE_OUTPUT);
    let created: Vec<_> = fs::read_dir(&data).expect("the folder for the data").collect();
    assert!(created.is_empty(), "{created:?}");
}

/// Output of the README's program on a new file.
const README_OUTPUT: &str = "created: true\npaid: true\n1 order of ana, total 40\n";

/// Output of the README's program on the file of its first run.
const README_OUTPUT_AGAIN: &str = "created: false\npaid: false\n1 order of ana, total 40\n";

fn program(entity: &str, core: &str, open: &str, last: &str) -> String {
    // The facade re-exports macros and core at its root.
    let macros = if core == "tabla_core" { entity } else { core };
    PROGRAM
        .replace("LAST", last)
        .replace("MACROS", macros)
        .replace("ENTITY", entity)
        .replace("CORE", core)
        .replace("OPEN", open)
}

/// Returns the Rust program in the README of the project, of at most 25 lines.
fn readme_program(root: &Path) -> String {
    let readme = fs::read_to_string(root.join("README.md")).expect("the project has a README");
    let (_, rest) = readme.split_once("```rust").expect("the README has a program");
    let (_, rest) = rest.split_once('\n').expect("the program begins on a line of its own");
    let (program, _) = rest.split_once("```").expect("the program ends");
    let lines = program.lines().count();
    assert!(lines <= 25, "the program in the README has {lines} lines; the limit is 25");
    program.to_owned()
}

/// Writes a Cargo workspace with these members and the `Cargo.lock` of this workspace.
fn write_workspace(root: &Path, folder: &Path, members: &[Member]) {
    let names: Vec<String> = members.iter().map(|(name, ..)| format!("\"{name}\"")).collect();
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[profile.dev]\ndebug = false\n",
        names.join(", ")
    );
    write(folder.join("Cargo.toml"), &manifest);
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file is there");
    for (name, dependencies, program) in members {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{dependencies}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n\
             tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n"
        );
        write(folder.join(name).join("Cargo.toml"), &manifest);
        write(folder.join(name).join("src/main.rs"), program);
    }
}

/// Builds all members with one call of cargo, offline.
fn build(folder: &Path, target: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--offline", "--workspace"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .expect("cargo, which runs this test, starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo build: {}\n{stderr}", output.status);
}

/// Runs a program in this folder, and returns its standard output.
fn run(program: &Path, folder: &Path) -> String {
    let output =
        Command::new(program).current_dir(folder).output().expect("cargo has built the program");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{stderr}", program.display(), output.status);
    String::from_utf8(output.stdout).expect("a program prints UTF-8")
}

fn write(path: PathBuf, text: &str) {
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).expect("a folder of the package");
    fs::write(path, text).expect("a file of the package");
}

/// Returns a path as a TOML string.
fn toml_text(path: &Path) -> String {
    format!("'{}'", path.display())
}
