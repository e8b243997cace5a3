//! The apps that this program has. A new app is one line in [`all`] and one in [`NAMES`].

use std::sync::Arc;

use tabla::{Error, Result};
use tabla_kit::App;

/// Names of all apps, in the order of [`all`]. Written out, because reading them from the designs
/// would build all five designs in every command that only lists names.
pub(crate) const NAMES: [&str; 5] =
    ["gamificacion", "rk-pai", "branding", "esencia-fest", "crypto-cards"];

/// All apps.
pub(crate) fn all() -> Vec<Arc<dyn App>> {
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
pub(crate) fn find(name: &str) -> Result<Arc<dyn App>> {
    let place = NAMES.iter().position(|known| *known == name);
    place.and_then(|place| all().into_iter().nth(place)).ok_or_else(|| {
        Error::config(format!("there is no app {name:?}; there are {}", NAMES.join(", ")))
    })
}

#[cfg(test)]
mod tests {
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
}
