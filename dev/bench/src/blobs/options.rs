//! Options of `blobs`.

use std::path::PathBuf;

use tabla_core::blobs::ChecksumAlgorithm;

use super::content::Size;
use super::{Contestant, Operation, ServerProgram};
use crate::embedded::Failure;
use crate::embedded::options::list;

/// Part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Syncs,
    Local,
    Http,
    Large,
}

impl Part {
    pub(crate) const ALL: [Self; 4] = [Self::Syncs, Self::Local, Self::Http, Self::Large];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Syncs => "syncs",
            Self::Local => "local",
            Self::Http => "http",
            Self::Large => "large",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

pub(crate) struct Options {
    pub(crate) rounds: usize,
    /// Length of a turn in seconds.
    pub(crate) turn: f64,
    pub(crate) parts: Vec<Part>,
    pub(crate) sizes: Vec<Size>,
    pub(crate) operations: Vec<Operation>,
    /// Numbers of callers of blobs up to 1 MB. Those of 100 MB have one caller.
    pub(crate) callers: Vec<usize>,
    /// Checksum that the client sends with a put (default: none).
    pub(crate) checksum: Option<ChecksumAlgorithm>,
    /// Puts of a row in which fsyncs are counted.
    pub(crate) counted_puts: u64,
    /// Length of the large blob in bytes.
    pub(crate) large: u64,
    pub(crate) folder: PathBuf,
    pub(crate) json: Option<PathBuf>,
    programs: Vec<ServerProgram>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let is_quick = arguments.iter().any(|argument| argument == "--quick");
        let mut options = Self {
            rounds: if is_quick { 3 } else { 9 },
            turn: if is_quick { 0.1 } else { 0.3 },
            parts: Part::ALL.into(),
            sizes: Size::ALL.into(),
            operations: Operation::ALL.into(),
            callers: vec![1, 16],
            checksum: None,
            counted_puts: if is_quick { 16 } else { 48 },
            large: if is_quick { 64 << 20 } else { 256 << 20 },
            folder: std::env::temp_dir(),
            json: None,
            programs: Vec::new(),
        };
        let mut arguments = arguments.iter().filter(|argument| *argument != "--quick");
        while let Some(argument) = arguments.next() {
            let value =
                arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
            let mut program = |contestant| {
                options.programs.push(ServerProgram { contestant, path: value.into() });
            };
            match argument.as_str() {
                "--rounds" => options.rounds = value.parse()?,
                "--parts" => options.parts = list(value, Part::named)?,
                "--sizes" => options.sizes = list(value, Size::named)?,
                "--operations" => options.operations = list(value, Operation::named)?,
                "--callers" => options.callers = list(value, |number| number.parse().ok())?,
                "--checksum" => options.checksum = Some(value.to_ascii_uppercase().parse()?),
                "--large" => options.large = gigabytes(value)?,
                "--folder" => options.folder = value.into(),
                "--json" => options.json = Some(value.into()),
                "--tabla" => program(Contestant::Gateway),
                "--versitygw" => program(Contestant::Versitygw),
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
        Ok(options)
    }

    /// Programs of the servers that have one.
    pub(crate) fn programs(&self) -> Vec<&ServerProgram> {
        self.programs.iter().collect()
    }
}

/// Bytes of a number of gigabytes, such as `0.5`.
fn gigabytes(text: &str) -> Result<u64, Failure> {
    match text.parse::<f64>() {
        Ok(number) if (0.001..=1_000.0).contains(&number) => {
            Ok((number * f64::from(1 << 30)) as u64)
        }
        _ => Err(format!("--large is a number of GB from 0.001 to 1000, not {text}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options, Failure> {
        Options::parse(&arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn lists_select_parts_sizes_and_callers() {
        let chosen =
            options(&["--parts", "http,large", "--sizes", "1kb,100mb", "--callers", "1,4"]);
        let chosen = chosen.unwrap();
        assert_eq!(chosen.operations, Operation::ALL);
        let gets = options(&["--operations", "get"]).unwrap();
        assert_eq!(gets.operations, [Operation::Get]);
        assert_eq!(chosen.parts, [Part::Http, Part::Large]);
        assert_eq!(chosen.sizes, [Size::Kb1, Size::Mb100]);
        assert_eq!(chosen.callers, [1, 4]);
        assert!(chosen.programs().is_empty());
    }

    #[test]
    fn explicit_option_overrides_quick() {
        let chosen = options(&["--large", "2", "--quick", "--versitygw", "/v"]).unwrap();
        assert_eq!(chosen.large, 2 << 30);
        let chosen_checksum = options(&["--checksum", "crc64nvme"]).unwrap().checksum;
        assert_eq!(chosen_checksum, Some(ChecksumAlgorithm::Crc64Nvme));
        assert_eq!(chosen.programs()[0].contestant, Contestant::Versitygw);
        assert!(chosen.rounds < options(&[]).unwrap().rounds);
    }

    #[test]
    fn invalid_options_are_rejected() {
        for arguments in [
            &["--fast"][..],
            &["--parts"],
            &["--parts", "embedded"],
            &["--sizes", "2mb"],
            &["--operations", "copy"],
            &["--rounds", "0"],
            &["--callers", "0"],
            &["--large", "0"],
            &["--large", "many"],
            &["--checksum", "crc16"],
        ] {
            assert!(options(arguments).is_err(), "{arguments:?}");
        }
    }
}
