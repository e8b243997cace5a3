//! Goals of blobs, and whether they are met.

use super::report::{find, row_name};
use super::{Contestant, Found, Measured, Row};

/// Fsyncs that a put of `file:` may take more than a plain file whose folder is synced, too.
const MORE_SYNCS: f64 = 1.0;

/// Prints a line per figure that decides a goal.
pub(super) fn print(found: &Found) {
    let mut met = Vec::new();
    let mut line = |is_met: bool, text: String| {
        println!("{:<7} {text}", if is_met { "met" } else { "MISSED" });
        met.push(is_met);
    };
    println!("\ngoals");
    for (row, own, plain) in syncs(found) {
        line(
            own <= plain + MORE_SYNCS,
            format!("fsyncs of {}: {own:.3}, plain file {plain:.3}", row_name(row)),
        );
    }
    for (own, other) in pairs(&found.measured) {
        let times = own.times(other);
        let mark = if own.is_steady() && other.is_steady() { "" } else { " ~" };
        line(
            times > 1.0,
            format!("{:<14} ahead of versitygw in rate:{mark} {times:.2}", row_name(own.row)),
        );
    }
    let count = met.iter().filter(|is_met| **is_met).count();
    println!("{count} met, {} missed", met.len() - count);
}

/// Fsyncs per put of `file:` and of a plain file, in the median round.
fn syncs(found: &Found) -> Vec<(Row, f64, f64)> {
    let of = |contestant| found.syncs.iter().filter(move |one| one.contestant == contestant);
    of(Contestant::File)
        .filter_map(|own| {
            let plain = of(Contestant::Plain).find(|plain| plain.row == own.row)?;
            Some((own.row, own.median(), plain.median()))
        })
        .collect()
}

/// Results of the gateway, each with that of versitygw.
fn pairs(measured: &[Measured]) -> impl Iterator<Item = (&Measured, &Measured)> {
    measured
        .iter()
        .filter(|one| one.contestant == Contestant::Gateway)
        .filter_map(|own| Some((own, find(measured, Contestant::Versitygw, own.row)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blobs::Operation;
    use crate::blobs::content::Size;
    use crate::median::Durations;

    #[test]
    fn gateway_is_compared_with_versitygw_in_the_same_row() {
        let row = |callers| Row { operation: Operation::Put, size: Size::Kb1, callers };
        let one = |contestant, callers, rate| {
            Measured::new(contestant, row(callers), vec![rate], Durations::default())
        };
        let measured = [
            one(Contestant::Gateway, 1, 30.0),
            one(Contestant::Gateway, 16, 40.0),
            one(Contestant::Versitygw, 16, 20.0),
            one(Contestant::File, 1, 90.0),
        ];
        let times: Vec<f64> = pairs(&measured).map(|(own, other)| own.times(other)).collect();
        assert_eq!(times, [2.0]);
        assert_eq!(row_name(row(16)), "put 1 KB at 16");
    }
}
