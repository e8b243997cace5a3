//! Options of `http`.

use std::path::PathBuf;

use super::program::Program;
use super::request::OPERATIONS;
use super::{Engine, StorageMode};
use crate::embedded::Failure;
use crate::embedded::options::list;
use crate::embedded::workload::Workload;

pub(crate) struct Options {
    pub(crate) rounds: usize,
    /// Length of a turn in seconds.
    pub(crate) turn: f64,
    pub(crate) servers: Vec<Engine>,
    pub(crate) places: Vec<StorageMode>,
    pub(crate) connections: Vec<usize>,
    pub(crate) operations: Vec<Workload>,
    /// Number of items of a full server; 0 skips this measurement.
    pub(crate) items: u64,
    pub(crate) folder: PathBuf,
    pub(crate) json: Option<PathBuf>,
    programs: Vec<Program>,
}

/// Storage modes that all servers support; relaxed is not among them.
const PLACES: [StorageMode; 2] = [StorageMode::Memory, StorageMode::Durable];

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let is_quick = arguments.iter().any(|argument| argument == "--quick");
        let mut options = Self {
            rounds: if is_quick { 5 } else { 9 },
            turn: if is_quick { 0.1 } else { 0.3 },
            servers: Engine::ALL.into(),
            places: PLACES.into(),
            connections: vec![1, 16, 64],
            operations: OPERATIONS.into(),
            items: if is_quick { 20_000 } else { 1_000_000 },
            folder: std::env::temp_dir(),
            json: None,
            programs: Vec::new(),
        };
        let mut arguments = arguments.iter().filter(|argument| *argument != "--quick");
        while let Some(argument) = arguments.next() {
            let value =
                arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
            match argument.as_str() {
                "--rounds" => options.rounds = value.parse()?,
                "--servers" => options.servers = list(value, Engine::named)?,
                "--places" => options.places = list(value, place)?,
                "--connections" => options.connections = list(value, |number| number.parse().ok())?,
                "--operations" => options.operations = list(value, operation)?,
                "--items" => options.items = value.parse()?,
                "--folder" => options.folder = value.into(),
                "--json" => options.json = Some(value.into()),
                other => match other.strip_prefix("--").and_then(Engine::named) {
                    Some(contestant) => {
                        options.programs.push(Program { contestant, path: value.into() });
                    }
                    None => {
                        return Err(format!(
                            "unknown option {argument}; see `cargo xtask bench help`"
                        )
                        .into());
                    }
                },
            }
        }
        if options.rounds == 0 || options.connections.contains(&0) {
            return Err("--rounds and --connections must be at least 1".into());
        }
        Ok(options)
    }

    /// Programs of the chosen servers, and the chosen servers without a program.
    pub(crate) fn programs(&self) -> (Vec<&Program>, Vec<Engine>) {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for server in self.servers.iter().copied() {
            match self.programs.iter().find(|program| program.contestant == server) {
                Some(program) => found.push(program),
                None => missing.push(server),
            }
        }
        (found, missing)
    }
}

fn place(name: &str) -> Option<StorageMode> {
    PLACES.into_iter().find(|place| place.name() == name)
}

fn operation(name: &str) -> Option<Workload> {
    OPERATIONS.into_iter().find(|operation| operation.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options, Failure> {
        Options::parse(&arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn lists_select_storage_modes_connections_and_operations() {
        let chosen = options(&[
            "--places",
            "durable",
            "--connections",
            "1,4",
            "--operations",
            "put,get",
            "--items",
            "5",
        ])
        .unwrap();
        assert_eq!(chosen.places, [StorageMode::Durable]);
        assert_eq!(chosen.connections, [1, 4]);
        assert_eq!(chosen.operations, [Workload::Put, Workload::Get]);
        assert_eq!(chosen.items, 5);
        assert_eq!(chosen.servers, Engine::ALL);
    }

    #[test]
    fn explicit_option_overrides_quick() {
        for arguments in [["--quick", "--rounds", "7"], ["--rounds", "7", "--quick"]] {
            assert_eq!(options(&arguments).unwrap().rounds, 7);
        }
        let (quick, whole) = (options(&["--quick"]).unwrap(), options(&[]).unwrap());
        assert!(quick.rounds < whole.rounds && quick.turn < whole.turn);
        assert!(quick.items < whole.items);
    }

    #[test]
    fn server_needs_to_be_chosen_and_to_have_a_program() {
        let chosen =
            options(&["--servers", "tabla,dynalite", "--tabla", "/t", "--dynoxide", "/d"]).unwrap();
        let (found, missing) = chosen.programs();
        assert_eq!(found, [&Program { contestant: Engine::Tabla, path: "/t".into() }]);
        assert_eq!(missing, [Engine::Dynalite]);
    }

    #[test]
    fn invalid_options_are_rejected() {
        for arguments in [
            &["--fast"][..],
            &["--places"],
            &["--places", "relaxed"],
            &["--operations", "delete"],
            &["--rounds", "0"],
            &["--connections", "0"],
            &["--servers", "moto"],
            &["--moto", "/m"],
        ] {
            assert!(options(arguments).is_err(), "{arguments:?}");
        }
    }
}
