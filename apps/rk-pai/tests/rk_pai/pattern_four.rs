//! Pattern 4 as the document has it, which the store and the lint reject.

use tabla::ErrorKind;
use tabla::entity::lint::{self, Rule};
use tabla::entity::{Call, Pattern};
use tabla::ops::Query;
use tabla_kit::App;
use tabla_rk_pai::{Contrato, ContratoCreated, RK_PAI, RkPaiApp, contratos_por_origen};

use crate::{app, contrato, id};

/// Query of the document, verbatim.
fn as_written() -> Query {
    Query::new(&RK_PAI.name, "begins_with(GSI7PK, :origen)")
        .index("GSI7-IndiceCatContratoPorOrigenIdContrato")
        .value(":origen", "ORIGEN#7#")
}

#[tokio::test]
async fn store_rejects_the_query_and_links_replace_it() {
    let (app, db, _) = app().await;
    for (empresa, origen, id) in
        [("E1", "7", "71"), ("E1", "7", "70"), ("E2", "8", "80"), ("E2", "70", "1")]
    {
        let created = app.create_contrato(&contrato(empresa, origen, id)).await.unwrap();
        assert!(matches!(created, ContratoCreated::First | ContratoCreated::Further));
    }
    let error = db.store().query(as_written()).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);
    assert_eq!(error.message(), "Query key condition not supported");

    let links = db.page(contratos_por_origen(&id("7"))).await.unwrap().items;
    let found: Vec<_> =
        links.iter().map(|link| (link.id_contrato.as_str(), link.id_empresa.as_str())).collect();
    assert_eq!(found, [("70", "E1"), ("71", "E1")], "sorted by id, without the origin 70");
    let whole = app.contratos_completos_por_origen(&id("7"), None).await.unwrap();
    assert_eq!(whole.items, [contrato("E1", "7", "70"), contrato("E1", "7", "71")]);
    assert_eq!(whole.next, None);
}

#[tokio::test]
async fn contracts_of_several_batches_are_in_order() {
    let (app, _, _) = app().await;
    let contracts: Vec<Contrato> = (0..120)
        .map(|number| contrato(&format!("E{}", number % 80), "7", &format!("{number:03}")))
        .collect();
    for contract in &contracts {
        let created = app.create_contrato(contract).await.unwrap();
        assert!(matches!(created, ContratoCreated::First | ContratoCreated::Further));
    }
    let whole = app.contratos_completos_por_origen(&id("7"), None).await.unwrap();
    assert_eq!(whole.items, contracts);
}

#[tokio::test]
async fn company_can_have_one_id_from_two_origins() {
    let (app, _, _) = app().await;
    let (first, further) = (contrato("E1", "7", "70"), contrato("E1", "8", "70"));
    assert_eq!(app.create_contrato(&first).await.unwrap(), ContratoCreated::First);
    assert_eq!(app.create_contrato(&further).await.unwrap(), ContratoCreated::Further);
    for (origen, expected) in [("7", first), ("8", further)] {
        let whole = app.contratos_completos_por_origen(&id(origen), None).await.unwrap();
        assert_eq!(whole.items, [expected], "{origen}");
    }
}

#[test]
fn lint_rejects_the_query() {
    let mut design = RkPaiApp::default().design();
    let declared = Pattern::new("contratos_por_origen_as_written", "contracts of an origin")
        .number("4")
        .find(|| Ok(Call::of_query::<Contrato>(as_written())));
    design.patterns.push(declared);
    let errors: Vec<_> =
        lint::check(&design).into_iter().filter(|finding| finding.is_error()).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].rule, Rule::KeyCondition);
    assert_eq!(errors[0].subject, "contratos_por_origen_as_written");
    assert!(errors[0].message.contains("Query key condition not supported"), "{}", errors[0]);
}
