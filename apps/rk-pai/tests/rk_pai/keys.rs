//! Keys of the items, which are those of the document and distinct for each entity.

use tabla::Item;
use tabla::entity::{Entity, Id, UtcMillis, UtcTime};
use tabla_kit::App;
use tabla_rk_pai::*;

use crate::{contrato, id, time, usuario};

/// Item of an entity, with the expected keys.
struct Example {
    name: &'static str,
    item: Item,
    pk: &'static str,
    sk: &'static str,
    /// Number of its index, and its partition key there.
    index: Option<(u32, &'static str)>,
}

fn of<E: Entity>(
    entity: E,
    [pk, sk]: [&'static str; 2],
    index: Option<(u32, &'static str)>,
) -> Example {
    Example { name: E::design().name, item: entity.to_item().unwrap(), pk, sk, index }
}

/// An example of each entity.
fn examples() -> Vec<Example> {
    let user = || id("1");
    let nombre = || "x".to_owned();
    let at = time("2025-01-01T00:00:00Z");
    vec![
        of(
            usuario("1", "ana@example.com"),
            ["USUARIO#1", "METADATA"],
            Some((1, "EMAIL#ana@example.com")),
        ),
        of(
            Dispositivo {
                id_usuario: user(),
                id_disp: id("d1"),
                plataforma: nombre(),
                ultimo_acceso: at,
            },
            ["USUARIO#1", "DISP#d1"],
            Some((2, "DISP#d1")),
        ),
        of(
            PerfilUsuario { id_usuario: user(), id_perfil: id("p1"), asignado_en: at },
            ["USUARIO#1", "PERFIL#p1"],
            Some((3, "PERFIL#p1")),
        ),
        of(
            ContratoUsuario {
                id_usuario: user(),
                id_origen: id("7"),
                id_contrato: id("70"),
                alta: at,
            },
            ["USUARIO#1", "CONTRATO_USUARIO#7#70"],
            Some((5, "CONTRATO_USUARIO#7#70")),
        ),
        of(
            ConfGrupoContrato {
                id_grupo: id("g1"),
                id_origen: id("7"),
                id_contrato: id("70"),
                parametros: Default::default(),
                updated_at: at,
            },
            ["CONF_GRUPO_CONTRATO#g1", "METADATA"],
            Some((6, "ORIGEN#7#CONTRATO#70")),
        ),
        of(
            PrimerContrato::from(contrato("E1", "7", "70")),
            ["CAT_CONTRATO#E1", "METADATA"],
            Some((7, "ORIGEN#7#ID_CONTRATO#70")),
        ),
        of(
            ContratoAdicional::from(contrato("E1", "7", "71")),
            ["CAT_CONTRATO#E1", "CONTRATO#71"],
            Some((7, "ORIGEN#7#ID_CONTRATO#71")),
        ),
        of(
            Ciclo {
                id_ciclo: id("c1"),
                id_origen: id("7"),
                id_contrato: id("70"),
                inicio: at.day(),
                fin: at.day(),
            },
            ["CAT_CONTRATO_CICLO#c1", "METADATA"],
            Some((8, "ORIGEN#7#ID_CONTRATO#70")),
        ),
        of(
            ModuloPerfil { id_perfil: id("p1"), id_modulo: id("m1"), permisos: vec![] },
            ["CAT_PERFIL#p1", "CAT_MODULO#m1"],
            Some((9, "CAT_MODULO#m1")),
        ),
        of(
            ServicioPerfil { id_perfil: id("p1"), id_servicio: id("s1"), permisos: vec![] },
            ["CAT_PERFIL#p1", "CAT_SERVICIO#s1"],
            Some((10, "CAT_SERVICIO#s1")),
        ),
        of(
            MiembroGrupo { id_grupo: id("g1"), id_usuario: user(), rol: nombre() },
            ["GRUPO#g1", "USUARIO#1"],
            Some((11, "USUARIO#1")),
        ),
        of(
            DashConfParams { id_dashparam: id("x1"), id_parametro: id("y1"), valor: nombre() },
            ["DASHB_CONF_PARAMS#x1", "METADATA"],
            Some((13, "PARAMETRO#y1")),
        ),
        of(
            log(Some(id("e1"))),
            ["USUARIO#1", "LOG#2025-01-01T00:00:00Z#b1"],
            Some((14, "ELEMENTO#e1")),
        ),
        of(log(None), ["USUARIO#1", "LOG#2025-01-01T00:00:00Z#b1"], None),
        of(
            EstadoCuenta {
                token_participante: user(),
                periodo: at.month(),
                saldo: 1.into(),
                aportes: 1.into(),
                created_at: at,
            },
            ["USUARIO#1", "ESTADOCUENTA#2025-01"],
            None,
        ),
        of(
            Retiro {
                token_participante: user(),
                fecha_retiro: UtcMillis::from_millis(at.as_secs() * 1000 + 7),
                monto: 1.into(),
                estado: EstadoRetiro::Pagado,
            },
            ["USUARIO#1", "RETIRO#2025-01-01T00:00:00.007Z"],
            None,
        ),
        of(Origen { id_origen: id("7"), nombre: nombre() }, ["CAT_ORIGEN#7", "METADATA"], None),
        of(
            ContratoDeOrigen { id_origen: id("7"), id_contrato: id("70"), id_empresa: id("E1") },
            ["CAT_ORIGEN#7", "CONTRATO#70"],
            None,
        ),
        of(Grupo { id_grupo: id("g1"), nombre: nombre() }, ["CAT_GRUPO#g1", "METADATA"], None),
        of(Perfil { id_perfil: id("p1"), nombre: nombre() }, ["CAT_PERFIL#p1", "METADATA"], None),
        of(Modulo { id_modulo: id("m1"), nombre: nombre() }, ["CAT_MODULO#m1", "METADATA"], None),
        of(
            Servicio { id_servicio: id("s1"), nombre: nombre() },
            ["CAT_SERVICIO#s1", "METADATA"],
            None,
        ),
    ]
}

fn log(id_elemento: Option<Id>) -> Bitacora {
    Bitacora {
        id_usuario: id("1"),
        timestamp: time("2025-01-01T00:00:00Z"),
        id_bitacora: id("b1"),
        id_elemento,
        accion: "acceso".to_owned(),
        detalle: None,
        ttl: Some(1_767_225_600),
    }
}

#[test]
fn keys_are_those_of_the_document() {
    for Example { name, item, pk, sk, index } in examples() {
        let text = |attribute: &str| item.get(attribute).and_then(|value| value.as_str());
        assert_eq!((text("_pk"), text("_sk")), (Some(pk), Some(sk)), "{name}");
        let own: Vec<String> = item
            .iter()
            .filter(|(attribute, _)| attribute.starts_with("GSI"))
            .map(|(attribute, _)| attribute.to_owned())
            .collect();
        match index {
            None => assert!(own.is_empty(), "{name}: {own:?}"),
            Some((number, partition)) => {
                // Only the log is sorted by `_sk` in its index.
                let sort = if number == 14 { sk } else { pk };
                let keys = [format!("GSI{number}PK"), format!("GSI{number}SK")];
                assert_eq!(text(&keys[0]), Some(partition), "{name}");
                assert_eq!(text(&keys[1]), Some(sort), "{name}");
                assert_eq!(own.len(), 2, "{name}: {own:?}");
            }
        }
    }
}

#[test]
fn every_entity_is_recognised_by_its_key() {
    let examples = examples();
    let entities = RkPaiApp::default().design().entities;
    for entity in &entities {
        assert!(entity.tag.is_none(), "the document has no attribute for the kind of an item");
        assert!(examples.iter().any(|example| example.name == entity.name), "{}", entity.name);
    }
    for Example { name, item, .. } in &examples {
        let recognised: Vec<&str> = entities
            .iter()
            .filter(|entity| entity.recognises(item))
            .map(|entity| entity.name)
            .collect();
        assert_eq!(recognised, [*name]);
    }
}

#[test]
fn log_entry_has_the_documented_item() {
    assert_eq!(
        log(Some(id("e1"))).to_item().unwrap(),
        tabla::item! {
            "_pk" => "USUARIO#1", "_sk" => "LOG#2025-01-01T00:00:00Z#b1",
            "GSI14PK" => "ELEMENTO#e1", "GSI14SK" => "LOG#2025-01-01T00:00:00Z#b1",
            "id_elemento" => "e1", "accion" => "acceso", "ttl" => 1_767_225_600,
        }
    );
    assert_eq!(log(None).timestamp, UtcTime::from_secs(1_735_689_600));
}

#[test]
fn id_with_the_separator_is_refused() {
    assert!(
        Id::new("7#ID_CONTRATO#70").is_err(),
        "its key would be that of a contract of another origin"
    );
}

#[test]
fn patterns_have_the_documented_key_conditions() {
    let asked = |name: &str| {
        let all = RkPaiApp::default().documented();
        let found = all.into_iter().find(|documented| documented.pattern.name == name).unwrap();
        let call = found.pattern.calls().unwrap().remove(0);
        (found.pattern.number, found.line, call.index.unwrap_or_default(), call.keys)
    };
    let expected =
        |number, line, index: &str, keys: &str| (number, line, index.to_owned(), keys.to_owned());
    assert_eq!(
        asked("usuario_por_email"),
        expected("1", 97, "GSI1-IndiceEmail", "GSI1PK = \"EMAIL#<email>\"")
    );
    assert_eq!(
        asked("usuarios_de_contrato"),
        expected(
            "2",
            109,
            "GSI5-IndiceContratoUsuario",
            "GSI5PK = \"CONTRATO_USUARIO#<id_origen>#<id_contrato>\""
        )
    );
    assert_eq!(
        asked("ciclos_de_contrato"),
        expected(
            "3",
            121,
            "GSI8-IndiceCatCicloPorOrigenContrato",
            "GSI8PK = \"ORIGEN#<id_origen>#ID_CONTRATO#<id_contrato>\""
        )
    );
    // The store rejects the fourth as the document has it. The pattern queries the links.
    assert_eq!(
        asked("contratos_por_origen"),
        expected(
            "4",
            133,
            "",
            "_pk = \"CAT_ORIGEN#<id_origen>\" AND begins_with(_sk, \"CONTRATO#\")"
        )
    );
}
