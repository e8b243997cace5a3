//! All apps, by their names: what the command line and the demo know, and what the tests run on
//! every store.

use std::sync::Arc;

use tabla::entity::app::App;
use tabla::{Error, Result};

/// The names of all apps, in their order. Written down, because an app has its name in its design, and
/// whoever only lists the names would have all designs made.
pub const NAMES: [&str; 5] = ["gamificacion", "rk-pai", "branding", "esencia-fest", "crypto-cards"];

/// All apps.
pub fn all() -> Vec<Arc<dyn App>> {
    vec![
        Arc::new(tabla_gamificacion::GamificacionApp),
        Arc::new(tabla_rk_pai::RkPaiApp::default()),
        Arc::new(tabla_branding::BrandingApp),
        Arc::new(tabla_esencia_fest::EsenciaFestApp),
        Arc::new(tabla_crypto_cards::CryptoCardsApp),
    ]
}

/// The app of this name.
///
/// # Errors
/// There is none; the message lists those that there are.
pub fn find(name: &str) -> Result<Arc<dyn App>> {
    let place = NAMES.iter().position(|known| *known == name);
    place.and_then(|place| all().into_iter().nth(place)).ok_or_else(|| {
        Error::config(format!("there is no app {name:?}; there are {}", NAMES.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use tabla::MemoryStore;
    use tabla::entity::{Db, Operation, app};

    use super::*;

    #[test]
    fn the_names_are_those_of_the_designs() {
        let names: Vec<&str> = all().iter().map(|app| app.design().name).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn an_app_is_found_by_its_name() {
        assert_eq!(find("branding").expect("it is there").design().name, "branding");
        let error = find("brandig").expect_err("nothing is called so");
        assert!(error.message().contains("branding"), "{error}");
    }

    /// The items of the apps have less than 1 KB, so that a write costs what its pattern declares:
    /// less, if an entity that need not be in an index is not.
    #[tokio::test]
    async fn writes_cost_what_their_patterns_declare() {
        for app in all() {
            let design = app.design();
            let db = Db::new(Arc::new(MemoryStore::new()));
            for ran in app::check(&*app, &db).await.expect("the app is sound") {
                let name = ran.pattern.name;
                let calls = ran.pattern.calls().expect("it is declared well");
                let declared = calls.iter().filter(|call| !call.writes.is_empty());
                let measured = ran.traces.iter().filter(|trace| is_write(trace.operation));
                for (call, trace) in declared.zip(measured) {
                    let declared = call.units(&design, 1024, 25);
                    assert!(trace.units <= declared, "{name}: {} of {declared}", trace.units);
                    let is_open = call.writes.iter().any(|write| {
                        let mut fields = write.entity.fields.iter().filter(|field| field.optional);
                        let is_key = |name| write.entity.indexes.iter().any(|keys| keys.has(name));
                        write.is_each || fields.any(|field| is_key(field.name))
                    });
                    let is_transaction = call.operation == Operation::TransactWriteItems;
                    if is_transaction && !is_open {
                        assert_eq!(trace.units, declared, "{}: {name}", design.name);
                    }
                }
            }
        }
    }

    fn is_write(operation: Operation) -> bool {
        use Operation::{BatchWriteItem, DeleteItem, PutItem, TransactWriteItems, UpdateItem};
        matches!(operation, PutItem | UpdateItem | DeleteItem | BatchWriteItem | TransactWriteItems)
    }
}
