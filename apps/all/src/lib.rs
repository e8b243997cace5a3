//! All apps, by their names: what the command line and the demo know, and what the tests run on
//! every store.

use std::sync::Arc;

use tabla::entity::app::App;
use tabla::{Error, Result};

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
    let apps = all();
    let names: Vec<&str> = apps.iter().map(|app| app.design().name).collect();
    let found = apps.iter().find(|app| app.design().name == name).cloned();
    found.ok_or_else(|| {
        Error::config(format!("there is no app {name:?}; there are {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_is_found_by_its_name() {
        assert_eq!(find("branding").expect("it is there").design().name, "branding");
        let error = find("brandig").expect_err("nothing is called so");
        assert!(error.message().contains("branding"), "{error}");
    }
}
