//! Tests of the app.
#![allow(clippy::unwrap_used)]

mod contracts;
mod environments;
mod keys;
mod once;
mod pattern_four;
mod readme;
mod users;

use tabla::Item;
use tabla::entity::{Db, Id, UtcTime};
use tabla::env::{Env, ManualClock, Timestamp};
use tabla::ops::{DescribeTable, Scan};
use tabla_kit::stage::Stage;
use tabla_rk_pai::{Contrato, Email, EstadoUsuario, RK_PAI, RkPai, Usuario};

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn time(text: &str) -> UtcTime {
    text.parse().unwrap()
}

/// App at 2025-08-18T10:30:00Z, with its database and its clock.
async fn app() -> (RkPai, Db, ManualClock) {
    let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
    let env = Env::test(clock.clone(), 7);
    let db = Db::with_env(Stage::new(&env).await.store(), env);
    db.create_table(&RK_PAI).await.unwrap();
    (RkPai::new(db.clone()), db, clock)
}

/// All items, sorted by key.
async fn snapshot(db: &Db) -> Vec<Item> {
    let mut items = db.store().scan(Scan::new(&RK_PAI.name)).await.unwrap().items;
    items.sort_by_key(|item| format!("{:?} {:?}", item.get("_pk"), item.get("_sk")));
    items
}

async fn count(db: &Db) -> u64 {
    db.store().describe_table(DescribeTable::new(&RK_PAI.name)).await.unwrap().item_count
}

fn usuario(name: &str, email: &str) -> Usuario {
    Usuario {
        id_usuario: id(name),
        email: Email::new(email).unwrap(),
        nombre: name.to_owned(),
        estado: EstadoUsuario::Activo,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}

fn contrato(empresa: &str, origen: &str, contrato: &str) -> Contrato {
    Contrato {
        id_empresa: id(empresa),
        id_origen: id(origen),
        id_contrato: id(contrato),
        nombre: "Plan".to_owned(),
        vigente_desde: "2025-01-01".parse().unwrap(),
    }
}
