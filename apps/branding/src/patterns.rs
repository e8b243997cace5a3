//! The access patterns of the document, and those that its operations need.

use tabla::entity::{Entity, Find, Id, KeyPart, Pattern};

use crate::entities::*;

/// The current drafts of a business, oldest first: those that have not expired.
pub fn drafts(business: &Id) -> Find<Theme> {
    themes(business).filter(Theme::STATUS.eq(Status::Draft)).unexpired()
}

/// All themes of a business, oldest first.
pub fn themes(business: &Id) -> Find<Theme> {
    Theme::find().with(Theme::BUSINESS_ID, business)
}

/// The assets of a business.
pub fn assets(business: &Id) -> Find<AssetLink> {
    AssetLink::find().with(AssetLink::BUSINESS_ID, business)
}

fn business() -> Id {
    Id::example("business")
}

/// All of them.
pub(crate) fn patterns() -> Vec<Pattern> {
    vec![
        Pattern::new("published_theme", "the theme that a business shows")
            .number("1")
            .line(34)
            .get::<Marker>()
            .get::<Theme>(),
        Pattern::new("drafts", "current drafts of a business")
            .number("2")
            .line(35)
            .find(|| drafts(&business()).describe()),
        Pattern::new("theme", "one version, for a preview").number("3").line(36).get::<Theme>(),
        Pattern::new("asset", "an asset by its id").number("4").line(37).get::<Asset>(),
        Pattern::new("assets", "assets of a business")
            .number("4b")
            .line(37)
            .find(|| assets(&business()).describe()),
        Pattern::new("latest_themes", "versions, newest first")
            .line(14)
            .find(|| themes(&business()).descending().limit(5).describe()),
        Pattern::new("business", "a business by its id").line(27).get::<Business>(),
        Pattern::new("create_draft", "a draft with the next number, here the first")
            .line(66)
            .get::<Business>()
            .transaction(|writes| writes.create::<Business>().create::<Theme>()),
        Pattern::new("edit_draft", "change a draft that nobody else has changed")
            .line(66)
            .write(|write| write.update::<Theme>()),
        Pattern::new("archive_draft", "have a draft go later")
            .line(123)
            .write(|write| write.update::<Theme>()),
        Pattern::new("publish", "publish a draft, if the marker is where it is believed")
            .line(52)
            .transaction(|writes| writes.update::<Theme>().create::<Marker>()),
        Pattern::new("roll_back", "show an earlier theme again")
            .line(64)
            .transaction(|writes| writes.check::<Theme>().update::<Marker>()),
        Pattern::new("add_asset", "an asset and its link")
            .line(31)
            .transaction(|writes| writes.create::<Asset>().put::<AssetLink>()),
    ]
}
