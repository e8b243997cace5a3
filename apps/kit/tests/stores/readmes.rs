//! What the READMEs of the apps say of the documents' lines: every line has a test, and every test
//! that is named is there.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use tabla_kit::Documented;

/// The folder of the apps.
fn apps() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the apps are beside").to_owned()
}

/// What can be named in the sources under a folder: functions, and files without their ending.
fn named_in(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            named_in(&path, names);
            continue;
        }
        let (Some(stem), Some("rs")) =
            (path.file_stem(), path.extension().and_then(|it| it.to_str()))
        else {
            continue;
        };
        names.insert(stem.to_string_lossy().into_owned());
        let source = fs::read_to_string(&path).expect("a source");
        let functions = source.split("fn ").skip(1);
        let name = |rest: &str| rest.split(['(', '<']).next().unwrap_or_default().to_owned();
        names.extend(functions.map(name));
    }
}

/// The cells of the table of lines.
fn rows(readme: &str) -> Vec<Vec<&str>> {
    let before = readme.split("<!-- patterns -->").next().expect("there is a beginning");
    let rows = before.lines().filter(|line| line.starts_with("| ") && line.ends_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect());
    cells.filter(|row: &Vec<&str>| row[0].starts_with(|c: char| c.is_ascii_digit())).collect()
}

/// The names in backticks: of `module::test` the test.
fn tests_in(cell: &str) -> impl Iterator<Item = &str> {
    let quoted = cell.split('`').skip(1).step_by(2);
    let path = quoted.map(|name| name.rsplit([' ', '/']).next().unwrap_or(name));
    let names = path.filter(|path| !path.ends_with(".rs"));
    names.map(|path| path.trim_end_matches("::*").rsplit("::").next().unwrap_or(path))
}

#[test]
fn every_line_has_a_test_that_there_is() {
    let folder = apps();
    for app in crate::all() {
        let app = app.design().name;
        let own = folder.join(app);
        let mut names = BTreeSet::new();
        named_in(&own, &mut names);
        named_in(&folder.join("kit/tests"), &mut names);
        // What two of them call the test of the whole app.
        names.extend(["app", "check", "refused"].map(str::to_owned));
        let readme = fs::read_to_string(own.join("README.md")).expect("a README");
        let rows = rows(&readme);
        assert!(rows.len() > 20, "{app}: {} lines", rows.len());
        for row in rows {
            let [line, _, what, test] = row[..] else { panic!("{app}: four cells, not {row:?}") };
            match test {
                "–" => assert!(what.contains("later"), "{app}: line {line} has no test"),
                "" => panic!("{app}: line {line} has no test"),
                _ => {}
            }
            for name in tests_in(test) {
                assert!(
                    names.contains(name),
                    "{app}: line {line} names {name}, which is not there"
                );
            }
        }
    }
}

/// Lines of the document that a row's first cell names, such as `5–6` or `34, 40`.
fn lines_in(cell: &str) -> impl Iterator<Item = RangeInclusive<u32>> {
    cell.split(',').map(|part| {
        let (first, last) = part.split_once('–').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse().expect("the number of a line");
        number(first)..=number(last)
    })
}

#[test]
fn every_pattern_names_a_line_of_its_readme() {
    for app in crate::all() {
        let design = app.design();
        let readme = apps().join(design.name).join("README.md");
        let readme = fs::read_to_string(readme).expect("a README");
        let rows = rows(&readme);
        let lines: Vec<_> = rows.iter().flat_map(|row| lines_in(row[0])).collect();
        let documented = app.documented();
        for Documented { pattern, line } in &documented {
            let is_known = lines.iter().any(|lines| lines.contains(line));
            assert!(is_known, "{}: {} names line {line}", design.name, pattern.name);
        }
        let names: Vec<_> = documented.iter().map(|documented| documented.pattern.name).collect();
        let declared: Vec<_> = design.patterns.iter().map(|pattern| pattern.name).collect();
        assert_eq!(names, declared, "{}", design.name);
    }
}
