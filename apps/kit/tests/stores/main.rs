//! The apps on real stores: every app as it is, and the reservations of funds on stores that fail,
//! by processes that are killed; consumers of streams in such processes.

mod apps;
mod consumers;
mod costs;
mod faults;
mod faulty_server;
mod kills;
mod places;
mod readmes;

use std::sync::Arc;

use tabla_kit::App;

/// The five apps.
fn all() -> Vec<Arc<dyn App>> {
    vec![
        Arc::new(tabla_gamificacion::GamificacionApp),
        Arc::new(tabla_rk_pai::RkPaiApp::default()),
        Arc::new(tabla_branding::BrandingApp),
        Arc::new(tabla_esencia_fest::EsenciaFestApp),
        Arc::new(tabla_crypto_cards::CryptoCardsApp),
    ]
}
