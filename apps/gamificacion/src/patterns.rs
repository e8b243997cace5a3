//! Access patterns of the document, and those of the operations.

use tabla::entity::{EntityQuery, Id, KeyPart, Pattern};
use tabla_kit::{AtLine, Documented};

use crate::entities::*;

/// Items on a page of a list.
pub const PAGE: u32 = 50;

/// Item collection of a user, to be read into a [`Panel`].
pub fn panel(user: &Id) -> EntityQuery<Profile> {
    Profile::of(user).whole_partition()
}

/// The user with a code: one, or none.
pub fn user_by_code(code: &Id) -> EntityQuery<Profile> {
    Profile::by_code(code).limit(1)
}

/// Goals of a user.
pub fn goals(user: &Id) -> EntityQuery<Goal> {
    Goal::of(user).limit(PAGE)
}

/// Products of a user.
pub fn products(user: &Id) -> EntityQuery<Product> {
    Product::of(user).limit(PAGE)
}

/// Featured entries of a user.
pub fn featured(user: &Id) -> EntityQuery<Featured> {
    Featured::of(user).limit(PAGE)
}

/// Network of a user.
pub fn network(user: &Id) -> EntityQuery<NetworkMember> {
    NetworkMember::of(user).limit(PAGE)
}

/// Members of a level in all networks.
pub fn members_by_level(level: &Id) -> EntityQuery<NetworkMember> {
    NetworkMember::by_level(level).limit(PAGE)
}

/// Members of a level in a user's network.
pub fn members_of_user_by_level(user: &Id, level: &Id) -> EntityQuery<NetworkMember> {
    NetworkMember::by_level(level).user_id(user).limit(PAGE)
}

/// Members with a status in all networks.
pub fn members_by_status(status: &Id) -> EntityQuery<NetworkMember> {
    NetworkMember::by_status(status).limit(PAGE)
}

/// Members with a status in a user's network.
pub fn members_of_user_by_status(user: &Id, status: &Id) -> EntityQuery<NetworkMember> {
    NetworkMember::by_status(status).user_id(user).limit(PAGE)
}

/// Members of a level with a status in all networks. The level is a filter.
pub fn members_by_level_and_status(level: &Id, status: &Id) -> EntityQuery<NetworkMember> {
    members_by_status(status).filter(NetworkMember::LEVEL.eq(level))
}

/// Members of a level with a status in a user's network.
pub fn members_of_user_by_level_and_status(
    user: &Id,
    level: &Id,
    status: &Id,
) -> EntityQuery<NetworkMember> {
    members_of_user_by_status(user, status).filter(NetworkMember::LEVEL.eq(level))
}

/// Files of a user.
pub fn assets(user: &Id) -> EntityQuery<AssetLink> {
    AssetLink::of(user).limit(PAGE)
}

/// Files of a user's product.
pub fn assets_of_product(user: &Id, product: &Id) -> EntityQuery<AssetLink> {
    assets(user).filter(AssetLink::PRODUCT_ID.eq(product))
}

/// Files of a user's featured entry.
pub fn assets_of_featured(user: &Id, featured: &Id) -> EntityQuery<AssetLink> {
    assets(user).filter(AssetLink::FEATURED_ID.eq(featured))
}

/// Products with a badge, of all users.
pub fn products_by_badge(badge: &Id) -> EntityQuery<Product> {
    Product::by_badge(badge).limit(PAGE)
}

fn user() -> Id {
    Id::example("userId")
}

fn level() -> Id {
    Id::example("level")
}

fn status() -> Id {
    Id::example("status")
}

/// All patterns. The reads come first, because the writes would change their answers.
pub(crate) fn patterns() -> Vec<Documented> {
    let mut all = of_a_user();
    all.extend(of_networks());
    all.extend(of_media());
    all.extend(writes());
    all
}

fn of_a_user() -> Vec<Documented> {
    vec![
        Pattern::new("panel", "everything about a user")
            .number("1")
            .find(|| panel(&user()).describe())
            .at_line(27),
        Pattern::new("profile", "who a user is").number("1a").get::<Profile>().at_line(28),
        Pattern::new("dashboard", "the figures of a user")
            .number("1b")
            .get::<Dashboard>()
            .at_line(28),
        Pattern::new("goals", "goals of a user")
            .number("1c")
            .find(|| goals(&user()).describe())
            .at_line(28),
        Pattern::new("products", "products of a user")
            .number("1d")
            .find(|| products(&user()).describe())
            .at_line(28),
        Pattern::new("featured", "what a user shows first")
            .number("1e")
            .find(|| featured(&user()).describe())
            .at_line(28),
        Pattern::new("network", "network of a user")
            .number("1f")
            .find(|| network(&user()).describe())
            .at_line(28),
        Pattern::new("user_by_code", "a user by their code")
            .number("2")
            .find(|| user_by_code(&Id::example("code")).describe())
            .at_line(29),
        Pattern::new("panel_by_code", "everything about the user with a code")
            .number("2b")
            .find(|| user_by_code(&Id::example("code")).describe())
            .find(|| panel(&user()).describe())
            .at_line(20),
    ]
}

fn of_networks() -> Vec<Documented> {
    vec![
        Pattern::new("members_by_level", "members of a level")
            .number("3a")
            .find(|| members_by_level(&level()).describe())
            .at_line(31),
        Pattern::new("members_of_user_by_level", "members of a level, of a user")
            .number("3b")
            .find(|| members_of_user_by_level(&user(), &level()).describe())
            .at_line(31),
        Pattern::new("members_by_status", "members with a status")
            .number("3c")
            .find(|| members_by_status(&status()).describe())
            .at_line(31),
        Pattern::new("members_of_user_by_status", "members with a status, of a user")
            .number("3d")
            .find(|| members_of_user_by_status(&user(), &status()).describe())
            .at_line(31),
        Pattern::new("members_by_level_and_status", "members of a level and with a status")
            .number("3e")
            .find(|| members_by_level_and_status(&level(), &status()).describe())
            .at_line(31),
        Pattern::new("members_of_user_by_level_and_status", "the same, of a user")
            .number("3f")
            .find(|| members_of_user_by_level_and_status(&user(), &level(), &status()).describe())
            .at_line(31),
    ]
}

fn of_media() -> Vec<Documented> {
    vec![
        Pattern::new("asset", "a file by its id").number("4a").get::<Asset>().at_line(33),
        Pattern::new("assets", "files of a user")
            .number("4d")
            .find(|| assets(&user()).describe())
            .at_line(39),
        Pattern::new("assets_of_product", "files of a product")
            .number("4e")
            .find(|| assets_of_product(&user(), &Id::example("productId")).describe())
            .at_line(39),
        Pattern::new("assets_of_featured", "files of what is shown first")
            .number("4f")
            .find(|| assets_of_featured(&user(), &Id::example("featuredId")).describe())
            .at_line(39),
        Pattern::new("products_by_badge", "products with a badge")
            .find(|| products_by_badge(&Id::example("badge")).describe())
            .at_line(24),
    ]
}

fn writes() -> Vec<Documented> {
    vec![
        Pattern::new("create_user", "a user with a code of their own")
            .transaction(|writes| writes.create::<Profile>().create::<Dashboard>())
            .at_line(44),
        Pattern::new("change_code", "another code for a user")
            .transaction(|writes| writes.update::<Profile>().changing(Profile::USER_CODE))
            .get::<Profile>()
            .at_line(20),
        Pattern::new("add_goal", "a goal of a user that is there")
            .transaction(|writes| writes.create::<Goal>().check::<Profile>())
            .at_line(12),
        Pattern::new("advance_goal", "progress towards a goal")
            .write(|write| write.update::<Goal>())
            .at_line(15),
        Pattern::new("complete_goal", "a goal that was reached, counted once")
            .get::<Goal>()
            .transaction(|writes| writes.update::<Goal>().update::<Dashboard>())
            .at_line(44),
        Pattern::new("award_points", "points for a user")
            .write(|write| write.update::<Dashboard>())
            .at_line(15),
        Pattern::new("add_product", "a product of a user that is there")
            .transaction(|writes| writes.create::<Product>().check::<Profile>())
            .at_line(12),
        Pattern::new("set_badge", "the badge of a product")
            .write(|write| write.update::<Product>().changing(Product::BADGE))
            .at_line(24),
        Pattern::new("add_featured", "something that a user shows first")
            .transaction(|writes| writes.create::<Featured>().check::<Profile>())
            .at_line(12),
        Pattern::new("add_member", "a member, counted")
            .transaction(|writes| {
                writes.create::<NetworkMember>().update::<Dashboard>().check::<Profile>()
            })
            .at_line(44),
        Pattern::new("change_level", "another level for a member")
            .write(|write| write.update::<NetworkMember>().changing(NetworkMember::LEVEL))
            .at_line(21),
        Pattern::new("change_status", "another status for a member")
            .write(|write| write.update::<NetworkMember>().changing(NetworkMember::STATUS))
            .at_line(22),
        Pattern::new("remove_member", "a member who leaves, counted")
            .transaction(|writes| writes.delete::<NetworkMember>().update::<Dashboard>())
            .at_line(44),
        Pattern::new("begin_upload", "a pending file that expires by itself")
            .number("4b")
            .transaction(|writes| writes.create::<Asset>().check::<Profile>())
            .at_line(42),
        Pattern::new("confirm_upload", "a file that has arrived, and its link")
            .number("4c")
            .get::<Asset>()
            .transaction(|writes| writes.update::<Asset>().create::<AssetLink>().check::<Profile>())
            .at_line(33),
        Pattern::new("delete_asset", "a file and its link")
            .get::<Asset>()
            .transaction(|writes| writes.delete::<Asset>().delete::<AssetLink>())
            .at_line(44),
        Pattern::new("delete_user", "a user who leaves, with everything that they have")
            .write(|write| write.update::<Profile>())
            .find(|| panel(&user()).describe())
            .get::<Profile>()
            .transaction(|writes| writes.delete::<Profile>().delete::<Dashboard>())
            .at_line(44),
    ]
}
