//! The sample apps of this program. A new app is one line in [`all`] and one in [`NAMES`].

use std::sync::Arc;

use tabla::{Error, Result};
use tabla_kit::App;

/// Names of all apps, in the order of [`all`].
///
/// A constant, because the help of every command lists the names, and reading them from the apps
/// would build five designs.
pub(crate) const NAMES: [&str; 5] =
    ["gamificacion", "rk-pai", "branding", "esencia-fest", "crypto-cards"];

/// Returns all apps, in the order of [`NAMES`].
pub(crate) fn all() -> Vec<Arc<dyn App>> {
    vec![
        Arc::new(tabla_gamificacion::GamificacionApp),
        Arc::new(tabla_rk_pai::RkPaiApp::default()),
        Arc::new(tabla_branding::BrandingApp),
        Arc::new(tabla_esencia_fest::EsenciaFestApp),
        Arc::new(tabla_crypto_cards::CryptoCardsApp),
    ]
}

/// Returns the app with this name.
///
/// # Errors
/// No app has the name. The message lists all names.
pub(crate) fn find(name: &str) -> Result<Arc<dyn App>> {
    let position = NAMES.iter().position(|known| *known == name);
    position.and_then(|position| all().into_iter().nth(position)).ok_or_else(|| {
        Error::config(format!("unknown app `{name}`: use one of {}", NAMES.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_equal_those_of_the_designs() {
        let names: Vec<&str> = all().iter().map(|app| app.design().name).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn find_returns_the_app_or_lists_all_names() {
        assert_eq!(find("branding").expect("the app exists").design().name, "branding");
        let error = find("brandig").expect_err("no app has this name");
        assert!(error.message().contains("branding"), "{error}");
    }
}
