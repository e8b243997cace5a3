//! `tabla check`: verifies a database file and prints each problem.

use std::path::PathBuf;
use std::process::ExitCode;

use tabla::Result;

use crate::output::print_line;
use crate::progress;

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Path of the file, or its `sqlite:` address
    file: PathBuf,
}

pub(crate) async fn run(arguments: Arguments) -> Result<ExitCode> {
    // An address is accepted too, because users copy it from the command line of `tabla serve`.
    let path = match arguments.file.to_str().and_then(|text| text.strip_prefix("sqlite:")) {
        Some(path) => PathBuf::from(path.split('?').next().unwrap_or(path)),
        None => arguments.file,
    };
    let bar = progress::bar("{bar} rows, {eta} left");
    let report = tabla::sqlite::check(&path, |progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    })
    .await;
    bar.finish_and_clear();
    let report = report?;
    for problem in &report.problems {
        print_line!("{problem}");
    }
    let plural = |count: u64, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let seen = [
        plural(report.tables, "table", "tables"),
        plural(report.items, "item", "items"),
        plural(report.entries, "index entry", "index entries"),
        plural(report.records, "stream record", "stream records"),
    ]
    .join(", ");
    if report.is_sound() {
        print_line!("{}: sound ({seen})", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    let problems = plural(report.problems.len() as u64, "problem", "problems");
    print_line!("{}: {problems} ({seen}); restore a backup", path.display());
    Ok(ExitCode::FAILURE)
}
