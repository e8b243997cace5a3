//! Users, emails, logs, statements and withdrawals.

use std::time::Duration;

use tabla::entity::{Outcome, UtcMillis};
use tabla::ops::PutItem;
use tabla::{Number, Value, item, map};
use tabla_rk_pai::*;

use crate::{app, count, id, snapshot, time, usuario};

#[tokio::test]
async fn taken_email_is_refused() {
    let (app, db, _) = app().await;
    let ana = app.add(usuario("1", "Ana@Example.com")).await.unwrap().done().unwrap();
    assert_eq!(
        snapshot(&db).await,
        [
            item! {
                "_pk" => "EMAIL#ana@example.com", "_sk" => "UNIQUE",
                "uniqueOwner" => Value::M(map! { "_pk" => "USUARIO#1", "_sk" => "METADATA" }),
            },
            item! {
                "_pk" => "USUARIO#1", "_sk" => "METADATA",
                "GSI1PK" => "EMAIL#ana@example.com", "GSI1SK" => "USUARIO#1",
                "email" => "ana@example.com", "nombre" => "1", "estado" => "activo",
                "createdAt" => "2025-08-18T10:30:00Z", "updatedAt" => "2025-08-18T10:30:00Z",
            },
        ]
    );
    let before = snapshot(&db).await;
    let taken = app.add(usuario("2", "ANA@example.com")).await.unwrap();
    assert_eq!(taken, Outcome::Taken { field: "email" });
    let exists = app.add(usuario("1", "eva@example.com")).await.unwrap();
    assert_eq!(exists, Outcome::Lost(Some(ana)));
    assert_eq!(snapshot(&db).await, before);
}

#[tokio::test]
async fn user_is_found_by_the_new_email_only() {
    let (app, db, clock) = app().await;
    let email = |text: &str| Email::new(text).unwrap();
    let ana = app.add(usuario("1", "ana@example.com")).await.unwrap().done().unwrap();
    let eva = app.add(usuario("2", "eva@example.com")).await.unwrap().done().unwrap();
    clock.advance(Duration::from_secs(60));
    let before = snapshot(&db).await;
    let taken = app.change_email(&eva, email("ana@example.com")).await.unwrap();
    assert_eq!(taken, Outcome::Taken { field: "email" });
    assert_eq!(snapshot(&db).await, before);
    let changed = app.change_email(&ana, email("a@example.com")).await.unwrap().done().unwrap();
    assert_eq!(changed.updated_at, time("2025-08-18T10:31:00Z"));
    // A change from the old email fails.
    let before = snapshot(&db).await;
    let lost = app.change_email(&ana, email("b@example.com")).await.unwrap();
    assert_eq!(lost, Outcome::Lost(Some(changed.clone())));
    assert_eq!(snapshot(&db).await, before);
    assert_eq!(app.usuario_por_email(&email("ana@example.com")).await.unwrap(), None);
    let found = app.usuario_por_email(&email("A@example.com")).await.unwrap().unwrap();
    assert_eq!((found.id_usuario, found.nombre.as_str()), (id("1"), "1"));
    assert!(app.change_email(&eva, email("ana@example.com")).await.unwrap().is_done());
    for user in ["1", "2"] {
        assert!(app.delete_usuario(&id(user)).await.unwrap().is_done());
        assert_eq!(app.delete_usuario(&id(user)).await.unwrap(), Outcome::Lost(None));
    }
    assert_eq!(count(&db).await, 0, "no guard item is left");
}

#[test]
fn malformed_email_is_refused() {
    for text in ["", "ana", "@x", "ana@", "a b@x", "a#b@x", "a@b@c", "a\n@x"] {
        assert!(Email::new(text).is_err(), "{text:?}");
    }
    assert!(Email::new(format!("{}@x", "a".repeat(253))).is_err());
}

#[tokio::test]
async fn amounts_are_exact() {
    let (app, db, _) = app().await;
    let number = |text: &str| Number::parse(text).unwrap();
    let account = EstadoCuenta {
        token_participante: id("t1"),
        periodo: "2025-01".parse().unwrap(),
        saldo: number("12345678901234567890.123456789012345678"),
        aportes: number("0.1"),
        created_at: time("2025-08-18T10:30:00Z"),
    };
    assert_eq!(app.add(account.clone()).await.unwrap(), Outcome::Done(account.clone()));
    let (from, to) = ("2024-12".parse().unwrap(), "2025-01".parse().unwrap());
    let found = db.page(estados_de_cuenta(&id("t1"), from, to)).await.unwrap().items;
    assert_eq!(found, std::slice::from_ref(&account));
    assert_eq!(found[0].saldo.to_string(), "12345678901234567890.123456789012345678");
    // A month has one statement.
    let other = EstadoCuenta { saldo: number("0"), ..account.clone() };
    assert_eq!(app.add(other).await.unwrap(), Outcome::Lost(Some(account)));
    // Two withdrawals can have the same second, and not the same millisecond.
    let withdrawal = |millis: u64, text: &str| Retiro {
        token_participante: id("t1"),
        fecha_retiro: UtcMillis::from_millis(1_755_513_000_000 + millis),
        monto: number(text),
        estado: EstadoRetiro::Solicitado,
    };
    for millis in [0, 1] {
        assert!(app.add(withdrawal(millis, "10.50")).await.unwrap().is_done());
    }
    let lost = app.add(withdrawal(1, "99")).await.unwrap();
    assert_eq!(lost, Outcome::Lost(Some(withdrawal(1, "10.50"))));
    let all = withdrawal(0, "0").fecha_retiro;
    let found = db.page(retiros(&id("t1"), all, withdrawal(1, "0").fecha_retiro)).await.unwrap();
    assert_eq!(found.items, [withdrawal(0, "10.50"), withdrawal(1, "10.50")]);
}

#[tokio::test]
async fn log_is_in_order_and_expires() {
    let (app, db, clock) = app().await;
    let app = app.with_retention(Duration::from_secs(24 * 60 * 60));
    for (user, action) in [("2", "a"), ("1", "b"), ("2", "c")] {
        let noted = app.annotate(&id(user), action, Some(&id("e1")), None).await.unwrap();
        let noted = noted.done().unwrap();
        assert_eq!(noted.ttl, Some(noted.timestamp.as_secs() + 24 * 60 * 60));
        clock.advance(Duration::from_secs(60 * 60));
    }
    let without = app.annotate(&id("1"), "d", None, None).await.unwrap();
    assert!(without.is_done());
    let actions = async |query| -> Vec<String> {
        db.all(query).await.unwrap().into_iter().map(|entry: Bitacora| entry.accion).collect()
    };
    assert_eq!(actions(bitacora_por_elemento(&id("e1"))).await, ["c", "b", "a"]);
    let (from, to) = (time("2025-08-18T10:30:00Z"), time("2025-08-18T11:30:00Z"));
    let between = || bitacora_por_elemento_entre(&id("e1"), from, to);
    assert_eq!(actions(between()).await, ["b", "a"], "both ends are included");
    let of_user = |to| bitacora_de_usuario(&id("1"), from, to);
    assert_eq!(actions(of_user(time("2025-08-18T13:30:00Z"))).await, ["d", "b"]);
    assert_eq!(actions(of_user(time("2025-08-18T13:29:59Z"))).await, ["b"]);
    // After 24 hours the first entry has expired, and is still stored.
    clock.advance(Duration::from_secs(21 * 60 * 60));
    assert_eq!(actions(bitacora_por_elemento(&id("e1"))).await, ["c", "b"]);
    assert_eq!(count(&db).await, 4);
}

#[tokio::test]
async fn user_is_read_with_items_of_unknown_kinds() {
    let (app, db, _) = app().await;
    app.add(usuario("t1", "t1@example.com")).await.unwrap().done().unwrap();
    app.add(usuario("t10", "t10@example.com")).await.unwrap().done().unwrap();
    app.annotate(&id("t1"), "acceso", None, None).await.unwrap().done().unwrap();
    let device = Dispositivo {
        id_usuario: id("t1"),
        id_disp: id("d1"),
        plataforma: "ios".to_owned(),
        ultimo_acceso: time("2025-08-18T10:30:00Z"),
    };
    app.add(device.clone()).await.unwrap().done().unwrap();
    let stray = item! { "_pk" => "USUARIO#t1", "_sk" => "OTRO#1" };
    db.store().put(PutItem::new(&RK_PAI.name, stray.clone())).await.unwrap();
    let all = app.usuario_completo(&id("t1")).await.unwrap();
    assert_eq!(all.usuario.unwrap().id_usuario, id("t1"));
    assert_eq!(all.dispositivos, [device]);
    assert_eq!(all.bitacora.len(), 1);
    assert!(all.perfiles.is_empty() && all.contratos.is_empty() && all.retiros.is_empty());
    assert_eq!(all.unknown, [stray]);
}
