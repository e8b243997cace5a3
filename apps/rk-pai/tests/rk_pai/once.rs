//! Entities that are created once: a second caller gets the existing one, and writes nothing.

use std::fmt::Debug;

use tabla::entity::{Db, Outcome, UtcMillis, UtcTime};
use tabla_rk_pai::*;

use crate::{app, id, snapshot, time};

/// Creates an entity, and then another with the same key.
async fn twice<E: Registrable + PartialEq + Debug>(app: &RkPai, db: &Db, first: E, second: E) {
    let written = app.add(first).await.unwrap().done().unwrap();
    let before = snapshot(db).await;
    assert_eq!(app.add(second).await.unwrap(), Outcome::Lost(Some(written)));
    assert_eq!(snapshot(db).await, before);
}

#[tokio::test]
async fn relation_is_created_once() {
    let (app, db, _) = app().await;
    let (user, group) = (|| id("1"), || id("g1"));
    let profile = |at| PerfilUsuario { id_usuario: user(), id_perfil: id("p1"), asignado_en: at };
    twice(&app, &db, profile(UtcTime::default()), profile(time("2025-01-01T00:00:00Z"))).await;
    let found = db.page(perfiles_de_usuario(&user())).await.unwrap().items;
    assert_eq!(found, [profile(time("2025-08-18T10:30:00Z"))], "created at the time of the clock");
    let contract = |at| ContratoUsuario {
        id_usuario: user(),
        id_origen: id("7"),
        id_contrato: id("70"),
        alta: at,
    };
    twice(&app, &db, contract(UtcTime::default()), contract(UtcTime::default())).await;
    let device = |plataforma: &str| Dispositivo {
        id_usuario: user(),
        id_disp: id("d1"),
        plataforma: plataforma.to_owned(),
        ultimo_acceso: time("2025-01-01T00:00:00Z"),
    };
    twice(&app, &db, device("ios"), device("android")).await;
    let member =
        |rol: &str| MiembroGrupo { id_grupo: group(), id_usuario: user(), rol: rol.to_owned() };
    twice(&app, &db, member("coordinador"), member("miembro")).await;
    let permissions = |text: &str| vec![text.to_owned()];
    let module = |text: &str| ModuloPerfil {
        id_perfil: id("p1"),
        id_modulo: id("m1"),
        permisos: permissions(text),
    };
    twice(&app, &db, module("leer"), module("editar")).await;
    let service = |text: &str| ServicioPerfil {
        id_perfil: id("p1"),
        id_servicio: id("s1"),
        permisos: permissions(text),
    };
    twice(&app, &db, service("usar"), service("administrar")).await;
}

#[tokio::test]
async fn catalogue_entry_is_created_once() {
    let (app, db, _) = app().await;
    let name = |text: &str| text.to_owned();
    let origin = |text: &str| Origen { id_origen: id("7"), nombre: name(text) };
    twice(&app, &db, origin("a"), origin("b")).await;
    let group = |text: &str| Grupo { id_grupo: id("g1"), nombre: name(text) };
    twice(&app, &db, group("a"), group("b")).await;
    let profile = |text: &str| Perfil { id_perfil: id("p1"), nombre: name(text) };
    twice(&app, &db, profile("a"), profile("b")).await;
    let module = |text: &str| Modulo { id_modulo: id("m1"), nombre: name(text) };
    twice(&app, &db, module("a"), module("b")).await;
    let service = |text: &str| Servicio { id_servicio: id("s1"), nombre: name(text) };
    twice(&app, &db, service("a"), service("b")).await;
    let cycle = |contract: &str| Ciclo {
        id_ciclo: id("c1"),
        id_origen: id("7"),
        id_contrato: id(contract),
        inicio: "2025-01-01".parse().unwrap(),
        fin: "2025-03-31".parse().unwrap(),
    };
    twice(&app, &db, cycle("70"), cycle("71")).await;
    let parameter = |text: &str| DashConfParams {
        id_dashparam: id("x1"),
        id_parametro: id("y1"),
        valor: name(text),
    };
    twice(&app, &db, parameter("1"), parameter("2")).await;
    // A group has one configuration, for any contract.
    let configuration = |contract: &str| ConfGrupoContrato {
        id_grupo: id("g1"),
        id_origen: id("7"),
        id_contrato: id(contract),
        parametros: Default::default(),
        updated_at: UtcTime::default(),
    };
    twice(&app, &db, configuration("70"), configuration("71")).await;
}

#[tokio::test]
async fn statement_withdrawal_and_log_entry_are_created_once() {
    let (app, db, _) = app().await;
    let account = |saldo: u32| EstadoCuenta {
        token_participante: id("t1"),
        periodo: "2025-01".parse().unwrap(),
        saldo: saldo.into(),
        aportes: 0.into(),
        created_at: UtcTime::default(),
    };
    twice(&app, &db, account(1), account(2)).await;
    let withdrawal = |monto: u32| Retiro {
        token_participante: id("t1"),
        fecha_retiro: UtcMillis::from_millis(1_755_513_000_001),
        monto: monto.into(),
        estado: EstadoRetiro::Solicitado,
    };
    twice(&app, &db, withdrawal(1), withdrawal(2)).await;
    let entry = |accion: &str| Bitacora {
        id_usuario: id("t1"),
        timestamp: time("2025-08-18T10:30:00Z"),
        id_bitacora: id("b1"),
        id_elemento: None,
        accion: accion.to_owned(),
        detalle: None,
        ttl: None,
    };
    twice(&app, &db, entry("alta"), entry("baja")).await;
}
