//! Files: what is known of them. The files themselves are in a bucket, and come later.

use tabla::entity::{Change, Entity, Id, Page, Transacted, UtcTime};
use tabla::{Cursor, Error, Result, RetryMode};

use super::{Added, Gamificacion, leaves, profile_key, stays};
use crate::entities::*;
use crate::patterns;

/// A file that is to be uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Which: an identifier that no file has.
    pub asset_id: Id,
    /// Whose.
    pub user_id: Id,
    /// The product that it shows.
    pub product_id: Option<Id>,
    /// What is shown first and has it as its picture.
    pub featured_id: Option<Id>,
    /// The name of the file in the bucket.
    pub object_key: String,
    /// What kind of file it is.
    pub content_type: String,
    /// How many bytes it has.
    pub size: u64,
}

/// What became of confirming an upload.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Confirmed {
    /// The file is ready, and linked to its user.
    Done,
    /// It was ready before: here it is.
    Already(Asset),
    /// It took too long, and is as good as gone.
    Expired,
    /// There is no such file.
    Missing,
    /// Its user is not there any more, or is being deleted.
    NoUser,
}

impl Gamificacion {
    /// Pattern 4a: what is known of a file. One that has expired is not there, be it still stored
    /// or not.
    pub async fn asset(&self, asset: &Id) -> Result<Option<Asset>> {
        let found = self.stored_asset(asset).await?;
        Ok(found.filter(|asset| !asset.is_expired(self.now())))
    }

    async fn stored_asset(&self, asset: &Id) -> Result<Option<Asset>> {
        self.db.get(&asset_key(asset)).await
    }

    /// Pattern 4d: a page of the files of a user.
    pub async fn assets(&self, user: &Id, after: Option<Cursor>) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets(user).after(after)).await
    }

    /// Pattern 4e: a page of the files of a user's product. They are filtered out of a page of the
    /// user's files: a page may have few, or none, and still not be the last.
    pub async fn assets_of_product(
        &self,
        user: &Id,
        product: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets_of_product(user, product).after(after)).await
    }

    /// Pattern 4f: a page of the files of something that a user shows first, filtered in the same
    /// way.
    pub async fn assets_of_featured(
        &self,
        user: &Id,
        featured: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<AssetLink>> {
        self.db.page(patterns::assets_of_featured(user, featured).after(after)).await
    }

    /// Pattern 4b: begins an upload: a file of a user's that is pending, and expires unless it is
    /// confirmed. It is not linked to the user yet, so that nothing points to it when it expires.
    /// One that has expired and is still stored is in nobody's way: it goes first.
    pub async fn begin_upload(&self, upload: Upload) -> Result<Added<Asset>> {
        let user = upload.user_id.clone();
        let mut pending = Asset {
            asset_id: upload.asset_id,
            user_id: upload.user_id,
            product_id: upload.product_id,
            featured_id: upload.featured_id,
            object_key: upload.object_key,
            content_type: upload.content_type,
            size: upload.size,
            status: AssetStatus::Pending,
            expires_at: None,
            created_at: UtcTime::default(),
            updated_at: UtcTime::default(),
        };
        let mut tries = self.db.start_attempts(RetryMode::Idempotent, "to begin an upload");
        loop {
            let now = self.now();
            pending.expires_at = Some(now.plus(self.settings.upload_window).as_secs());
            let present = match self.add(&user, pending.clone()).await? {
                Added::Exists(present) if present.is_expired(now) => present,
                added => return Ok(added),
            };
            // Others may have begun it anew: only what has expired goes.
            let is_over =
                Asset::STATUS.eq(AssetStatus::Pending).and(Asset::EXPIRES_AT.le(now.as_secs()));
            let transaction =
                self.db.transaction().delete("asset", &present.key(), Some(is_over))?;
            match tries.check(transaction.run().await)? {
                // Whatever is there next has its whole window before it.
                Some(Transacted::Done) => {}
                Some(Transacted::Lost(_)) | None => tries.next_attempt().await?,
            }
        }
    }

    /// Pattern 4c: confirms that a file has arrived: it is ready, expires no more, and is linked to its user.
    pub async fn confirm_upload(&self, asset: &Id) -> Result<Confirmed> {
        let now = self.now();
        let Some(read) = self.stored_asset(asset).await? else { return Ok(Confirmed::Missing) };
        if let Some(why) = not_confirmed(read.clone(), now) {
            return Ok(why);
        }
        let link = AssetLink {
            user_id: read.user_id.clone(),
            asset_id: asset.clone(),
            product_id: read.product_id,
            featured_id: read.featured_id,
            created_at: UtcTime::default(),
            updated_at: UtcTime::default(),
        };
        // What has expired may still be stored: it must not come back.
        let is_open =
            Asset::STATUS.eq(AssetStatus::Pending).and(Asset::EXPIRES_AT.gt(now.as_secs()));
        let ready = Change::at(asset_key(asset))
            .set(Asset::STATUS, AssetStatus::Ready)
            .clear(Asset::EXPIRES_AT)
            .when(is_open);
        let transaction = self
            .db
            .transaction()
            .update("asset", ready)?
            .create("link", link)?
            .check("user", &profile_key(&read.user_id), Some(stays()))?;
        match transaction.run().await? {
            Transacted::Done => Ok(Confirmed::Done),
            Transacted::Lost(lost) if lost.is_lost("asset") => {
                let why = lost.current("asset")?.and_then(|asset| not_confirmed(asset, now));
                Ok(why.unwrap_or(Confirmed::Missing))
            }
            Transacted::Lost(lost) if lost.is_lost("user") => Ok(Confirmed::NoUser),
            Transacted::Lost(_) => {
                Err(Error::corrupt(format!("the file {asset} is pending, and linked to its user")))
            }
        }
    }

    /// Deletes what is known of a file, and its link. Says whether there was such a file.
    pub async fn delete_asset(&self, asset: &Id) -> Result<bool> {
        self.delete_asset_if(asset, None).await
    }

    /// The same for a file of a user who is leaving.
    pub(super) async fn delete_asset_of(&self, leaving: &Id, asset: &Id) -> Result<bool> {
        self.delete_asset_if(asset, Some(leaving)).await
    }

    async fn delete_asset_if(&self, asset: &Id, leaving: Option<&Id>) -> Result<bool> {
        let key = asset_key(asset);
        let mut tries = self.db.start_attempts(RetryMode::OnlyIfNotApplied, "to delete a file");
        loop {
            let Some(read) = self.stored_asset(asset).await? else { return Ok(false) };
            let is_it = Asset::STATUS.eq(read.status).and(Asset::USER_ID.eq(&read.user_id));
            let mut transaction = self.db.transaction().delete("asset", &key, Some(is_it))?;
            if let Some(leaving) = leaving {
                if read.user_id != *leaving {
                    return Ok(false);
                }
                transaction = transaction.check("user", &profile_key(leaving), Some(leaves()))?;
            }
            let transaction = match read.status {
                // One that is pending has no link.
                AssetStatus::Pending => transaction,
                AssetStatus::Ready => {
                    let link = AssetLinkKey { user_id: read.user_id, asset_id: asset.clone() };
                    transaction.delete("link", &link, None)?
                }
            };
            match tries.check(transaction.run().await)? {
                Some(Transacted::Done) => return Ok(true),
                Some(Transacted::Lost(lost)) if lost.is_lost("user") => return Ok(false),
                // It was confirmed or deleted meanwhile, and perhaps begun anew: look again.
                Some(Transacted::Lost(lost)) if lost.is_lost("asset") => {}
                Some(Transacted::Lost(_)) => {
                    return Err(Error::corrupt(format!(
                        "the file {asset} is ready, and not linked"
                    )));
                }
                None => {}
            }
            tries.next_attempt().await?;
        }
    }
}

fn asset_key(asset: &Id) -> AssetKey {
    AssetKey { asset_id: asset.clone() }
}

/// Why an upload cannot be confirmed; `None` if it can.
fn not_confirmed(asset: Asset, now: UtcTime) -> Option<Confirmed> {
    match asset.status {
        AssetStatus::Ready => Some(Confirmed::Already(asset)),
        AssetStatus::Pending if asset.is_expired(now) => Some(Confirmed::Expired),
        AssetStatus::Pending => None,
    }
}
