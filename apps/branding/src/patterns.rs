//! Access patterns of the document, and those that its operations need.

use tabla::entity::{EntityQuery, Id, KeyPart, Pattern};
use tabla_kit::{AtLine, Documented};

use crate::entities::*;

/// Unexpired drafts of a business, oldest first.
pub fn drafts(business: &Id) -> EntityQuery<Theme> {
    themes(business).filter(Theme::STATUS.eq(Status::Draft)).unexpired()
}

/// Themes of a business, oldest first.
pub fn themes(business: &Id) -> EntityQuery<Theme> {
    Theme::of(business).into_query()
}

/// Links to the assets of a business.
pub fn assets(business: &Id) -> EntityQuery<AssetLink> {
    AssetLink::of(business).into_query()
}

fn business() -> Id {
    Id::example("business")
}

/// All patterns.
pub(crate) fn patterns() -> Vec<Documented> {
    vec![
        Pattern::new("published_theme", "the theme that a business shows")
            .number("1")
            .get::<Marker>()
            .get::<Theme>()
            .at_line(34),
        Pattern::new("drafts", "current drafts of a business")
            .number("2")
            .find(|| drafts(&business()).describe())
            .at_line(35),
        Pattern::new("theme", "one version, for a preview").number("3").get::<Theme>().at_line(36),
        Pattern::new("asset", "an asset by its id").number("4").get::<Asset>().at_line(37),
        Pattern::new("assets", "assets of a business")
            .number("4b")
            .find(|| assets(&business()).describe())
            .at_line(37),
        Pattern::new("latest_themes", "versions, newest first")
            .find(|| themes(&business()).descending().limit(5).describe())
            .at_line(14),
        Pattern::new("business", "a business by its id").get::<Business>().at_line(27),
        Pattern::new("create_draft", "a draft with the next number, here the first")
            .get::<Business>()
            .transaction(|writes| writes.create::<Business>().create::<Theme>())
            .at_line(66),
        Pattern::new("edit_draft", "change a draft that is unchanged since it was read")
            .write(|write| write.update::<Theme>())
            .at_line(66),
        Pattern::new("archive_draft", "set the expiry of a draft")
            .write(|write| write.update::<Theme>())
            .at_line(123),
        Pattern::new("publish", "publish a draft, if the marker is at the expected version")
            .transaction(|writes| writes.update::<Theme>().create::<Marker>())
            .at_line(52),
        Pattern::new("roll_back", "show an earlier theme again")
            .transaction(|writes| writes.check::<Theme>().update::<Marker>())
            .at_line(64),
        Pattern::new("add_asset", "an asset and its link")
            .transaction(|writes| writes.create::<Asset>().put::<AssetLink>())
            .at_line(31),
    ]
}
