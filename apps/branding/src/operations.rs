//! What can be done with themes.

use std::collections::BTreeMap;

use tabla::entity::{Change, Db, Entity, Id, Outcome, Page, Transacted, UtcTime};
use tabla::{Cursor, Result, RetryMode};

use crate::entities::*;
use crate::patterns;

/// Themes on a database.
#[derive(Clone, Debug)]
pub struct Branding {
    db: Db,
}

/// What became of moving the marker.
#[derive(Clone, Debug, PartialEq)]
pub enum Moved {
    /// It is at the theme that was wanted.
    Done,
    /// It is not where it was believed to be, and nothing has changed: here it is, if there is one.
    Lost(Option<Marker>),
    /// The theme is not there, or is not what it has to be: a draft to be published, a published
    /// one to go back to. Here it is, if there is one.
    Unsuitable(Option<Theme>),
}

impl Branding {
    /// Themes on this database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// Pattern 1: the theme that a business shows.
    pub async fn published_theme(&self, business: &Id) -> Result<Option<Theme>> {
        let Some(marker) = self.marker(business).await? else { return Ok(None) };
        self.theme(business, marker.version).await
    }

    /// Which theme of a business is published.
    pub async fn marker(&self, business: &Id) -> Result<Option<Marker>> {
        self.db.get(&MarkerKey { business_id: business.clone() }).await
    }

    /// Pattern 2: a page of the current drafts of a business.
    pub async fn drafts(&self, business: &Id, after: Option<Cursor>) -> Result<Page<Theme>> {
        self.db.page(patterns::drafts(business).after(after)).await
    }

    /// Pattern 3: one version of a business.
    pub async fn theme(&self, business: &Id, version: u32) -> Result<Option<Theme>> {
        self.db.get(&ThemeKey { business_id: business.clone(), version }).await
    }

    /// The newest versions of a business.
    pub async fn latest_themes(&self, business: &Id, limit: u32) -> Result<Vec<Theme>> {
        let find = patterns::themes(business).descending().limit(limit);
        Ok(self.db.page(find).await?.whole()?.items)
    }

    /// Pattern 4: an asset.
    pub async fn asset(&self, asset: &Id) -> Result<Option<Asset>> {
        self.db.get(&AssetKey { asset_id: asset.clone() }).await
    }

    /// Pattern 4b: a page of the assets of a business.
    pub async fn assets(&self, business: &Id, after: Option<Cursor>) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets(business).after(after)).await
    }

    /// A business.
    pub async fn business(&self, business: &Id) -> Result<Option<Business>> {
        self.db.get(&BusinessKey { business_id: business.clone() }).await
    }

    /// Writes a draft under the next number of its business. Numbers have no gaps, and are not
    /// given out twice.
    pub async fn create_draft(
        &self,
        business: &Id,
        metadata: BTreeMap<String, String>,
        assets: Vec<AssetRef>,
    ) -> Result<Theme> {
        let mut tries = self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to number a draft");
        loop {
            let present = self.business(business).await?;
            let last = present.as_ref().map_or(0, |business| business.last_version);
            let mut theme = Theme {
                business_id: business.clone(),
                version: last + 1,
                status: Status::Draft,
                metadata: metadata.clone(),
                assets: assets.clone(),
                updated_at: UtcTime::default(),
                revision: 0,
                time_to_archive: None,
            };
            let now = self.db.now();
            let transaction = self.db.transaction_at(now);
            let transaction = match &present {
                Some(present) => transaction.update(
                    "business",
                    Change::of(present)
                        .set(Business::LAST_VERSION, last + 1)
                        .when(Business::LAST_VERSION.eq(last)),
                )?,
                None => transaction.create(
                    "business",
                    Business {
                        business_id: business.clone(),
                        name: None,
                        last_version: 1,
                        created_at: UtcTime::default(),
                        updated_at: UtcTime::default(),
                    },
                )?,
            };
            let transaction = transaction.create("theme", theme.clone())?;
            if let Some(Transacted::Done) = tries.check(transaction.run().await)? {
                theme.updated_at = now.second();
                theme.revision = 1;
                return Ok(theme);
            }
            tries.next_attempt().await?;
        }
    }

    /// Changes a draft that was read, if it is still a draft and nobody else has changed it.
    pub async fn edit_draft(
        &self,
        draft: &Theme,
        metadata: BTreeMap<String, String>,
    ) -> Result<Outcome<Theme>> {
        let change =
            Change::of(draft).set(Theme::METADATA, metadata).when(Theme::STATUS.eq(Status::Draft));
        self.db.update(change).await
    }

    /// Has a draft go at this time.
    pub async fn archive_draft(
        &self,
        business: &Id,
        version: u32,
        at: UtcTime,
    ) -> Result<Outcome<Theme>> {
        let change = Change::at(ThemeKey { business_id: business.clone(), version })
            .set(Theme::TIME_TO_ARCHIVE, at.as_secs())
            .when(Theme::STATUS.eq(Status::Draft));
        self.db.update(change).await
    }

    /// Publishes a draft: for good, and only if the marker is where it is believed to be (nowhere,
    /// if nothing was published yet).
    pub async fn publish(
        &self,
        business: &Id,
        version: u32,
        expected: Option<u32>,
        by: &Id,
    ) -> Result<Moved> {
        let now = self.db.now().second();
        let unexpired =
            Theme::TIME_TO_ARCHIVE.not_exists().or(Theme::TIME_TO_ARCHIVE.gt(now.as_secs()));
        // A published theme never expires.
        let theme = Change::at(ThemeKey { business_id: business.clone(), version })
            .set(Theme::STATUS, Status::Published)
            .clear(Theme::TIME_TO_ARCHIVE)
            .when(Theme::STATUS.eq(Status::Draft).and(unexpired));
        let transaction = self.db.transaction().update("theme", theme)?;
        let marker = Marker {
            business_id: business.clone(),
            version,
            published_at: now,
            published_by: by.clone(),
            updated_at: now,
        };
        let transaction = match expected {
            None => transaction.create("marker", marker)?,
            Some(expected) => transaction.update("marker", moved(&marker, expected))?,
        };
        outcome(transaction.run().await?)
    }

    /// Shows an earlier theme again: one that was published once.
    pub async fn roll_back(
        &self,
        business: &Id,
        version: u32,
        expected: u32,
        by: &Id,
    ) -> Result<Moved> {
        let now = self.db.now().second();
        let marker = Marker {
            business_id: business.clone(),
            version,
            published_at: now,
            published_by: by.clone(),
            updated_at: now,
        };
        let theme = ThemeKey { business_id: business.clone(), version };
        let transaction = self
            .db
            .transaction()
            .check("theme", &theme, Some(Theme::STATUS.eq(Status::Published)))?
            .update("marker", moved(&marker, expected))?;
        outcome(transaction.run().await?)
    }

    /// Writes an asset, and links it to its business.
    pub async fn add_asset(&self, asset: Asset, scope: &str) -> Result<Outcome<Asset>> {
        let link = AssetLink {
            business_id: asset.business_id.clone(),
            asset_id: asset.asset_id.clone(),
            scope: scope.to_owned(),
        };
        let now = self.db.now();
        let transaction =
            self.db.transaction_at(now).create("asset", asset.clone())?.put("link", link)?;
        match transaction.run().await? {
            Transacted::Done => Ok(Outcome::Done(Asset { updated_at: now.second(), ..asset })),
            Transacted::Lost(lost) => Ok(Outcome::Lost(lost.current("asset")?)),
        }
    }
}

/// The marker, from where it is believed to be to where it is wanted.
fn moved(marker: &Marker, expected: u32) -> Change<Marker> {
    Change::at(marker.key())
        .set(Marker::VERSION, marker.version)
        .set(Marker::PUBLISHED_AT, marker.published_at)
        .set(Marker::PUBLISHED_BY, marker.published_by.clone())
        .when(Marker::VERSION.eq(expected))
}

fn outcome(transacted: Transacted) -> Result<Moved> {
    match transacted {
        Transacted::Done => Ok(Moved::Done),
        // Whoever has lost the marker has lost; the theme may be published by the winner.
        Transacted::Lost(lost) if lost.is_lost("marker") => {
            Ok(Moved::Lost(lost.current("marker")?))
        }
        Transacted::Lost(lost) => Ok(Moved::Unsuitable(lost.current("theme")?)),
    }
}
