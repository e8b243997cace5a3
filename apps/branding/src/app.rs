//! App for the command line, the demo and the tests.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::try_join_all;
use tabla::Result;
use tabla::entity::AppDesign;
use tabla::entity::lint::{Accepted, Rule};
use tabla::entity::{Db, Entity, Id, Pattern};
use tabla_kit::{Answer, App, Documented, Progress, Race};

use crate::entities::*;
use crate::operations::{Branding, Moved};
use crate::patterns::patterns;

/// Businesses at scale 1.
const BUSINESSES: u32 = 5;
/// Drafts of each business; the first three are published, one after another.
const THEMES: u32 = 8;
const PUBLISHED: u32 = 3;
/// Publishers of a race.
const PUBLISHERS: u32 = 100;

/// Branding as an [`App`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BrandingApp;

fn id(text: impl Into<String>) -> Result<Id> {
    Id::new(text)
}

fn business(number: u32) -> Result<Id> {
    id(format!("business-{number:03}"))
}

fn asset(number: u32, business: &Id, kind: AssetKind) -> Result<Asset> {
    Ok(Asset {
        asset_id: id(format!("{}-{business}-{number}", format!("{kind:?}").to_lowercase()))?,
        business_id: business.clone(),
        asset_type: kind,
        uri: format!("s3://branding-assets/{business}/{number}.png"),
        checksum: format!("md5:{number:032x}"),
        updated_at: Default::default(),
    })
}

fn colours(seed: u32) -> BTreeMap<String, String> {
    let colour = |salt: u32| format!("#{:06X}", (seed * 7919 + salt * 104_729) % 0x100_0000);
    [
        ("primaryColor", colour(1)),
        ("secondaryColor", colour(2)),
        ("typography", ["Inter", "Roboto", "Lato"][seed as usize % 3].to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

#[async_trait]
impl App for BrandingApp {
    fn design(&self) -> AppDesign {
        AppDesign::new("branding", "themes of businesses: drafts, versions, and the published one")
            .tables(vec![&BRANDING])
            .entities(vec![
                Business::design(),
                Theme::design(),
                Marker::design(),
                Asset::design(),
                AssetLink::design(),
            ])
            .patterns(patterns().into_iter().map(Pattern::from).collect())
            .accepted(vec![Accepted::new(
                Rule::UnboundedCollection,
                "AssetLink",
                "a business has tens of assets, and lists of them are paged",
            )])
    }

    fn documented(&self) -> Vec<Documented> {
        patterns()
    }

    async fn seed(&self, db: &Db, scale: u32, progress: Progress<'_>) -> Result<()> {
        let app = Branding::new(db.clone());
        let by = id("seed")?;
        let total = u64::from(BUSINESSES * scale);
        for number in 0..BUSINESSES * scale {
            let business = business(number)?;
            let kinds = [AssetKind::Logo, AssetKind::Banner, AssetKind::Icon];
            let mut assets = Vec::new();
            for (index, kind) in kinds.into_iter().enumerate() {
                let asset = asset(index as u32, &business, kind)?;
                assets.push(AssetRef(asset.asset_id.clone()));
                app.add_asset(asset, "theme").await?.done();
            }
            for version in 1..=THEMES {
                app.create_draft(&business, colours(number + version), assets.clone()).await?;
                if version <= PUBLISHED {
                    let expected = (version > 1).then(|| version - 1);
                    app.publish(&business, version, expected, &by).await?;
                }
            }
            // One draft has expired and is not swept yet.
            let past = db.now().second().minus(Duration::from_secs(60));
            app.archive_draft(&business, THEMES, past).await?.done();
            progress(u64::from(number) + 1, total);
        }
        Ok(())
    }

    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer> {
        let app = Branding::new(db.clone());
        let business = business(0)?;
        let by = id("demo")?;
        match pattern {
            "published_theme" => {
                let theme = app.published_theme(&business).await?;
                let version = theme.as_ref().map(|theme| theme.version);
                Answer::new(theme.iter().len(), format!("version {version:?}"))
                    .expect(version == Some(PUBLISHED), "the theme that was published last")
            }
            "drafts" => {
                let drafts = app.drafts(&business, None).await?.items;
                let versions: Vec<u32> = drafts.iter().map(|theme| theme.version).collect();
                let expected: Vec<u32> = (PUBLISHED + 1..THEMES).collect();
                Answer::new(drafts.len(), format!("versions {versions:?}")).expect(
                    versions == expected,
                    "the drafts that are neither published nor expired",
                )
            }
            "theme" => {
                let theme = app.theme(&business, 2).await?;
                let is_right = theme.as_ref().is_some_and(|theme| theme.version == 2);
                Answer::new(theme.iter().len(), "version 2").expect(is_right, "version 2")
            }
            "asset" => {
                let wanted = asset(0, &business, AssetKind::Logo)?.asset_id;
                let asset = app.asset(&wanted).await?;
                let is_right = asset.as_ref().is_some_and(|asset| asset.business_id == business);
                Answer::new(asset.iter().len(), format!("{wanted}")).expect(is_right, "the logo")
            }
            "assets" => {
                let assets = app.assets(&business, None).await?.items;
                Answer::new(assets.len(), "banner, icon and logo")
                    .expect(assets.len() == 3, "three assets")
            }
            "latest_themes" => {
                let themes = app.latest_themes(&business, 5).await?;
                let versions: Vec<u32> = themes.iter().map(|theme| theme.version).collect();
                // The store may have deleted the expired one.
                let last = if versions.contains(&THEMES) { THEMES } else { THEMES - 1 };
                let expected: Vec<u32> = (last - 4..=last).rev().collect();
                Answer::new(themes.len(), format!("versions {versions:?}"))
                    .expect(versions == expected, "the newest first")
            }
            "business" => {
                let found = app.business(&business).await?;
                let last = found.as_ref().map(|business| business.last_version);
                Answer::new(found.iter().len(), format!("{last:?} versions"))
                    .expect(last == Some(THEMES), "the version of the newest draft")
            }
            "create_draft" => {
                // A separate business keeps the results of the other patterns.
                let theme = app.create_draft(&id("fresh")?, colours(1), Vec::new()).await?;
                Answer::new(1, format!("version {}", theme.version))
                    .expect(theme.version == 1, "the first version")
            }
            "edit_draft" => {
                let draft = Theme { revision: 1, ..self.draft(&id("fresh")?, 1) };
                let edited = app.edit_draft(&draft, colours(2)).await?.done();
                let revision = edited.map(|theme| theme.revision);
                Answer::new(1, format!("revision {revision:?}"))
                    .expect(revision == Some(2), "the second revision")
            }
            "archive_draft" => {
                let later = db.now().second().plus(Duration::from_secs(3600));
                let draft = app.archive_draft(&id("fresh")?, 1, later).await?.done();
                let is_right = draft.is_some_and(|draft| draft.time_to_archive.is_some());
                Answer::new(1, "expires in an hour").expect(is_right, "a draft that expires")
            }
            "publish" => {
                let moved = app.publish(&id("fresh")?, 1, None, &by).await?;
                Answer::new(1, format!("{moved:?}")).expect(moved == Moved::Done, "published")
            }
            "roll_back" => {
                let moved = app.roll_back(&business, 1, PUBLISHED, &by).await?;
                Answer::new(1, format!("{moved:?}")).expect(moved == Moved::Done, "version 1 again")
            }
            "add_asset" => {
                let added =
                    app.add_asset(asset(9, &id("fresh")?, AssetKind::Icon)?, "theme").await?;
                Answer::new(2, "an icon and its link").expect(added.is_done(), "a new asset")
            }
            other => Err(tabla::Error::validation(format!(
                "pattern {other:?} does not exist: `tabla app branding patterns` lists them"
            ))),
        }
    }

    async fn race(&self, db: &Db) -> Result<Vec<Race>> {
        let app = Branding::new(db.clone());
        let business = id("raced")?;
        // All callers create a draft: versions without gaps or duplicates.
        let drafts = try_join_all(
            (0..PUBLISHERS).map(|number| app.create_draft(&business, colours(number), Vec::new())),
        )
        .await?;
        let mut versions: Vec<u32> = drafts.iter().map(|draft| draft.version).collect();
        versions.sort_unstable();
        let is_whole = versions == (1..=PUBLISHERS).collect::<Vec<_>>();
        let mut races = vec![Race {
            name: "numbers of drafts",
            contenders: drafts.len(),
            winners: versions.len(),
            left: format!("versions 1 to {PUBLISHERS}"),
        }];
        check(is_whole, "the versions of the drafts have gaps or duplicates")?;
        // Each caller publishes a draft of its own, and all expect the marker at one version. The
        // losers publish once more.
        let by = id("racer")?;
        let mut expected = None;
        for _ in 0..2 {
            let candidates = versions.iter().filter(|version| Some(**version) != expected);
            let attempts = try_join_all(
                candidates.map(|version| app.publish(&business, *version, expected, &by)),
            )
            .await?;
            let winners = attempts.iter().filter(|moved| **moved == Moved::Done).count();
            check(winners == 1, "exactly one publisher wins a round")?;
            let shown = app.published_theme(&business).await?;
            let shown = shown.filter(|theme| theme.status == Status::Published);
            let Some(shown) = shown else {
                return check(false, "the marker names no published theme").map(|()| Vec::new());
            };
            let losers = attempts.iter().filter(|moved| {
                matches!(moved, Moved::Elsewhere(Some(marker)) if marker.version == shown.version)
            });
            check(losers.count() + 1 == attempts.len(), "every loser gets the winner's marker")?;
            expected = Some(shown.version);
            races.push(Race {
                name: "publishing",
                contenders: attempts.len(),
                winners,
                left: format!("the marker names version {}", shown.version),
            });
        }
        Ok(races)
    }
}

impl BrandingApp {
    /// Draft as it was created.
    fn draft(&self, business: &Id, version: u32) -> Theme {
        Theme {
            business_id: business.clone(),
            version,
            status: Status::Draft,
            metadata: colours(1),
            assets: Vec::new(),
            updated_at: Default::default(),
            revision: 0,
            time_to_archive: None,
        }
    }
}

fn check(holds: bool, otherwise: &str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(tabla::Error::new(tabla::ErrorKind::Unexpected, otherwise)),
    }
}
