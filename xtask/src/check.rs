//! `cargo xtask check`: everything that needs no running test.

use crate::Result;
use crate::machine::has;
use crate::steps::{Steps, output};
use crate::workspace::cargo;

/// Crates that core must not depend on, however indirectly: databases, AWS
/// and HTTP. A name that ends in `*` stands for all that begin with it.
const NOT_IN_CORE: [&str; 11] = [
    "aws-*",
    "axum*",
    "bollard*",
    "h2",
    "http*",
    "hyper*",
    "libsqlite3-sys",
    "redis*",
    "reqwest*",
    "rusqlite*",
    "sqlx*",
];

pub(crate) fn run(mut steps: Steps) -> Result<()> {
    steps.command("format", cargo().args(["fmt", "--all", "--check"]))?;
    steps.command(
        "lints",
        cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]),
    )?;
    steps.command(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    steps.step("what core depends on", core_stays_small)?;
    if has("cargo-deny") {
        steps.command(
            "licences, bans and sources",
            cargo().args(["deny", "--offline", "check", "licenses", "bans", "sources"]),
        )?;
        steps.finish("cargo xtask check");
    } else {
        steps.finish("cargo xtask check");
        println!(
            "NOT RUN: licences, bans and sources, for cargo-deny is not installed; \
             the GitHub workflow runs it"
        );
    }
    Ok(())
}

fn core_stays_small() -> Result<()> {
    let mut command = cargo();
    command.args(["tree", "--package", "tabla", "--edges", "normal"]);
    command.args(["--all-features", "--target", "all"]);
    command.args(["--prefix", "none", "--format", "{p}"]);
    let tree = output(&mut command)?;
    let names = package_names(&tree);
    let forbidden: Vec<&str> = names.iter().copied().filter(|name| is_forbidden(name)).collect();
    if !forbidden.is_empty() {
        return Err(format!(
            "core depends on {}; `cargo tree --package tabla --edges normal --invert {}` tells why",
            forbidden.join(", "),
            forbidden[0]
        )
        .into());
    }
    println!("{} crates, none of them {}", names.len(), NOT_IN_CORE.join(", "));
    Ok(())
}

/// The distinct names in lines such as `serde v1.0.0 (proc-macro) (*)`.
fn package_names(tree: &str) -> Vec<&str> {
    let mut names: Vec<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_forbidden(name: &str) -> bool {
    NOT_IN_CORE.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_tree_once_each() {
        let tree = "tabla v0.1.0 (/x/core)\nserde v1.0.1\nserde_derive v1.0.1 (proc-macro)\n\nserde v1.0.1 (*)\n";
        assert_eq!(package_names(tree), ["serde", "serde_derive", "tabla"]);
    }

    #[test]
    fn databases_aws_and_http_are_forbidden_and_nothing_else() {
        for name in [
            "sqlx",
            "sqlx-core",
            "rusqlite",
            "aws-sdk-dynamodb",
            "aws-smithy-types",
            "hyper",
            "hyper-util",
            "reqwest",
            "http",
            "httparse",
            "http-body-util",
        ] {
            assert!(is_forbidden(name), "{name}");
        }
        for name in ["serde", "tokio", "h2o", "async-trait"] {
            assert!(!is_forbidden(name), "{name}");
        }
    }
}
