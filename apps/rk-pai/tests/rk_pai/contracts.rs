//! Contracts and their links.

use tabla::entity::Outcome;
use tabla_rk_pai::*;

use crate::{app, contrato, count, id, snapshot};

#[tokio::test]
async fn first_contract_of_a_company_has_the_documented_key() {
    let (app, db, _) = app().await;
    let first = contrato("E1", "7", "70");
    assert_eq!(app.create_contrato(&first).await.unwrap(), ContratoCreated::First);
    assert_eq!(
        snapshot(&db).await,
        [
            tabla::item! {
                "_pk" => "CAT_CONTRATO#E1", "_sk" => "METADATA",
                "GSI7PK" => "ORIGEN#7#ID_CONTRATO#70", "GSI7SK" => "CAT_CONTRATO#E1",
                "id_origen" => "7", "id_contrato" => "70", "nombre" => "Plan",
                "vigente_desde" => "2025-01-01",
            },
            tabla::item! {
                "_pk" => "CAT_ORIGEN#7", "_sk" => "CONTRATO#70", "id_empresa" => "E1",
            },
        ]
    );
    let further = contrato("E1", "7", "71");
    assert_eq!(app.create_contrato(&further).await.unwrap(), ContratoCreated::Further);
    assert_eq!(
        snapshot(&db).await[0],
        tabla::item! {
            "_pk" => "CAT_CONTRATO#E1", "_sk" => "CONTRATO#71",
            "GSI7PK" => "ORIGEN#7#ID_CONTRATO#71", "GSI7SK" => "CAT_CONTRATO#E1",
            "id_origen" => "7", "id_contrato" => "71", "nombre" => "Plan",
            "vigente_desde" => "2025-01-01",
        }
    );
    let of_company = db.all(contratos_de_empresa(&id("E1"))).await.unwrap();
    assert_eq!(of_company, [further.clone(), first]);
    let found = db.page(contrato_por_origen_e_id(&id("7"), &id("71"))).await.unwrap().items;
    assert_eq!(found, [further]);
}

#[tokio::test]
async fn contract_with_a_taken_id_is_not_created() {
    let (app, db, _) = app().await;
    let first = contrato("E1", "7", "70");
    assert_eq!(app.create_contrato(&first).await.unwrap(), ContratoCreated::First);
    let before = snapshot(&db).await;
    let link = ContratoDeOrigen { id_origen: id("7"), id_contrato: id("70"), id_empresa: id("E1") };
    // The id is taken for another company and for the same one.
    for company in ["E3", "E1"] {
        let refused = app.create_contrato(&contrato(company, "7", "70")).await.unwrap();
        assert_eq!(refused, ContratoCreated::Taken(link.clone()));
    }
    assert_eq!(snapshot(&db).await, before);
}

#[tokio::test]
async fn second_further_contract_of_an_id_is_refused() {
    let (app, db, _) = app().await;
    for (origen, expected) in [("1", ContratoCreated::First), ("2", ContratoCreated::Further)] {
        assert_eq!(app.create_contrato(&contrato("E1", origen, "70")).await.unwrap(), expected);
    }
    let before = snapshot(&db).await;
    let refused = app.create_contrato(&contrato("E1", "3", "70")).await.unwrap();
    assert_eq!(refused, ContratoCreated::Collides(contrato("E1", "2", "70")));
    assert_eq!(snapshot(&db).await, before);
}

#[tokio::test]
async fn moved_contract_equals_one_created_there() {
    for further in [false, true] {
        let (app, db, _) = app().await;
        let contract = contrato("E1", "7", "70");
        if further {
            let _ = app.create_contrato(&contrato("E1", "7", "1")).await.unwrap();
        }
        let _ = app.create_contrato(&contract).await.unwrap();
        let moved = app.move_contrato(&contract, &id("8")).await.unwrap();
        assert_eq!(moved, ContratoMoved::Done(contrato("E1", "8", "70")));
        let after = snapshot(&db).await;

        let (app, db, _) = crate::app().await;
        if further {
            let _ = app.create_contrato(&contrato("E1", "7", "1")).await.unwrap();
        }
        let _ = app.create_contrato(&contrato("E1", "8", "70")).await.unwrap();
        assert_eq!(after, snapshot(&db).await, "further: {further}");
    }
}

#[tokio::test]
async fn failed_move_writes_nothing() {
    let (app, db, _) = app().await;
    let (ours, theirs) = (contrato("E1", "7", "70"), contrato("E2", "8", "70"));
    let _ = app.create_contrato(&ours).await.unwrap();
    let _ = app.create_contrato(&theirs).await.unwrap();
    let before = snapshot(&db).await;
    let link = ContratoDeOrigen { id_origen: id("8"), id_contrato: id("70"), id_empresa: id("E2") };
    let taken = app.move_contrato(&ours, &id("8")).await.unwrap();
    assert_eq!(taken, ContratoMoved::Taken(link));
    // Two have another origin than the stored contract, and one does not exist.
    for (stale, present) in [
        (contrato("E1", "9", "70"), Some(ours.clone())),
        (contrato("E2", "7", "70"), Some(theirs)),
        (contrato("E1", "7", "71"), None),
    ] {
        let lost = app.move_contrato(&stale, &id("10")).await.unwrap();
        assert_eq!(lost, ContratoMoved::Lost(present), "{stale:?}");
    }
    assert!(app.move_contrato(&ours, &id("7")).await.is_err(), "the origin is the same");
    assert_eq!(snapshot(&db).await, before);
}

#[tokio::test]
async fn deletion_of_a_contract_deletes_its_link() {
    let (app, db, _) = app().await;
    let (first, further) = (contrato("E1", "7", "70"), contrato("E1", "7", "71"));
    let _ = app.create_contrato(&first).await.unwrap();
    let _ = app.create_contrato(&further).await.unwrap();
    let before = snapshot(&db).await;
    for (stale, present) in [
        (contrato("E1", "8", "70"), Some(first.clone())),
        (contrato("E1", "8", "71"), Some(further.clone())),
        (contrato("E1", "7", "72"), None),
        (contrato("E2", "7", "70"), None),
    ] {
        let lost = app.delete_contrato(&stale).await.unwrap();
        assert_eq!(lost, Outcome::Lost(present), "{stale:?}");
    }
    assert_eq!(snapshot(&db).await, before);
    assert_eq!(app.delete_contrato(&first).await.unwrap(), Outcome::Done(first.clone()));
    assert_eq!(app.delete_contrato(&first).await.unwrap(), Outcome::Lost(None));
    // The documented key is free, and the next contract gets it.
    let next = contrato("E1", "7", "72");
    assert_eq!(app.create_contrato(&next).await.unwrap(), ContratoCreated::First);
    assert_eq!(app.delete_contrato(&further).await.unwrap(), Outcome::Done(further));
    assert_eq!(app.delete_contrato(&next).await.unwrap(), Outcome::Done(next));
    assert_eq!(count(&db).await, 0);
}

#[tokio::test]
async fn group_has_one_configuration() {
    let (app, db, _) = app().await;
    let configuration = |contract: &str| ConfGrupoContrato {
        id_grupo: id("g1"),
        id_origen: id("7"),
        id_contrato: id(contract),
        parametros: [("moneda".to_owned(), "MXN".to_owned())].into(),
        updated_at: crate::time("2025-08-18T10:30:00Z"),
    };
    assert!(app.add(configuration("70")).await.unwrap().is_done());
    let lost = app.add(configuration("71")).await.unwrap();
    assert_eq!(lost, Outcome::Lost(Some(configuration("70"))));
    let found = db.page(configuraciones_por_contrato(&id("7"), &id("71"))).await.unwrap();
    assert!(found.items.is_empty());
}
