//! Options of `embedded`, and the parsing of lists.

use std::path::PathBuf;

use super::workload::{StorageMode, Workload};
use super::{Engine, Failure, is_write};

pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
    pub(crate) places: Vec<StorageMode>,
    pub(crate) callers: Vec<usize>,
    pub(crate) operations: Vec<Workload>,
    pub(crate) without: Vec<Engine>,
    pub(crate) folder: PathBuf,
    pub(crate) json: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Self {
            quick: false,
            rounds: 15,
            places: StorageMode::ALL.into(),
            callers: vec![1, 16, 64],
            operations: Workload::ALL.into(),
            without: Vec::new(),
            folder: std::env::temp_dir(),
            json: None,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--quick" {
                options.quick = true;
                continue;
            }
            let value =
                arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
            match argument.as_str() {
                "--rounds" => options.rounds = value.parse()?,
                "--places" => options.places = list(value, StorageMode::named)?,
                "--callers" => options.callers = list(value, |number| number.parse().ok())?,
                "--operations" => options.operations = list(value, Workload::named)?,
                "--without" => options.without.extend(list(value, Engine::named)?),
                "--folder" => options.folder = value.into(),
                "--json" => options.json = Some(value.into()),
                _ => {
                    return Err(
                        format!("unknown option {argument}; see `cargo xtask bench help`").into()
                    );
                }
            }
        }
        if options.rounds == 0 || options.callers.contains(&0) {
            return Err("--rounds and --callers must be at least 1".into());
        }
        if options.without.contains(&Engine::Tabla) {
            return Err("--without: tabla cannot be left out".into());
        }
        Ok(options)
    }

    /// Number of operations of a row: enough for about a tenth of a second, and at least two
    /// per caller.
    pub(crate) fn ops(&self, place: StorageMode, operation: Workload, callers: usize) -> u64 {
        let ops = match operation {
            Workload::Get => 2000,
            Workload::Put | Workload::Update | Workload::Delete => 1000,
            Workload::Query | Workload::IndexQuery | Workload::FilteredQuery => 200,
            Workload::BatchWrite => 20,
            Workload::BatchGet => 100,
            Workload::Transact => 300,
        };
        // An fsync takes far longer than the rest, but callers share it.
        let ops = match place == StorageMode::Durable && is_write(operation) {
            true => ops * callers.min(8) as u64 / 10,
            false => ops,
        };
        let ops = if self.quick { ops / 10 } else { ops };
        let least = if callers == 1 { 5 } else { 2 * callers as u64 };
        ops.max(least)
    }
}

/// Parses a list separated by commas.
pub(crate) fn list<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Failure> {
    text.split(',')
        .map(|word| read(word).ok_or_else(|| format!("unknown value `{word}`").into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options, Failure> {
        Options::parse(&arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn lists_select_storage_modes_callers_and_contestants() {
        let chosen =
            options(&["--places", "memory", "--callers", "1,4", "--without", "dynamodb,limit"])
                .unwrap();
        assert_eq!(chosen.places, [StorageMode::Memory]);
        assert_eq!(chosen.callers, [1, 4]);
        assert_eq!(chosen.without, [Engine::Dynamodb, Engine::Limit]);
        assert_eq!(chosen.operations.len(), 10);
    }

    #[test]
    fn invalid_options_are_rejected() {
        for arguments in [
            &["--fast"][..],
            &["--places"],
            &["--places", "tape"],
            &["--rounds", "0"],
            &["--callers", "0"],
            &["--without", "tabla"],
        ] {
            assert!(options(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn every_caller_has_an_operation() {
        let quick = options(&["--quick"]).unwrap();
        for operation in Workload::ALL {
            for place in StorageMode::ALL {
                assert!(quick.ops(place, operation, 64) >= 64);
            }
        }
    }
}
