//! Grammar of conditions: parentheses (16), syntax errors, precedence.

use crate::cases::prelude::*;
use crate::cases::texts::{Asked, Expected, values};

const REDUNDANT: &str = "The expression has redundant parentheses;";

/// Asserts syntax errors, given as rows of text, token and the quoted neighborhood of the token.
async fn syntax_errors(ctx: &Ctx, rows: &[(&str, &str, &str)]) {
    let mut asked = Asked::new(ctx).await;
    for (text, token, near) in rows {
        let problem = format!("Syntax error; token: \"{token}\", near: \"{near}\"");
        asked.ask(text, Expected::Refused(&problem)).await;
    }
    asked.done().await;
}

pub(super) async fn doubled_parentheses_are_rejected(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .refuse_all(
            REDUNDANT,
            &[
                "((a = :one))",
                "(((a = :one)))",
                "(a = :one) AND ((a = :one))",
                "(((a = :one) AND (a = :one)))",
                "NOT ((a = :one))",
                "((attribute_exists(a)))",
                "((a = :one)) = :one",
                "((a)) = :one",
                "a = ((:one))",
                "size(((st))) = :three",
                "a IN (((:one)))",
                // Redundant parentheses are reported before errors of names, functions,
                // placeholders and operands.
                "((name = :one))",
                "name = :one AND ((a = :one))",
                "((foo(a)))",
                "((a = :unknown))",
                "((begins_with(a, :one)))",
            ],
        )
        .await;
    for depth in [50, 300, 2000] {
        let text = format!("{}a=:one{}", "(".repeat(depth), ")".repeat(depth));
        asked.ask(&text, Expected::Refused(REDUNDANT)).await;
    }
    asked.done().await;
}

pub(super) async fn single_parentheses_are_accepted(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .hold(&[
            ("(a = :one)", true),
            ("(a = :two)", false),
            ("(a) = :one", true),
            ("a = (:one)", true),
            ("((a) = :one)", true),
            ("((a) = (:one))", true),
            ("(a = :one) AND (a = :one)", true),
            ("((a = :one) AND (a = :one))", true),
            ("((a = :one) AND (a = :two)) OR (a = :one)", true),
            ("(NOT (a = :one))", false),
            ("NOT (NOT (a = :one))", true),
            ("(attribute_exists(a))", true),
            ("attribute_exists((a))", true),
            ("size((st)) = :three", true),
            ("(size(st)) = :three", true),
            ("begins_with((st), (:a))", true),
            ("a IN ((:one))", true),
            ("a IN ((:two), (:one))", true),
            ("(a) BETWEEN (:zero) AND (:two)", true),
            ("(m.x) = :one", true),
        ])
        .await;
    asked.done().await;
}

pub(super) async fn parentheses_follow_the_same_rules_in_transactions(ctx: Ctx) {
    let item = item! { "pk" => "a", "n" => 1 };
    let table = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    let check = |text: &str| {
        let mut check = ConditionCheck::new(&table, item! { "pk" => "a" }, text);
        check.values = values(&[text]);
        check
    };
    let put = PutItem::new(&table, item! { "pk" => "b" });
    for text in ["((n = :one))", "(n = :one) AND ((n = :one))", "NOT ((n = :two))"] {
        let request = TransactWriteItems::new().item(put.clone()).item(check(text));
        ctx.expect_validation(
            ctx.store().transact_write(request).await,
            &format!("Invalid ConditionExpression: {REDUNDANT}"),
        );
    }
    ctx.expect_table(&table, std::slice::from_ref(&item)).await;
    let text = "((n = :one) AND (n < :two))";
    let request = TransactWriteItems::new().item(put).item(check(text));
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &[item, item! { "pk" => "b" }]).await;
}

pub(super) async fn truncated_expressions_are_syntax_errors(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked.ask("", Expected::Refused("The expression can not be empty;")).await;
    asked.done().await;
    syntax_errors(
        &ctx,
        &[
            (" ", "<EOF>", " "),
            ("\n", "<EOF>", "\n"),
            ("a", "<EOF>", "a"),
            (":one", "<EOF>", ":one"),
            ("a =", "<EOF>", "="),
            ("a = ", "<EOF>", "= "),
            ("a = :one AND", "<EOF>", "AND"),
            ("a = :one AND ", "<EOF>", "AND "),
            ("a = :one OR", "<EOF>", "OR"),
            ("a = :one AND (", "<EOF>", "("),
            ("NOT", "<EOF>", "NOT"),
            ("NOT a", "<EOF>", "a"),
            ("(a = :one", "<EOF>", ":one"),
            ("((a = :one)", "<EOF>", ")"),
            ("a = :one AND (a = :one AND (a = :one", "<EOF>", ":one"),
            ("attribute_exists(a", "<EOF>", "a"),
            ("begins_with(a,", "<EOF>", ","),
            ("a IN", "<EOF>", "IN"),
            ("a IN (:one", "<EOF>", ":one"),
            ("a BETWEEN :one", "<EOF>", ":one"),
            ("a BETWEEN :one AND", "<EOF>", "AND"),
            ("a BETWEEN :one AND :one AND :one", "<EOF>", ":one"),
        ],
    )
    .await;
}

pub(super) async fn misplaced_operators_are_syntax_errors(ctx: Ctx) {
    syntax_errors(
        &ctx,
        &[
            ("= :one", "=", "= :one"),
            ("a == :one", "=", "== :one"),
            ("a != :one", "!", "a !="),
            ("a < > :one", ">", "< > :one"),
            ("a <>= :one", "=", "<>= :one"),
            ("a =< :one", "<", "=< :one"),
            ("a > = :one", "=", "> = :one"),
            ("a = :one :one", ":one", ":one :one"),
            ("a = :one a = :one", "a", ":one a ="),
            ("a = :one b", "b", ":one b"),
            ("AND a = :one", "AND", "AND a"),
            ("a = :one AND AND a = :one", "AND", "AND AND a"),
            ("a = :one AND OR a = :one", "OR", "AND OR a"),
            ("a NOT = :one", "NOT", "a NOT ="),
            ("a = NOT :one", "NOT", "= NOT :one"),
            ("a = :one)", ")", ":one)"),
            ("(a = :one))", ")", "))"),
            ("a=:one)extra", ")", ":one)extra"),
            ("()", ")", "()"),
            ("a = ()", ")", "()"),
            ("a = :one, a = :one", ",", ":one, a"),
            ("a, b", ",", "a, b"),
            ("a = b = :one", "=", "b = :one"),
            ("a < b < :one", "<", "b < :one"),
            ("(a = n) = :one", "=", ") = :one"),
            ("a = (n = :one)", "=", "n = :one"),
            ("attribute_exists a", "a", "attribute_exists a"),
            ("attribute_exists(a))", ")", "))"),
            ("begins_with(st :a)", ":a", "st :a)"),
            ("begins_with(st,,:a)", ",", ",,:a"),
            ("begins_with(st,:a,)", ")", ",)"),
            ("begins_with(,)", ",", "(,)"),
            ("size()", ")", "()"),
            ("#a(a)", "(", "#a(a"),
            (":one(a)", "(", ":one(a"),
            ("m.size(a) = :one", "(", "size(a"),
            ("a IS NULL", "IS", "a IS NULL"),
            ("a LIKE :one", "LIKE", "a LIKE :one"),
        ],
    )
    .await;
}

pub(super) async fn literals_and_other_characters_are_syntax_errors(ctx: Ctx) {
    syntax_errors(
        &ctx,
        &[
            ("a = 5", "5", "= 5"),
            ("a = -5", "-", "= -5"),
            ("a = 5.5", "5", "= 5."),
            ("5 = a", "5", "5 ="),
            ("a = \"x\"", "\"", "= \"x"),
            ("a = 'x'", "'", "= 'x"),
            ("a = `x`", "`", "= `x"),
            ("a = $x", "$", "= $x"),
            ("a = @x", "@", "= @x"),
            ("a @", "@", "a @"),
            ("a & :one", "&", "a & :one"),
            ("a ~ :one", "~", "a ~ :one"),
            ("a * :one", "*", "a * :one"),
            ("a + :one = :one", "+", "a + :one"),
            ("a = a - :one", "-", "a - :one"),
            ("a = :one;", ";", ":one;"),
            ("a = :one -- c", "-", ":one --"),
            ("a = :one /* */", "/", ":one /*"),
            ("a-b = :one", "-", "a-b"),
            ("a$ = :one", "$", "a$ ="),
            ("_a = :one", "_", "_a"),
            ("_ = :one", "_", "_ ="),
            ("1a = :one", "1", "1a"),
            ("é = :one", "é", "é ="),
            ("aé = :one", "é", "aé ="),
            ("日本 = :one", "日", "日本"),
            ("a = 日本語", "日", "= 日本"),
            ("a ) é", ")", "a ) é"),
            ("a = \0", "\0", "= \0"),
            ("a = :", ":", "= :"),
            ("a = #", "#", "= #"),
            ("# = :one", "#", "# ="),
            ("##x = :one", "#", "##x"),
            ("a = ::one", ":", "= ::one"),
            ("a=:one:one", ":one", ":one:one"),
            ("a:b = :one", ":b", "a:b ="),
        ],
    )
    .await;
}

pub(super) async fn malformed_paths_are_syntax_errors(ctx: Ctx) {
    syntax_errors(
        &ctx,
        &[
            ("a. = :one", "=", ". = :one"),
            (".a = :one", ".", ".a"),
            ("a..b = :one", ".", "..b"),
            ("m.y.z = :one AND a..b = :one", ".", "..b"),
            ("a[] = :one", "]", "[] ="),
            ("a[0 = :one", "=", "0 = :one"),
            ("a]0[ = :one", "]", "a]0"),
            ("a[x] = :one", "x", "[x]"),
            ("a[:one] = :one", ":one", "[:one]"),
            ("a[#x] = :one", "#x", "[#x]"),
            ("a[0]b = :one", "b", "]b ="),
            ("a.[0] = :one", "[", ".[0"),
            ("a.0 = :one", "0", ".0 ="),
            ("a[1.5] = :one", ".", "1.5"),
            ("a[-1] = :one", "-", "[-1"),
            ("a[+1] = :one", "+", "[+1"),
            ("a[01] = :one", "1", "01]"),
            ("a[00] = :one", "0", "00]"),
            ("a[1e1] = :one", "e1", "1e1]"),
        ],
    )
    .await;
}

pub(super) async fn malformed_in_and_between_are_syntax_errors(ctx: Ctx) {
    syntax_errors(
        &ctx,
        &[
            ("a IN :one", ":one", "IN :one"),
            ("a IN ()", ")", "()"),
            ("a IN (:one,)", ")", ",)"),
            ("a IN (,:one)", ",", "(,:one"),
            ("a IN (:one :one)", ":one", ":one :one)"),
            ("a NOT IN (:one)", "NOT", "a NOT IN"),
            ("a BETWEEN :one :one", ":one", ":one :one"),
            ("a BETWEEN :one, :one", ",", ":one, :one"),
            ("a BETWEEN :one OR :one", "OR", ":one OR :one"),
            ("a BETWEEN (:one AND :one)", "AND", ":one AND :one"),
            ("a NOT BETWEEN :one AND :one", "NOT", "a NOT BETWEEN"),
        ],
    )
    .await;
}

pub(super) async fn syntax_error_quotes_three_tokens(ctx: Ctx) {
    syntax_errors(
        &ctx,
        &[
            (
                "aaaaaaaaaaaaaaaaaaaa = :one AND bbbbbbbbbbbbbbbbbbbbbbbbb ! cccccccccccccccccc \
                 = :one AND ddd = :one",
                "!",
                "bbbbbbbbbbbbbbbbbbbbbbbbb ! cccccccccccccccccc",
            ),
            ("aaa   =    :one   AND   bbb    ccc   =  :one", "ccc", "bbb    ccc   ="),
            ("aaa=:one AND bbb ccc=:one", "ccc", "bbb ccc="),
            ("a\t=\n:one\tAND\n)", ")", "AND\n)"),
            ("a = :one\r\n)", ")", ":one\r\n)"),
            // Only space, tab, line feed and carriage return are whitespace.
            ("a\u{a0}= :one", "\u{a0}", "a\u{a0}="),
            ("a\u{3000}= :one", "\u{3000}", "a\u{3000}="),
            ("a\u{b}= :one", "\u{b}", "a\u{b}="),
            ("a\u{c}= :one", "\u{c}", "a\u{c}="),
        ],
    )
    .await;
}

pub(super) async fn whitespace_and_keyword_case_are_free(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    asked
        .hold(&[
            ("a=:one", true),
            ("  a  =\t:one\r\n", true),
            ("a<:one", false),
            ("a<=:one", true),
            ("a>=:one", true),
            ("a<>:one", false),
            ("m . x = :one", true),
            ("l [ 0 ] = :zero", true),
            ("l[3] [0]=:nine", true),
            ("size (st) = :three", true),
            ("size\n(\nst\n)\n=\n:three", true),
            ("a IN(:one)", true),
            ("(a=:one)AND(a=:one)", true),
            ("(a=:two)OR(a=:one)", true),
            ("NOT(a=:one)", false),
            ("not a=:one", false),
            ("Not a=:two", true),
            ("a=:one and a=:one", true),
            ("a=:one aNd a=:two", false),
            ("a=:two oR a=:one", true),
            ("a between :one and :one", true),
            ("a Between :zero And :two", true),
            ("a in (:one)", true),
            ("a iN(:two)", false),
            ("NOT NOT a = :one", true),
        ])
        .await;
    asked.done().await;
}

pub(super) async fn not_binds_tighter_than_and_than_or(ctx: Ctx) {
    let mut asked = Asked::new(&ctx).await;
    // `✓` is true of the item and `✗` is false.
    for (form, holds) in [
        ("✓ OR ✗ AND ✗", true),
        ("(✓ OR ✗) AND ✗", false),
        ("✗ AND ✗ OR ✓", true),
        ("✗ AND (✗ OR ✓)", false),
        ("✓ OR ✓ AND ✗", true),
        ("✓ AND ✗ OR ✓ AND ✓", true),
        ("✓ AND (✗ OR ✓) AND ✗", false),
        ("NOT ✗ AND ✗", false),
        ("NOT (✗ AND ✗)", true),
        ("NOT ✗ OR ✓", true),
        ("NOT (✗ OR ✓)", false),
        ("NOT ✓ OR ✗ OR ✓", true),
        ("✓ OR NOT ✗ AND ✗", true),
        ("NOT NOT ✗ OR ✗", false),
        ("NOT ✓ AND NOT ✗", false),
        ("NOT (NOT ✓ AND NOT ✗)", true),
        ("NOT n BETWEEN :one AND :two AND ✓", true),
        ("NOT n IN (:one) AND ✓", true),
        ("n BETWEEN :one AND :nine AND ✗", false),
        ("n BETWEEN :one AND :nine AND n BETWEEN :five AND :five OR ✗", true),
    ] {
        let text = form.replace('✓', "a = :one").replace('✗', "a = :two");
        asked.ask(&text, Expected::Holds(holds)).await;
    }
    asked.done().await;
}
