//! Operations on themes and assets.

use std::collections::BTreeMap;

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Db, Id, Outcome, Page, Step, Transaction, UtcTime};
use tabla::{Cursor, Result};

use crate::entities::*;
use crate::patterns;

/// Themes on a database.
#[derive(Clone, Debug)]
pub struct Branding {
    db: Db,
}

/// Outcome of a move of the marker.
#[derive(Clone, Debug, PartialEq)]
pub enum Moved {
    /// The marker is at the theme.
    Done,
    /// The marker is not at the expected version, and nothing was written. The current marker; `None`
    /// if nothing is published.
    Elsewhere(Option<Marker>),
    /// The theme is neither a current draft to publish nor a published theme to go back to, and
    /// nothing was written. The current theme, if it exists.
    Unsuitable(Option<Theme>),
}

impl Branding {
    /// Themes on this database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// Pattern 1: theme that a business shows.
    pub async fn published_theme(&self, business: &Id) -> Result<Option<Theme>> {
        let Some(marker) = self.marker(business).await? else { return Ok(None) };
        self.theme(business, marker.version).await
    }

    /// Marker of the published theme of a business.
    pub async fn marker(&self, business: &Id) -> Result<Option<Marker>> {
        self.db.get(&Marker::key(business)).await
    }

    /// Pattern 2: page of the current drafts of a business.
    pub async fn drafts(&self, business: &Id, after: Option<Cursor>) -> Result<Page<Theme>> {
        self.db.page(patterns::drafts(business).after(after)).await
    }

    /// Pattern 3: theme of a business by its version.
    pub async fn theme(&self, business: &Id, version: u32) -> Result<Option<Theme>> {
        self.db.get(&Theme::key(business, version)).await
    }

    /// Newest themes of a business.
    pub async fn latest_themes(&self, business: &Id, limit: u32) -> Result<Vec<Theme>> {
        let query = patterns::themes(business).descending().limit(limit);
        Ok(self.db.page(query).await?.whole()?.items)
    }

    /// Pattern 4: asset by its id.
    pub async fn asset(&self, asset: &Id) -> Result<Option<Asset>> {
        self.db.get(&Asset::key(asset)).await
    }

    /// Pattern 4b: page of the assets of a business.
    pub async fn assets(&self, business: &Id, after: Option<Cursor>) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets(business).after(after)).await
    }

    /// Business by its id.
    pub async fn business(&self, business: &Id) -> Result<Option<Business>> {
        self.db.get(&Business::key(business)).await
    }

    /// Creates a draft under the next version of its business. Versions have no gaps, and no version
    /// is reused.
    pub async fn create_draft(
        &self,
        business: &Id,
        metadata: BTreeMap<String, String>,
        assets: Vec<AssetRef>,
    ) -> Result<Theme> {
        let mut attempts = self.db.optimistic("number a draft");
        loop {
            let mut tx = attempts.begin().await?;
            let present = tx.get(&Business::key(business)).await?;
            let last = present.as_ref().map_or(0, |business| business.last_version);
            match &present {
                Some(present) => {
                    let change = present.change().increment(Business::LAST_VERSION, 1);
                    tx.update(change.when(Business::LAST_VERSION.eq(last)))
                }
                None => tx.create(Business {
                    business_id: business.clone(),
                    name: None,
                    last_version: 1,
                    created_at: UtcTime::default(),
                    updated_at: UtcTime::default(),
                }),
            };
            let theme = Theme {
                business_id: business.clone(),
                version: last + 1,
                status: Status::Draft,
                metadata: metadata.clone(),
                assets: assets.clone(),
                updated_at: tx.now().second(),
                revision: 0,
                time_to_archive: None,
            };
            tx.create(theme.clone());
            match tx.commit().await? {
                Committed => return Ok(Theme { revision: 1, ..theme }),
                Canceled(_) => {}
            }
        }
    }

    /// Changes a draft, if it is still a draft and unchanged since it was read.
    pub async fn edit_draft(
        &self,
        draft: &Theme,
        metadata: BTreeMap<String, String>,
    ) -> Result<Outcome<Theme>> {
        let change = draft.change().set(Theme::METADATA, metadata);
        self.db.update(change.when(Theme::STATUS.eq(Status::Draft))).await
    }

    /// Sets the time at which a draft expires.
    pub async fn archive_draft(
        &self,
        business: &Id,
        version: u32,
        at: UtcTime,
    ) -> Result<Outcome<Theme>> {
        let change = Theme::key(business, version).change();
        let change = change.set(Theme::TIME_TO_ARCHIVE, at.as_secs());
        self.db.update(change.when(Theme::STATUS.eq(Status::Draft))).await
    }

    /// Publishes a draft permanently, if the marker is at the `expected` version (`None`: nothing
    /// was published yet).
    pub async fn publish(
        &self,
        business: &Id,
        version: u32,
        expected: Option<u32>,
        by: &Id,
    ) -> Result<Moved> {
        let mut tx = self.db.transaction();
        let expiry = Theme::TIME_TO_ARCHIVE;
        let is_current = expiry.not_exists().or(expiry.gt(tx.now().second().as_secs()));
        let change = Theme::key(business, version).change().set(Theme::STATUS, Status::Published);
        // A published theme never expires.
        let change = change.clear(Theme::TIME_TO_ARCHIVE);
        let theme = tx.update(change.when(Theme::STATUS.eq(Status::Draft).and(is_current)));
        move_marker(tx, theme, business, version, expected, by).await
    }

    /// Shows an earlier published theme again, if the marker is at the `expected` version.
    pub async fn roll_back(
        &self,
        business: &Id,
        version: u32,
        expected: u32,
        by: &Id,
    ) -> Result<Moved> {
        let mut tx = self.db.transaction();
        let is_published = Theme::STATUS.eq(Status::Published);
        let theme = tx.check(&Theme::key(business, version), is_published);
        move_marker(tx, theme, business, version, Some(expected), by).await
    }

    /// Creates an asset, and its link in the business.
    pub async fn add_asset(&self, asset: Asset, scope: &str) -> Result<Outcome<Asset>> {
        let mut tx = self.db.transaction();
        let asset = Asset { updated_at: tx.now().second(), ..asset };
        let created = tx.create(asset.clone());
        tx.put(AssetLink {
            business_id: asset.business_id.clone(),
            asset_id: asset.asset_id.clone(),
            scope: scope.to_owned(),
        });
        Ok(match tx.commit().await? {
            Committed => Outcome::Done(asset),
            Canceled(c) => Outcome::Lost(c.current(&created)?),
        })
    }
}

/// Moves the marker from the expected version to this one, in the transaction of a step on the theme.
async fn move_marker(
    mut tx: Transaction<'_>,
    theme: Step<Theme>,
    business: &Id,
    version: u32,
    expected: Option<u32>,
    by: &Id,
) -> Result<Moved> {
    let now = tx.now().second();
    let marker = match expected {
        None => tx.create(Marker {
            business_id: business.clone(),
            version,
            published_at: now,
            published_by: by.clone(),
            updated_at: now,
        }),
        Some(expected) => tx.update(
            Marker::key(business)
                .change()
                .set(Marker::VERSION, version)
                .set(Marker::PUBLISHED_AT, now)
                .set(Marker::PUBLISHED_BY, by)
                .when(Marker::VERSION.eq(expected)),
        ),
    };
    Ok(match tx.commit().await? {
        Committed => Moved::Done,
        // If both conditions failed, the winner may have published this theme.
        Canceled(c) if c.failed(&marker) => Moved::Elsewhere(c.current(&marker)?),
        Canceled(c) => Moved::Unsuitable(c.current(&theme)?),
    })
}
