//! Single table of RK_PAI with its twelve indexes.

use super::super::prelude::*;
use super::create;

/// Indexes by number and name. Numbers 4 and 12 are not used.
const INDEXES: [(u32, &str); 12] = [
    (1, "IndiceEmail"),
    (2, "IndiceDispositivo"),
    (3, "IndicePerfilUsuario"),
    (5, "IndiceContratoUsuario"),
    (6, "IndiceConfigPorOrigenContrato"),
    (7, "IndiceCatContratoPorOrigenIdContrato"),
    (8, "IndiceCatCicloPorOrigenContrato"),
    (9, "IndiceModuloPerfil"),
    (10, "IndiceServicioPerfil"),
    (11, "IndiceUsuarioGrupos"),
    (13, "IndiceDashConfParamsPorParametro"),
    (14, "IndiceBitacoraPorElemento"),
];

fn index_name(number: u32) -> String {
    let (_, name) =
        INDEXES.iter().find(|index| index.0 == number).expect("the table has the index");
    format!("GSI{number}-{name}")
}

fn request() -> CreateTable {
    let keys = CreateTable::new("RK_PAI_SINGLE_TABLE_DEV")
        .partition_key("_pk", KeyType::S)
        .sort_key("_sk", KeyType::S);
    INDEXES.iter().fold(keys, |request, (number, _)| {
        let (partition, sort) = (format!("GSI{number}PK"), format!("GSI{number}SK"));
        let index = SecondaryIndex::new(index_name(*number))
            .partition_key(&*partition)
            .sort_key(&*sort)
            .projection(IndexProjection::all());
        request.attribute(partition, KeyType::S).attribute(sort, KeyType::S).global_index(index)
    })
}

fn row(pk: &str, sk: &str) -> Item {
    item! { "_pk" => pk, "_sk" => sk }
}

/// Adds the item to this index, with this key and sorted by its `_pk`, or by `_sk` in the log.
fn indexed(item: Item, number: u32, key: &str) -> Item {
    let by = if number == 14 { "_sk" } else { "_pk" };
    let sort = item.get(by).expect("items have keys").to_value();
    item.with(format!("GSI{number}PK"), key).with(format!("GSI{number}SK"), sort)
}

/// Returns the document's form of a query: equality on the index's partition key.
fn by(table: &Table, number: u32, key: &str) -> Query {
    Query::new(table, format!("GSI{number}PK = :key").as_str())
        .index(index_name(number))
        .value(":key", key)
}

async fn table_with(ctx: &Ctx, items: impl IntoIterator<Item = Item>) -> Table {
    let table = create(ctx, request()).await;
    ctx.put_all(&table, items).await;
    table
}

pub(super) async fn table_has_twelve_indexes(ctx: Ctx) {
    let table = create(&ctx, request()).await;
    let description = ctx.ok(ctx.store().describe_table(DescribeTable::new(&table)).await);
    let mut names: Vec<String> =
        description.global_secondary_indexes.iter().map(|index| index.name.clone()).collect();
    let mut expected: Vec<String> = INDEXES.iter().map(|index| index_name(index.0)).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

fn user(id: &str, email: &str) -> Item {
    indexed(row(&format!("USUARIO#{id}"), "METADATA"), 1, &format!("EMAIL#{email}"))
}

pub(super) async fn user_is_found_by_email(ctx: Ctx) {
    let ana = user("1", "ana@example.com").with("nombre", "Ana");
    let table = table_with(&ctx, [ana.clone(), user("2", "eva@example.com")]).await;
    let query = Query::new(&table, "GSI1PK = :email").index("GSI1-IndiceEmail");
    let of = |email: &str| query.clone().value(":email", format!("EMAIL#{email}"));
    ctx.expect_query(of("ana@example.com"), &[ana]).await;
    ctx.expect_query(of("ANA@example.com"), &[]).await;
    ctx.expect_query(of("ana@example.co"), &[]).await;
}

pub(super) async fn users_are_found_by_origin_and_contract(ctx: Ctx) {
    let relation = |id: &str, contract: &str| {
        let key = format!("CONTRATO_USUARIO#{contract}");
        indexed(row(&format!("USUARIO#{id}"), &key), 5, &key)
    };
    let of_contract = [relation("1", "7#70"), relation("2", "7#70"), relation("3", "7#70")];
    let others = [relation("1", "7#700"), relation("4", "8#70")];
    let table = table_with(&ctx, of_contract.iter().rev().cloned().chain(others)).await;
    let query = Query::new(&table, "GSI5PK = :contrato")
        .index("GSI5-IndiceContratoUsuario")
        .value(":contrato", "CONTRATO_USUARIO#7#70");
    ctx.expect_query(query, &of_contract).await;
}

pub(super) async fn cycles_are_found_by_origin_and_contract(ctx: Ctx) {
    let cycle = |id: &str, contract: &str| {
        let item = row(&format!("CAT_CONTRATO_CICLO#{id}"), "METADATA");
        indexed(item, 8, &format!("ORIGEN#7#ID_CONTRATO#{contract}"))
    };
    let of_contract = [cycle("2025-01", "70"), cycle("2025-02", "70")];
    let items = [of_contract[1].clone(), cycle("2025-01-b", "71"), of_contract[0].clone()];
    let table = table_with(&ctx, items).await;
    let query = Query::new(&table, "GSI8PK = :origen_contrato")
        .index("GSI8-IndiceCatCicloPorOrigenContrato")
        .value(":origen_contrato", "ORIGEN#7#ID_CONTRATO#70");
    ctx.expect_query(query, &of_contract).await;
}

fn contract(company: &str, sort: &str, origin: &str, id: &str) -> Item {
    let item = row(&format!("CAT_CONTRATO#{company}"), sort);
    indexed(item, 7, &format!("ORIGEN#{origin}#ID_CONTRATO#{id}"))
}

pub(super) async fn prefix_of_index_partition_is_rejected(ctx: Ctx) {
    let table = table_with(&ctx, [contract("E1", "METADATA", "7", "70")]).await;
    let query = Query::new(&table, "begins_with(GSI7PK, :origen)")
        .index("GSI7-IndiceCatContratoPorOrigenIdContrato")
        .value(":origen", "ORIGEN#7#");
    ctx.expect_validation(ctx.store().query(query).await, "Query key condition not supported");
    let with_sort_key = Query::new(&table, "begins_with(GSI7PK, :origen) AND GSI7SK = :empresa")
        .index("GSI7-IndiceCatContratoPorOrigenIdContrato")
        .value(":origen", "ORIGEN#7#")
        .value(":empresa", "CAT_CONTRATO#E1");
    let result = ctx.store().query(with_sort_key).await;
    ctx.expect_validation(result, "Query key condition not supported");
}

pub(super) async fn links_list_the_contracts_of_an_origin(ctx: Ctx) {
    let table = create(&ctx, request()).await;
    let link =
        |origin: &str, id: &str| row(&format!("CAT_ORIGEN#{origin}"), &format!("CONTRATO#{id}"));
    let create = |item: Item, origin: &str, id: &str| {
        let unique = attr("_pk").not_exists();
        TransactWriteItems::new()
            .item(PutItem::new(&table, item).condition(unique.clone()))
            .item(PutItem::new(&table, link(origin, id)).condition(unique))
    };
    let first = contract("E1", "METADATA", "7", "70");
    let second = contract("E1", "CONTRATO#71", "7", "71");
    let third = contract("E2", "METADATA", "8", "80");
    for (item, origin, id) in [(&second, "7", "71"), (&first, "7", "70"), (&third, "8", "80")] {
        ctx.ok(ctx.store().transact_write(create(item.clone(), origin, id)).await);
    }
    let before = ctx.snapshot(&table).await;
    let taken = create(contract("E3", "METADATA", "7", "70"), "7", "70");
    let result = ctx.store().transact_write(taken).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_unchanged(&before).await;

    let of_origin = Query::new(&table, "#pk = :origen AND begins_with(#sk, :contrato)")
        .name("#pk", "_pk")
        .name("#sk", "_sk")
        .value(":origen", "CAT_ORIGEN#7")
        .value(":contrato", "CONTRATO#");
    ctx.expect_query(of_origin, &[link("7", "70"), link("7", "71")]).await;
    ctx.expect_query(by(&table, 7, "ORIGEN#7#ID_CONTRATO#71"), &[second]).await;
}

pub(super) async fn each_index_returns_its_items_alone(ctx: Ctx) {
    let rows = [
        ("USUARIO#1", "METADATA", 1, "EMAIL#ana@example.com"),
        ("USUARIO#1", "DISP#d1", 2, "DISP#d1"),
        ("USUARIO#1", "PERFIL#p1", 3, "PERFIL#p1"),
        ("USUARIO#1", "CONTRATO_USUARIO#7#70", 5, "CONTRATO_USUARIO#7#70"),
        ("CONF_GRUPO_CONTRATO#g1", "METADATA", 6, "ORIGEN#7#CONTRATO#70"),
        ("CAT_CONTRATO#E1", "METADATA", 7, "ORIGEN#7#ID_CONTRATO#70"),
        ("CAT_CONTRATO_CICLO#c1", "METADATA", 8, "ORIGEN#7#ID_CONTRATO#70"),
        ("CAT_PERFIL#p1", "CAT_MODULO#m1", 9, "CAT_MODULO#m1"),
        ("CAT_PERFIL#p1", "CAT_SERVICIO#s1", 10, "CAT_SERVICIO#s1"),
        ("GRUPO#g1", "USUARIO#1", 11, "USUARIO#1"),
        ("DASHB_CONF_PARAMS#x1", "METADATA", 13, "PARAMETRO#y1"),
        ("USUARIO#1", "LOG#2025-01-01T00:00:00Z#b1", 14, "ELEMENTO#e1"),
    ];
    let items = rows.map(|(pk, sk, number, key)| indexed(row(pk, sk), number, key));
    let plain = row("CAT_ORIGEN#7", "METADATA");
    let table = table_with(&ctx, items.iter().cloned().chain([plain.clone()])).await;
    for ((_, _, number, key), item) in rows.iter().zip(&items) {
        let entry = std::slice::from_ref(item);
        ctx.expect_index(&table, &index_name(*number), entry).await;
        ctx.expect_query(by(&table, *number, key), entry).await;
    }
    // An item without index keys is only in the table.
    ctx.put(&table, row("USUARIO#1", "METADATA")).await;
    ctx.expect_index(&table, &index_name(1), &[]).await;
    let mut all = items.to_vec();
    all[0] = row("USUARIO#1", "METADATA");
    all.push(plain);
    ctx.expect_table(&table, &all).await;
}

pub(super) async fn log_is_ordered_by_timestamp(ctx: Ctx) {
    let entry = |user: &str, at: &str, element: &str| {
        let item = row(&format!("USUARIO#{user}"), &format!("LOG#{at}"));
        indexed(item, 14, &format!("ELEMENTO#{element}"))
    };
    let log = [
        entry("2", "2025-01-01T10:00:00Z#b1", "e1"),
        entry("1", "2025-01-02T09:00:00Z#b2", "e1"),
        entry("2", "2025-01-02T09:00:00Z#b3", "e1"),
        entry("1", "2025-02-01T00:00:00Z#b4", "e1"),
    ];
    let other = entry("1", "2025-01-02T09:30:00Z#b5", "e2");
    let table = table_with(&ctx, log.iter().rev().cloned().chain([other])).await;
    ctx.expect_query(by(&table, 14, "ELEMENTO#e1"), &log).await;
    let latest_first: Vec<Item> = log.iter().rev().cloned().collect();
    ctx.expect_query(by(&table, 14, "ELEMENTO#e1").descending(), &latest_first).await;
    let on_a_day = Query::new(&table, "GSI14PK = :key AND begins_with(GSI14SK, :day)")
        .index(index_name(14))
        .value(":key", "ELEMENTO#e1")
        .value(":day", "LOG#2025-01-02");
    ctx.expect_query(on_a_day, &log[1..3]).await;
}

pub(super) async fn user_is_one_item_collection(ctx: Ctx) {
    let of_user = [
        row("USUARIO#t1", "CONTRATO_USUARIO#7#70"),
        row("USUARIO#t1", "DISP#d1"),
        row("USUARIO#t1", "ESTADOCUENTA#2025-01"),
        row("USUARIO#t1", "ESTADOCUENTA#2025-02"),
        row("USUARIO#t1", "METADATA"),
        row("USUARIO#t1", "PERFIL#p1"),
        row("USUARIO#t1", "RETIRO#2025-01-15"),
    ];
    let other = row("USUARIO#t10", "METADATA");
    let table = table_with(&ctx, of_user.iter().rev().cloned().chain([other])).await;
    let prefixed = |prefix: &str| {
        Query::new(&table, attr("_pk").eq("USUARIO#t1").and(attr("_sk").begins_with(prefix)))
    };
    ctx.expect_query(Query::new(&table, attr("_pk").eq("USUARIO#t1")), &of_user).await;
    ctx.expect_query(prefixed("ESTADOCUENTA#"), &of_user[2..4]).await;
    ctx.expect_query(prefixed("RETIRO#"), &of_user[6..]).await;
    ctx.expect_query(prefixed("PERFIL"), &of_user[5..6]).await;
    ctx.expect_query(prefixed("LOG#"), &[]).await;
    let months = attr("_sk").between("ESTADOCUENTA#2025-02", "ESTADOCUENTA#2025-12");
    let query = Query::new(&table, attr("_pk").eq("USUARIO#t1").and(months));
    ctx.expect_query(query, &of_user[3..4]).await;
}
