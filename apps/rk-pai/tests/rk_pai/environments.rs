//! The app in each of its environments.

use std::sync::Arc;

use tabla::MemoryStore;
use tabla::entity::lint::{self, Finding, Rule};
use tabla::entity::{Db, TableDesign};
use tabla::ops::{DescribeTable, IndexProjection, ProjectionType};
use tabla_conformance::interleave::InterleavingStore;
use tabla_kit::App;
use tabla_rk_pai::{Entorno, RK_PAI, RkPaiApp};

const BOTH: [Entorno; 2] = [Entorno::Dev, Entorno::Prod];

fn open(app: RkPaiApp) -> Vec<Finding> {
    lint::check(&app.design()).into_iter().filter(|finding| finding.accepted.is_none()).collect()
}

// Paused, so that the waits of losers take no time.
#[tokio::test(start_paused = true)]
async fn design_has_no_finding_and_every_pattern_the_right_answer() {
    for entorno in BOTH {
        let app = RkPaiApp { entorno };
        assert_eq!(open(app), [], "{entorno:?}");
        let db = entorno.db(Db::new(Arc::new(InterleavingStore::new(MemoryStore::new()))));
        let ran = tabla_kit::check(&app, &db).await.unwrap();
        assert_eq!(ran.len(), app.design().patterns.len(), "{entorno:?}");
    }
}

#[test]
fn every_accepted_finding_is_found() {
    for entorno in BOTH {
        let design = RkPaiApp { entorno }.design();
        let findings = lint::check(&design);
        for accepted in &design.accepted {
            let occurs = findings.iter().any(|finding| {
                (finding.rule, finding.subject.as_str()) == (accepted.rule, accepted.subject)
            });
            assert!(occurs, "{entorno:?}: {accepted:?}");
        }
    }
}

#[tokio::test]
async fn table_has_the_documented_name_and_twelve_indexes() {
    for (entorno, name) in
        BOTH.into_iter().zip(["RK_PAI_SINGLE_TABLE_DEV", "RK_PAI_SINGLE_TABLE_PROD"])
    {
        let db = entorno.db(Db::new(Arc::new(MemoryStore::new())));
        RkPaiApp { entorno }.create_tables(&db).await.unwrap();
        let table = db.store().describe_table(DescribeTable::new(name)).await.unwrap();
        let expected = [
            ("GSI1-IndiceEmail", Some(3)),
            ("GSI2-IndiceDispositivo", None),
            ("GSI9-IndiceModuloPerfil", None),
            ("GSI3-IndicePerfilUsuario", None),
            ("GSI11-IndiceUsuarioGrupos", None),
            ("GSI5-IndiceContratoUsuario", None),
            ("GSI10-IndiceServicioPerfil", None),
            ("GSI14-IndiceBitacoraPorElemento", Some(4)),
            ("GSI6-IndiceConfigPorOrigenContrato", Some(3)),
            ("GSI8-IndiceCatCicloPorOrigenContrato", Some(4)),
            ("GSI13-IndiceDashConfParamsPorParametro", Some(2)),
            ("GSI7-IndiceCatContratoPorOrigenIdContrato", Some(4)),
        ];
        assert_eq!(
            table.global_secondary_indexes.len(),
            12,
            "the document counts 10 indexes and lists 12"
        );
        for (index, carried) in expected {
            let found = table.global_secondary_indexes.iter().find(|found| found.name == index);
            let projection = &found.unwrap_or_else(|| panic!("{index}")).projection;
            match (entorno, carried) {
                (Entorno::Dev, _) => assert_eq!(*projection, IndexProjection::all()),
                (Entorno::Prod, None) => assert_eq!(*projection, IndexProjection::keys_only()),
                (Entorno::Prod, Some(attributes)) => {
                    assert_eq!(projection.kind, ProjectionType::Include);
                    assert_eq!(projection.non_key_attributes.len(), attributes, "{index}");
                }
            }
        }
    }
}

#[test]
fn lint_finds_an_index_that_carries_too_little() {
    let mut design = RkPaiApp::default().design();
    let mut table: TableDesign = RK_PAI.clone();
    for index in &mut table.indexes {
        index.projection = IndexProjection::keys_only();
    }
    design.tables = vec![Box::leak(Box::new(table))];
    let missing: Vec<String> = lint::check(&design)
        .into_iter()
        .filter(|finding| finding.rule == Rule::MissingAttribute)
        .map(|finding| finding.subject)
        .collect();
    assert_eq!(
        missing,
        [
            "usuario_por_email",
            "configuraciones_por_contrato",
            "contrato_por_origen_e_id",
            "ciclos_de_contrato",
            "dash_params_por_parametro",
            "bitacora_por_elemento",
            "bitacora_por_elemento_entre",
        ]
    );
}
