//! Every operation of the five apps: the access patterns, which run one operation each, and the
//! operations that no pattern has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use tabla::Result;
use tabla::entity::{Db, Id, Month, UtcTime};
use tabla_branding::Branding;
use tabla_esencia_fest::{Email, EsenciaFest, NewEvent, RoomId};
use tabla_gamificacion::{Gamificacion, Goal, NetworkMember, Profile, Settings, Upload};
use tabla_kit::App;

/// An operation of an app.
pub(crate) struct Operation {
    pub(crate) name: String,
    run: Box<dyn Fn(Db) -> BoxFuture<'static, Result<String>> + Send + Sync>,
    /// Why it is several independent writes, if it is. Then a failure may leave the state after any of
    /// them, and calling it again has to finish it.
    pub(crate) several_writes: Option<&'static str>,
}

impl Operation {
    fn new<F>(name: &str, run: impl Fn(Db) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<String>> + Send + 'static,
    {
        let run = Box::new(move |db| run(db).boxed());
        Self { name: name.to_owned(), run, several_writes: None }
    }

    fn several_writes(self, reason: &'static str) -> Self {
        Self { several_writes: Some(reason), ..self }
    }

    /// Runs it: the answer as text.
    pub(crate) async fn run(&self, db: Db) -> Result<String> {
        (self.run)(db).await
    }
}

/// Access patterns that are several independent writes, with the reason.
const SEVERAL_WRITES: [(&str, &str); 1] = [(
    "delete_user",
    "a user may have more than fits a transaction: a mark, then each thing, then the profile",
)];

/// The operations of an app, in an order in which each finds what it needs.
pub(crate) fn of(app: &Arc<dyn App>) -> Vec<Operation> {
    let design = app.design();
    let patterns = design.patterns.iter().map(|pattern| {
        let (app, name) = (Arc::clone(app), pattern.name);
        let operation = Operation::new(name, move |db| {
            let app = Arc::clone(&app);
            async move { app.run(&db, name).await.map(|answer| format!("{answer:?}")) }
        });
        match SEVERAL_WRITES.iter().find(|(several, _)| *several == name) {
            Some((_, reason)) => operation.several_writes(reason),
            None => operation,
        }
    });
    let others = match design.name {
        "gamificacion" => gamificacion(),
        "branding" => branding(),
        "esencia-fest" => esencia_fest(),
        _ => Vec::new(),
    };
    patterns.chain(others).collect()
}

/// An operation without a pattern: `name`, the app's handle on a database, the call.
macro_rules! operation {
    ($name:literal, $app:expr, |$handle:ident| $call:expr) => {
        Operation::new($name, move |db| async move {
            let $handle = $app(db);
            $call.await.map(|answer| format!("{answer:?}"))
        })
    };
}

fn id(text: &str) -> Id {
    Id::new(text).expect("an id")
}

fn gamificacion() -> Vec<Operation> {
    let profile = || Profile {
        user_id: id("user-full"),
        user_code: id("FULL"),
        name: "Ana".to_owned(),
        level: id("ORO"),
        email: None,
        leaving: None,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    };
    let goal = || Goal {
        user_id: id("user-full"),
        goal_id: id("goal-0"),
        title: "10 sales".to_owned(),
        target: 10,
        progress: 0,
        done: false,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    };
    let member = || NetworkMember {
        user_id: id("user-full"),
        member_id: id("member-0"),
        name: "Bruno".to_owned(),
        level: id("PLATA"),
        status: id("ACTIVO"),
        bio: None,
        joined_at: UtcTime::default(),
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    };
    let upload = |asset: &str| Upload {
        asset_id: id(asset),
        user_id: id("user-full"),
        product_id: None,
        featured_id: None,
        object_key: "full.png".to_owned(),
        content_type: "image/png".to_owned(),
        size: 48_000,
    };
    let expired = |db| Gamificacion::with_settings(db, Settings { upload_window: Duration::ZERO });
    let app = Gamificacion::new;
    vec![
        operation!("create_user: full", app, |app| app.create_user(profile())),
        operation!("add_goal: full", app, |app| app.add_goal(goal())),
        operation!("add_member: full", app, |app| app.add_member(member())),
        operation!("begin_upload: ready", app, |app| app.begin_upload(upload("ready"))),
        operation!("confirm_upload: ready", app, |app| app.confirm_upload(&id("ready"))),
        operation!("begin_upload: expired", expired, |app| app.begin_upload(upload("expired"))),
        operation!("begin_upload: again", app, |app| app.begin_upload(upload("expired")))
            .several_writes("the expired upload of the same id is deleted first"),
        operation!("delete_user: full", app, |app| app.delete_user(&id("user-full")))
            .several_writes(SEVERAL_WRITES[0].1),
    ]
}

fn branding() -> Vec<Operation> {
    vec![operation!("marker", Branding::new, |app| app.marker(&id("business-000")))]
}

fn esencia_fest() -> Vec<Operation> {
    /// Reason of what creates a table.
    const NEW_TABLE: &str = "creating a table and setting its time to live are two requests, which \
                             no transaction has, and an item is a third";
    fn email() -> Email {
        Email::new("user00001@sura.com.co").expect("an address")
    }
    fn month(text: &str) -> Month {
        text.parse().expect("a month")
    }
    let january = |db| {
        let moment: UtcTime = "2026-01-15T12:00:00Z".parse().expect("a moment");
        EsenciaFest::new(db).at(moment)
    };
    let event = || NewEvent { action: "visit".to_owned(), ..NewEvent::default() };
    let app = EsenciaFest::new;
    vec![
        operation!("create_post", app, |app| app.create_post(&email(), "¡Hola!", Vec::new())),
        operation!("create_post_as: other", app, |app| app.create_post_as(
            id("other"),
            &email(),
            "¡Hola!",
            Vec::new()
        )),
        operation!("get_post", app, |app| app.get_post(&id("other"))),
        operation!("create_comment", app, |app| app.create_comment(&id("other"), &email(), "Uno")),
        operation!("create_comment_as: other", app, |app| app.create_comment_as(
            id("c-other"),
            &id("other"),
            &email(),
            "Dos"
        )),
        operation!("get_comment", app, |app| app.get_comment(&id("other"), &id("c-other"))),
        operation!("get_content_version", app, |app| app
            .get_content_version(&RoomId::new("sala1").expect("a room"), 1)),
        operation!("log_activity_as", app, |app| app.log_activity_as(
            id("event"),
            &email(),
            event()
        )),
        operation!("log_activity_as: new month", january, |app| app.log_activity_as(
            id("event"),
            &email(),
            event()
        ))
        .several_writes(NEW_TABLE),
        operation!("ensure_month", app, |app| app.ensure_month(month("2026-02")))
            .several_writes(NEW_TABLE),
        operation!("ensure_month: present", app, |app| app.ensure_month(month("2026-02"))),
        operation!("drop_expired_months", app, |app| app.drop_expired_months(month("2026-01")))
            .several_writes("each month is a table, and each table is deleted by its own request"),
    ]
}

/// Every file under a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Each public async function of an app is called by `App::run` or by the operations in this file.
#[test]
fn every_operation_of_the_apps_is_called() {
    for name in ["gamificacion", "rk-pai", "branding", "esencia-fest", "crypto-cards"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        // Tests of the app, and its load test.
        let is_left_out = |path: &Path| {
            let inner = path.strip_prefix(&source).expect("a path below").to_string_lossy();
            ["tests", "drill"].iter().any(|name| inner.starts_with(name))
        };
        let (mut callers, mut operations) = (include_str!("operations.rs").to_owned(), Vec::new());
        for path in files(&source).into_iter().filter(|path| !is_left_out(path)) {
            let text = fs::read_to_string(&path).expect("a source file");
            let inner = path.strip_prefix(&source).expect("a path below");
            let is_caller = inner.starts_with("app") || inner == Path::new("app.rs");
            let is_run =
                !["race.rs", "races.rs", "seed.rs"].iter().any(|name| path.ends_with(name));
            if is_caller && is_run {
                callers += &text;
            }
            operations.extend(text.split("pub async fn ").skip(1).map(|rest| {
                let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric());
                rest[..end.expect("an argument list")].to_owned()
            }));
        }
        assert!(operations.len() >= 10, "{name}: {operations:?}");
        let missing: Vec<&String> = operations
            .iter()
            .filter(|operation| !callers.contains(&format!(".{operation}(")))
            .collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}
