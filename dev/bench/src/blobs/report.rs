//! Tables for people, and rows for programs.

use serde_json::{Value, json};

use super::content::Size;
use super::{Contestant, Found, Measured, Operation, Row};

/// Result of a contestant for a row.
pub(super) fn find(measured: &[Measured], contestant: Contestant, row: Row) -> Option<&Measured> {
    measured.iter().find(|one| one.contestant == contestant && one.row == row)
}

/// Work of the contestants that the figures do not show.
const LOCAL: &str = "\
file: computes MD5 and the stored checksum of a put, verifies the latter in a get, and stores
metadata; the others compute no checksum";
const SERVERS: &str = "\
requests are presigned, with an unsigned payload; versitygw runs with --keep-alive";

/// Prints all tables.
pub(super) fn print(found: &Found) {
    print_syncs(found);
    for contestants in [&Contestant::LOCAL[..], &Contestant::SERVERS] {
        print_rates(&found.measured, contestants);
    }
    print_large(found);
}

fn print_syncs(found: &Found) {
    if !found.syncs.is_empty() {
        println!("\nfsyncs per put, median and worst of 5 rounds");
    }
    for one in &found.syncs {
        println!(
            "{:<20} {:>7} callers {:>2} {:>8.3} {:>8.3}",
            one.contestant.name(),
            one.row.size.name(),
            one.row.callers,
            one.median(),
            one.worst()
        );
    }
    for one in &found.traced {
        println!(
            "{:<20} {:>7} callers {:>2} {:>8.3}   {}",
            one.contestant.name(),
            one.row.size.name(),
            one.row.callers,
            one.per_put,
            match one.per_put > 0.0 {
                true => "syncs before it responds to a put",
                false => "syncs nothing: a power failure may lose puts that it has confirmed",
            }
        );
    }
}

fn print_rates(measured: &[Measured], contestants: &[Contestant]) {
    let is_shown = |one: &&Measured| contestants.contains(&one.contestant);
    let mut rows: Vec<Row> = Vec::new();
    for one in measured.iter().filter(is_shown) {
        if !rows.contains(&one.row) {
            rows.push(one.row);
        }
    }
    let Some(own) = contestants.first().copied().filter(|_| !rows.is_empty()) else { return };
    println!("\nrate (1 KB: per second; others: MB/s), p50/p99 in ms");
    print!("{:<22}", "");
    for contestant in contestants {
        print!(" {:>24}", contestant.name());
    }
    println!("   {} as a multiple of the others", own.name());
    for row in rows {
        let name = format!("{} {}", row.operation.name(), row.size.name());
        print!("{name:<12} callers {:>2}", row.callers);
        for contestant in contestants {
            print!(" {:>24}", find(measured, *contestant, row).map(cell).unwrap_or_default());
        }
        print!("  ");
        for other in &contestants[1..] {
            let pair = find(measured, own, row).zip(find(measured, *other, row));
            print!(
                " {:>6}",
                pair.map_or_else(String::new, |(own, other)| format!("{:.2}", own.times(other)))
            );
        }
        println!();
    }
    println!("~: the fastest round had more than twice the rate of the slowest");
    println!("{}", if own == Contestant::File { LOCAL } else { SERVERS });
}

fn cell(one: &Measured) -> String {
    let mark = if one.is_steady() { "" } else { "~" };
    format!("{mark}{}  {}/{}", digits(rate(one)), digits(one.p50), digits(one.p99))
}

/// Puts or gets per second of 1 KB, MB per second of the others.
fn rate(one: &Measured) -> f64 {
    match one.row.size {
        Size::Kb1 => one.rate(),
        size => one.rate() * size.bytes() as f64 / f64::from(1 << 20),
    }
}

/// Formats a number with about three digits.
fn digits(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn print_large(found: &Found) {
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    for one in &found.large {
        let size = megabytes(one.bytes);
        println!(
            "\n{}: {size:.0} MB up in {:.1} s ({:.0} MB/s), down in {:.1} s ({:.0} MB/s); memory {:.1} MB \
             at rest, at most {:.1} MB up, {:.1} MB at the end",
            one.contestant.name(),
            one.up_seconds,
            size / one.up_seconds,
            one.down_seconds,
            size / one.down_seconds,
            megabytes(one.at_rest),
            megabytes(one.peak_up),
            megabytes(one.peak)
        );
    }
}

/// All rows as JSON, with the rates of every round.
pub(super) fn json(found: &Found) -> String {
    let rows: Vec<Value> = found
        .measured
        .iter()
        .map(|one| {
            json!({
                "contestant": one.contestant.name(),
                "operation": one.row.operation.name(),
                "bytes": one.row.size.bytes(),
                "callers": one.row.callers,
                "ops_per_second": one.rate(),
                "p50_ms": one.p50,
                "p99_ms": one.p99,
                "rounds": one.rates,
            })
        })
        .collect();
    let syncs: Vec<Value> = found
        .syncs
        .iter()
        .map(|one| {
            json!({
                "contestant": one.contestant.name(),
                "bytes": one.row.size.bytes(),
                "callers": one.row.callers,
                "fsyncs_per_put": one.median(),
                "worst": one.worst(),
            })
        })
        .collect();
    let servers: Vec<Value> = found
        .traced
        .iter()
        .map(|one| {
            json!({
                "contestant": one.contestant.name(),
                "bytes": one.row.size.bytes(),
                "callers": one.row.callers,
                "fsyncs_per_put": one.per_put,
            })
        })
        .collect();
    let large: Vec<Value> = found
        .large
        .iter()
        .map(|one| {
            json!({
                "contestant": one.contestant.name(),
                "bytes": one.bytes,
                "up_seconds": one.up_seconds,
                "down_seconds": one.down_seconds,
                "at_rest_bytes": one.at_rest,
                "peak_up_bytes": one.peak_up,
                "peak_bytes": one.peak,
            })
        })
        .collect();
    let all = json!({ "rows": rows, "syncs": syncs, "servers": servers, "large": large });
    format!("{all:#}\n")
}

/// Row in a line of the goals.
pub(super) fn row_name(row: Row) -> String {
    let Row { operation, size, callers } = row;
    let callers = match (operation, size) {
        (_, Size::Mb100) => String::new(),
        (Operation::Put | Operation::Get, _) => format!(" at {callers}"),
    };
    format!("{} {}{callers}", operation.name(), size.name())
}
