//! The app for the command line, the demo and the tests.

mod race;
mod run;
mod seed;

use async_trait::async_trait;
use tabla::Result;
use tabla::entity::AppDesign;
use tabla::entity::lint::{Accepted, Rule};
use tabla::entity::{Db, Entity, Id, Pattern};
use tabla_kit::{Answer, App, Documented, Progress, Race};

use crate::entities::*;
use crate::operations::Gamificacion;
use crate::patterns::patterns;

/// The app `gamificacion`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GamificacionApp;

fn id(text: impl Into<String>) -> Result<Id> {
    Id::new(text)
}

fn accepted(subject: &'static str, reason: &'static str) -> Accepted {
    Accepted::new(Rule::UnboundedCollection, subject, reason)
}

/// Accepts a hot partition of an index whose key the document fixes.
fn documented(subject: &'static str) -> Accepted {
    let reason = "the document fixes the key, which shards would change; a partition takes 1 000 \
                  changes of members a second, and lists of members are paged";
    Accepted::new(Rule::HotPartition, subject, reason)
}

#[async_trait]
impl App for GamificacionApp {
    fn design(&self) -> AppDesign {
        AppDesign::new(
            "gamificacion",
            "a user's panel: goals, products, network and media, in one table",
        )
        .tables(vec![&GAMIFICACION])
        .entities(vec![
            Profile::design(),
            Dashboard::design(),
            Goal::design(),
            Product::design(),
            Featured::design(),
            NetworkMember::design(),
            Asset::design(),
            AssetLink::design(),
        ])
        .patterns(patterns().into_iter().map(Pattern::from).collect())
        .accepted(vec![
            accepted("Goal", "a user has tens of goals, and lists of them are paged"),
            accepted("Product", "a user has tens of products, and lists of them are paged"),
            accepted("Featured", "a panel shows a few things first; lists are paged"),
            accepted(
                "NetworkMember",
                "networks are large: lists of members are paged, and the whole panel is read \
                     over as many pages as it has",
            ),
            accepted("AssetLink", "a user has tens of files, and lists of them are paged"),
            documented("NetworkMember in GSI2"),
            documented("NetworkMember in GSI3"),
        ])
    }

    fn documented(&self) -> Vec<Documented> {
        patterns()
    }

    async fn seed(&self, db: &Db, scale: u32, progress: Progress<'_>) -> Result<()> {
        seed::seed(&Gamificacion::new(db.clone()), db, scale, progress).await
    }

    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer> {
        run::run(&Gamificacion::new(db.clone()), pattern).await
    }

    async fn race(&self, db: &Db) -> Result<Vec<Race>> {
        race::race(&Gamificacion::new(db.clone())).await
    }
}
