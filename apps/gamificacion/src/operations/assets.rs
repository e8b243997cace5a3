//! Files: their metadata. The files themselves will be objects in a bucket.

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Id, Page, UtcTime};
use tabla::{Cursor, Error, Result};

use super::{Added, Gamificacion, leaves, stays};
use crate::entities::*;
use crate::patterns;

/// Outcome of confirming an upload.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Confirmed {
    /// The file is ready and linked to its user.
    Done,
    /// The file was ready before.
    Already(Asset),
    /// The upload took longer than [`Settings::upload_window`](crate::Settings::upload_window).
    Expired,
    /// There is no such file.
    Missing,
    /// The user does not exist or is being deleted.
    NoUser,
}

impl Gamificacion {
    /// Pattern 4a: metadata of a file; `None` if it has expired.
    pub async fn asset(&self, asset: &Id) -> Result<Option<Asset>> {
        let now = self.db.now().second();
        let found = self.db.get(&Asset::key(asset)).await?;
        Ok(found.filter(|asset| !asset.is_expired(now)))
    }

    /// Pattern 4d: page of the files of a user.
    pub async fn assets(&self, user: &Id, after: Option<Cursor>) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets(user).after(after)).await
    }

    /// Pattern 4e: page of the files of a user's product. The product is a filter, so that a page
    /// with few files, or none, need not be the last.
    pub async fn assets_of_product(
        &self,
        user: &Id,
        product: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets_of_product(user, product).after(after)).await
    }

    /// Pattern 4f: page of the files of a user's featured entry, filtered like those of a product.
    pub async fn assets_of_featured(
        &self,
        user: &Id,
        featured: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets_of_featured(user, featured).after(after)).await
    }

    /// Pattern 4b: creates a pending asset, which expires unless it is confirmed. The link to the
    /// user is created with the confirmation, so that nothing refers to an expired asset. An asset
    /// that has expired and is still stored is deleted first.
    pub async fn begin_upload(&self, upload: Upload) -> Result<Added<Asset>> {
        let Upload { asset_id, user_id, product_id, featured_id, object_key, content_type, size } =
            upload;
        let mut pending = Asset {
            asset_id,
            user_id,
            product_id,
            featured_id,
            object_key,
            content_type,
            size,
            status: AssetStatus::Pending,
            expires_at: None,
            created_at: UtcTime::default(),
            updated_at: UtcTime::default(),
        };
        let mut attempts = self.db.optimistic("begin an upload");
        loop {
            let mut tx = attempts.begin().await?;
            let now = tx.now().second();
            pending.expires_at = Some(now.plus(self.settings.upload_window).as_secs());
            let asset = tx.create(pending.clone());
            let user = tx.check(&Profile::key(&pending.user_id), stays());
            match Added::of(tx.commit().await?, &asset, &user)? {
                Added::Exists(present) if present.is_expired(now) => {}
                added => return Ok(added),
            }
            // With a token the deletion is sent again after a lost response.
            let mut tx = attempts.begin().await?.token(self.db.env().token());
            // A concurrent caller may have begun the upload again.
            let is_expired =
                Asset::STATUS.eq(AssetStatus::Pending).and(Asset::EXPIRES_AT.le(now.as_secs()));
            tx.delete_if(&Asset::key(&pending.asset_id), is_expired);
            let _ = tx.commit().await?;
        }
    }

    /// Pattern 4c: makes a pending file ready, clears its expiry and links it to its user.
    pub async fn confirm_upload(&self, asset: &Id) -> Result<Confirmed> {
        let mut attempts = self.db.optimistic("confirm an upload");
        loop {
            let mut tx = attempts.begin().await?;
            let now = tx.now().second();
            let Some(read) = tx.get(&Asset::key(asset)).await? else {
                return Ok(Confirmed::Missing);
            };
            match read.status {
                AssetStatus::Ready => return Ok(Confirmed::Already(read)),
                AssetStatus::Pending if read.is_expired(now) => return Ok(Confirmed::Expired),
                AssetStatus::Pending => {}
            }
            let is_open =
                Asset::STATUS.eq(AssetStatus::Pending).and(Asset::EXPIRES_AT.gt(now.as_secs()));
            let ready = read.change().set(Asset::STATUS, AssetStatus::Ready);
            let ready = tx.update(ready.clear(Asset::EXPIRES_AT).when(is_open));
            let user = Profile::key(&read.user_id);
            tx.create(AssetLink {
                user_id: read.user_id,
                asset_id: read.asset_id,
                product_id: read.product_id,
                featured_id: read.featured_id,
                created_at: UtcTime::default(),
                updated_at: UtcTime::default(),
            });
            let user = tx.check(&user, stays());
            match tx.commit().await? {
                Committed => return Ok(Confirmed::Done),
                Canceled(c) if c.failed(&ready) => {}
                Canceled(c) if c.failed(&user) => return Ok(Confirmed::NoUser),
                Canceled(_) => {
                    return Err(Error::corrupt(format!(
                        "cannot confirm file {asset}: it is pending and already linked to its user"
                    )));
                }
            }
        }
    }

    /// Deletes the metadata of a file and its link. `false`: there is no such file.
    pub async fn delete_asset(&self, asset: &Id) -> Result<bool> {
        self.delete_asset_if(asset, None).await
    }

    /// Deletes a file of a user who is leaving.
    pub(super) async fn delete_asset_of(&self, leaving: &Id, asset: &Id) -> Result<bool> {
        self.delete_asset_if(asset, Some(leaving)).await
    }

    async fn delete_asset_if(&self, asset: &Id, leaving: Option<&Id>) -> Result<bool> {
        let mut attempts = self.db.optimistic("delete a file");
        loop {
            let mut tx = attempts.begin().await?;
            let Some(read) = tx.get(&Asset::key(asset)).await? else { return Ok(false) };
            if leaving.is_some_and(|user| *user != read.user_id) {
                return Ok(false);
            }
            let is_same = Asset::STATUS.eq(read.status).and(Asset::USER_ID.eq(&read.user_id));
            tx.delete_if(&Asset::key(asset), is_same);
            let user = leaving.map(|user| tx.check(&Profile::key(user), leaves()));
            // A pending file has no link.
            let link = (read.status == AssetStatus::Ready)
                .then(|| tx.delete(&AssetLink::key(&read.user_id, asset)));
            match tx.commit().await? {
                Committed => return Ok(true),
                Canceled(c) if user.is_some_and(|user| c.failed(&user)) => return Ok(false),
                Canceled(c) if link.is_some_and(|link| c.only(&link)) => {
                    return Err(Error::corrupt(format!(
                        "cannot delete file {asset}: it is ready and not linked to its user"
                    )));
                }
                Canceled(_) => {}
            }
        }
    }
}
