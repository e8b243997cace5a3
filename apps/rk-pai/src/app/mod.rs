//! The app for the command line, the demo and the tests.

mod data;
mod races;
mod reads;
mod seed;
mod writes;

use async_trait::async_trait;
use tabla::entity::AppDesign;
use tabla::entity::lint::{Accepted, Rule};
use tabla::entity::{Db, Entity, Pattern};
use tabla::{Error, ErrorKind, Result};
use tabla_kit::{Answer, App, Documented, Progress, Race};

use crate::catalogues::*;
use crate::contracts::*;
use crate::declarations::patterns;
use crate::operations::RkPai;
use crate::table::{Entorno, indexes};
use crate::users::*;

/// The app, in one of its environments.
#[derive(Clone, Copy, Debug, Default)]
pub struct RkPaiApp {
    /// Environment, which sets the projections of the indexes.
    pub entorno: Entorno,
}

/// Entities without a limit in a partition, each with the reason to accept it.
const BOUNDED: [(&str, &str); 9] = [
    ("PerfilUsuario", "a user has a few profiles"),
    ("ContratoUsuario", "a user takes part in a few contracts"),
    ("Dispositivo", "a user has a few devices"),
    ("EstadoCuenta", "twelve a year, and a range of months is read"),
    ("MiembroGrupo", "lists of members are paged"),
    ("ContratoDeOrigen", "links are small, and lists of contracts are paged"),
    ("ContratoAdicional", "a company has tens of contracts"),
    ("ModuloPerfil", "a profile has at most every module of the system"),
    ("ServicioPerfil", "a profile has at most every service of the system"),
];

/// Indexes that carry more in development than the patterns read.
const WIDE: [&str; 8] = [
    indexes::EMAIL,
    indexes::DISPOSITIVO,
    indexes::PERFIL_USUARIO,
    indexes::CONTRATO_USUARIO,
    indexes::CONFIG,
    indexes::MODULO_PERFIL,
    indexes::SERVICIO_PERFIL,
    indexes::USUARIO_GRUPOS,
];

#[async_trait]
impl App for RkPaiApp {
    fn design(&self) -> AppDesign {
        let bounded = BOUNDED
            .map(|(subject, reason)| Accepted::new(Rule::UnboundedCollection, subject, reason));
        let kept = Accepted::new(
            Rule::LogWithoutTtl,
            "Retiro",
            "withdrawals are accounting records and must be kept",
        );
        let wide = match self.entorno {
            Entorno::Dev => &WIDE[..],
            Entorno::Prod => &[],
        };
        let wide = wide.iter().map(|subject| {
            Accepted::new(
                Rule::WideProjection,
                subject,
                "in development every index carries all attributes, as in the document; in \
                     production, those that the patterns read",
            )
        });
        AppDesign::new("rk-pai", "users, contracts, permissions and their log in one table")
            .tables(vec![self.entorno.table()])
            .entities(vec![
                Usuario::design(),
                PerfilUsuario::design(),
                ContratoUsuario::design(),
                Dispositivo::design(),
                Bitacora::design(),
                EstadoCuenta::design(),
                Retiro::design(),
                Origen::design(),
                ContratoDeOrigen::design(),
                PrimerContrato::design(),
                ContratoAdicional::design(),
                Ciclo::design(),
                ConfGrupoContrato::design(),
                Grupo::design(),
                MiembroGrupo::design(),
                Perfil::design(),
                Modulo::design(),
                Servicio::design(),
                ModuloPerfil::design(),
                ServicioPerfil::design(),
                DashConfParams::design(),
            ])
            .patterns(patterns().into_iter().map(Pattern::from).collect())
            .accepted(bounded.into_iter().chain([kept]).chain(wide).collect())
    }

    fn documented(&self) -> Vec<Documented> {
        patterns()
    }

    async fn seed(&self, db: &Db, scale: u32, progress: Progress<'_>) -> Result<()> {
        seed::seed(&RkPai::new(db.clone()), scale, progress).await
    }

    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer> {
        let app = RkPai::new(db.clone());
        let answer = match reads::documented(&app, pattern).await? {
            None => match reads::of_entities(&app, pattern).await? {
                None => writes::run(&app, pattern).await?,
                answer => answer,
            },
            answer => answer,
        };
        answer.ok_or_else(|| Error::validation(format!("there is no pattern {pattern:?}")))
    }

    async fn race(&self, db: &Db) -> Result<Vec<Race>> {
        races::all(&RkPai::new(db.clone())).await
    }
}

/// Requires a fact after a race or in the sample data.
fn check(holds: bool, error: &str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Unexpected, error)),
    }
}
