//! `cargo xtask check`: format, prose, lints, documentation, dependencies, packages.

use crate::Result;
use crate::machine::has;
use crate::package;
use crate::prose;
use crate::steps::{self, Steps, line, output};
use crate::test::WORKSPACE_FEATURES;
use crate::workspace::cargo;

/// Crates for SQL, by name. A name that ends in `*` matches all names with that prefix.
const SQL: &[&str] = &["libsqlite3-sys", "rusqlite*", "sqlx*"];
const AWS: &[&str] = &["aws-*"];
const HTTP: &[&str] =
    &["axum*", "bollard*", "h2", "http*", "hyper*", "redis*", "reqwest*", "rustls*"];

/// Crates that a package must not depend on, directly or indirectly.
struct Ban {
    package: &'static str,
    /// Feature arguments of `cargo tree`; empty for the default features.
    features: &'static [&'static str],
    forbidden: &'static [&'static [&'static str]],
}

const BANS: [Ban; 5] = [
    Ban { package: "tabla-core", features: &["--all-features"], forbidden: &[SQL, AWS, HTTP] },
    Ban { package: "tabla-entity", features: &["--all-features"], forbidden: &[SQL, AWS, HTTP] },
    Ban { package: "tabla-consumer", features: &["--all-features"], forbidden: &[SQL, AWS, HTTP] },
    Ban { package: "tabla", features: &[], forbidden: &[AWS] },
    Ban { package: "tabla", features: &["--features", "blobs"], forbidden: &[AWS, HTTP] },
];

/// Features of the facade that are compiled alone, so that each declares what it needs. The AWS
/// features are left out: they are compiled by the lints, and take minutes.
const FACADE_FEATURES: [&str; 6] = ["sqlite", "entity", "blobs", "gateway", "consumer", "server"];

/// Arguments of clippy that turn warnings into errors.
const DENY: [&str; 3] = ["--", "--deny", "warnings"];

pub(crate) fn run(mut steps: Steps) -> Result<()> {
    steps.command("format", cargo().args(["fmt", "--all", "--check"]))?;
    steps.step("prose", prose::check)?;
    steps.command(
        "lints",
        cargo()
            .args(["clippy", "--workspace", "--features", WORKSPACE_FEATURES, "--all-targets"])
            .args(DENY),
    )?;
    // `cargo run` as in the README builds the default features, which are fewer.
    steps.command(
        "lints of the default program",
        cargo().args(["clippy", "--package", "tabla-cli"]).args(DENY),
    )?;
    steps.step("features of the facade, each alone", check_facade_features)?;
    steps.command(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--features", WORKSPACE_FEATURES, "--no-deps"])
            .arg("--document-private-items")
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    steps.step("dependency bans", || BANS.iter().try_for_each(Ban::check))?;
    steps.step("packages for crates.io", package::check)?;
    if has("cargo-deny") {
        steps.command(
            "licenses, bans and sources",
            cargo().args(["deny", "--offline", "check", "licenses", "bans", "sources"]),
        )?;
        steps.finish("cargo xtask check");
    } else {
        steps.finish("cargo xtask check");
        println!(
            "NOT RUN: licenses, bans and sources: cargo-deny is not installed; the GitHub workflow \
             runs it"
        );
    }
    Ok(())
}

/// Lints `tabla` without features, and with each of [`FACADE_FEATURES`] alone.
fn check_facade_features() -> Result<()> {
    let alone = FACADE_FEATURES.map(|feature| vec!["--features", feature]);
    for features in [Vec::new()].into_iter().chain(alone) {
        let mut command = cargo();
        command.args(["clippy", "--package", "tabla", "--no-default-features"]);
        command.args(features).args(DENY);
        println!("{}", line(&command));
        steps::run(&mut command)?;
    }
    Ok(())
}

impl Ban {
    fn check(&self) -> Result<()> {
        let mut command = cargo();
        command.args(["tree", "--package", self.package]).args(self.features);
        command.args(["--edges", "normal,build", "--target", "all"]);
        let typed = line(&command);
        command.args(["--prefix", "none", "--format", "{p}"]);
        let tree = output(&mut command)?;
        let names = package_names(&tree);
        let found: Vec<&str> = names.iter().copied().filter(|name| self.forbids(name)).collect();
        let features = match self.features {
            [] => "default features".to_owned(),
            features => features.join(" "),
        };
        if let Some(first) = found.first() {
            return Err(format!(
                "{} ({features}) depends on {}; `{typed} --invert {first}` shows the path",
                self.package,
                found.join(", "),
            )
            .into());
        }
        let forbidden = self.forbidden.concat().join(", ");
        println!("{} ({features}): {} crates, none of {forbidden}", self.package, names.len());
        Ok(())
    }

    fn forbids(&self, name: &str) -> bool {
        self.forbidden.iter().copied().flatten().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == *pattern,
        })
    }
}

/// Distinct package names in lines such as `serde v1.0.0 (proc-macro) (*)`.
fn package_names(tree: &str) -> Vec<&str> {
    let mut names: Vec<&str> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_distinct() {
        let tree = "tabla-core v0.1.0 (/x/core)\nserde v1.0.1\nserde_derive v1.0.1 (proc-macro)\n\nserde v1.0.1 (*)\n";
        assert_eq!(package_names(tree), ["serde", "serde_derive", "tabla-core"]);
    }

    #[test]
    fn ban_covers_databases_aws_and_http_only() {
        let core = &BANS[0];
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
            assert!(core.forbids(name), "{name}");
        }
        for name in ["serde", "tokio", "h2o", "async-trait"] {
            assert!(!core.forbids(name), "{name}");
        }
    }

    #[test]
    fn facade_may_depend_on_sqlite_but_not_on_aws() {
        let facade = BANS.iter().find(|ban| ban.package == "tabla").unwrap();
        assert!(facade.features.is_empty(), "the default features");
        assert!(facade.forbids("aws-config"));
        assert!(!facade.forbids("sqlx"));
    }
}
