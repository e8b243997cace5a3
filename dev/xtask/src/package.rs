//! Packages for crates.io: required fields of their manifests, and `cargo package`.

use std::path::Path;

use serde_json::Value;

use crate::Result;
use crate::steps::{line, output, run};
use crate::workspace::cargo;

/// Limit of crates.io on the number of keywords, and on that of categories.
const MOST_LABELS: usize = 5;
const LONGEST_KEYWORD: usize = 20;

/// Checks the manifests of all packages with `publish = true`, and packages them.
///
/// The packages are not compiled, because that takes minutes; `cargo package` without `--no-verify`
/// does it before a release. `--offline` works because the lints have fetched all dependencies.
pub(crate) fn check() -> Result<()> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&output(&mut metadata)?)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let published = published(packages);
    let faults: Vec<String> =
        published.iter().flat_map(|package| faults(package, &published)).collect();
    if !faults.is_empty() {
        return Err(
            format!("packages that crates.io would reject:\n  {}", faults.join("\n  ")).into()
        );
    }
    let mut package = cargo();
    package.args(["package", "--no-verify", "--allow-dirty", "--offline"]);
    package.args(published.iter().flat_map(|package| ["--package", name(package)]));
    println!("{}", line(&package));
    run(&mut package)
}

/// Packages to be published. `cargo metadata` has `null` for `publish = true` and `[]` for `false`.
fn published(packages: &[Value]) -> Vec<&Value> {
    packages.iter().filter(|package| package["publish"].is_null()).collect()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// Missing fields of a manifest, and dependencies that users cannot download.
fn faults(package: &Value, published: &[&Value]) -> Vec<String> {
    let mut faults = Vec::new();
    for field in ["description", "license", "readme", "documentation", "rust_version"] {
        if package[field].as_str().is_none_or(str::is_empty) {
            faults.push(format!("has no `{field}`"));
        }
    }
    if package["metadata"]["docs"]["rs"].is_null() {
        faults.push("has no `[package.metadata.docs.rs]`".to_owned());
    }
    for field in ["keywords", "categories"] {
        let labels = package[field].as_array().map_or(0, Vec::len);
        if !(1..=MOST_LABELS).contains(&labels) {
            faults.push(format!("has {labels} `{field}`: crates.io accepts 1 to {MOST_LABELS}"));
        }
    }
    for keyword in strings(&package["keywords"]).filter(|word| word.len() > LONGEST_KEYWORD) {
        faults.push(format!("keyword `{keyword}` has more than {LONGEST_KEYWORD} characters"));
    }
    let folder = package["manifest_path"].as_str().and_then(|path| Path::new(path).parent());
    for file in ["README.md", "LICENSE"] {
        if folder.is_none_or(|folder| !folder.join(file).is_file()) {
            faults.push(format!("has no file `{file}`"));
        }
    }
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let (to, versioned) = (name(dependency), dependency["req"] != "*");
        let is_local = !dependency["path"].is_null();
        let is_published = published.iter().any(|package| name(package) == to);
        // Cargo drops development dependencies without a version from the package.
        let is_kept = dependency["kind"] != "dev" || versioned;
        if is_local && is_kept && !versioned {
            faults.push(format!("depends on `{to}` without a version"));
        }
        if is_local && is_kept && !is_published {
            faults.push(format!("depends on `{to}`, which has `publish = false`"));
        }
    }
    faults.into_iter().map(|fault| format!("{} {fault}", name(package))).collect()
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Manifest without faults, in the folder of a crate that has the required files.
    fn good() -> Value {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/Cargo.toml");
        json!({
            "name": "tabla-shop",
            "publish": null,
            "description": "Shops",
            "license": "Apache-2.0",
            "readme": "README.md",
            "documentation": "https://docs.rs/tabla-shop",
            "rust_version": "1.95",
            "keywords": ["shop"],
            "categories": ["database"],
            "metadata": { "docs": { "rs": { "all-features": true } } },
            "manifest_path": manifest,
            "dependencies": [],
        })
    }

    fn faults_of(package: &Value) -> Vec<String> {
        faults(package, &[&json!({ "name": "tabla-core" })])
    }

    #[test]
    fn complete_manifest_has_no_faults() {
        assert_eq!(faults_of(&good()), Vec::<String>::new());
    }

    #[test]
    fn missing_fields_are_reported_by_name() {
        for field in ["description", "license", "readme", "documentation", "rust_version"] {
            let mut package = good();
            package[field] = Value::Null;
            assert_eq!(faults_of(&package), [format!("tabla-shop has no `{field}`")]);
        }
        let mut package = good();
        package["metadata"] = Value::Null;
        package["keywords"] = json!(["a-keyword-of-22-letters"]);
        package["categories"] = json!([]);
        package["manifest_path"] = json!("/nowhere/Cargo.toml");
        assert_eq!(faults_of(&package).len(), 5, "{:?}", faults_of(&package));
    }

    #[test]
    fn local_dependencies_need_a_version_and_a_published_package() {
        let with = |dependency: Value| {
            let mut package = good();
            package["dependencies"] = json!([dependency]);
            faults_of(&package)
        };
        let local = |name: &str, req: &str, kind: Value| {
            with(json!({ "name": name, "req": req, "kind": kind, "path": "/w" }))
        };
        assert_eq!(local("tabla-core", "^0.1.0", Value::Null), Vec::<String>::new());
        assert_eq!(local("tabla-testkit", "*", json!("dev")), Vec::<String>::new());
        assert_eq!(
            local("tabla-core", "*", Value::Null),
            ["tabla-shop depends on `tabla-core` without a version"]
        );
        assert_eq!(
            local("tabla-testkit", "^0.1.0", json!("dev")),
            ["tabla-shop depends on `tabla-testkit`, which has `publish = false`"]
        );
        let serde = json!({ "name": "serde", "req": "^1", "kind": null, "path": null });
        assert_eq!(with(serde), Vec::<String>::new());
    }

    #[test]
    fn packages_with_publish_false_are_left_out() {
        let packages =
            [json!({ "name": "a", "publish": [] }), json!({ "name": "b", "publish": null })];
        assert_eq!(published(&packages).into_iter().map(name).collect::<Vec<_>>(), ["b"]);
    }
}
