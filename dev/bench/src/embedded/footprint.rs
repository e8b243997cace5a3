//! Memory and disk space of the items, for each contestant in a new process.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::comparison::{file, open_tabla};
use super::limit::Limit;
use super::options::Options;
use super::workload::StorageMode;
use super::{Engine, Failure, Folder, peer};
use crate::process::{json_output, resident};

/// Command with which this program starts itself for one contestant.
pub(crate) const COMMAND: &str = "embedded-footprint";

pub(crate) struct Footprint {
    pub(crate) contestant: Engine,
    pub(crate) place: StorageMode,
    /// Resident memory of the whole process, with all items loaded.
    pub(crate) resident_bytes: u64,
    /// Size of the closed file.
    pub(crate) file_bytes: u64,
}

/// Footprints of all contestants that run in a process on this machine.
pub(crate) fn all(options: &Options, folder: &Path) -> Result<Vec<Footprint>, Failure> {
    let mut all = Vec::new();
    for place in [StorageMode::Memory, StorageMode::Durable] {
        if !options.places.contains(&place) {
            continue;
        }
        for contestant in [Engine::Tabla, Engine::Limit, Engine::Dynoxide] {
            if options.without.contains(&contestant) {
                continue;
            }
            let own = Folder::make(&folder.join("footprint"))?;
            let output = match contestant {
                Engine::Dynoxide => peer::footprint("dynoxide", place, own.path())?,
                _ => json_output(
                    Command::new(std::env::current_exe()?)
                        .args([COMMAND, contestant.name(), place.name()])
                        .arg(own.path()),
                )?,
            };
            let bytes =
                |name: &str| output[name].as_u64().ok_or_else(|| format!("no {name}: {output}"));
            all.push(Footprint {
                contestant,
                place,
                resident_bytes: bytes("resident_bytes")?,
                file_bytes: bytes("file_bytes")?,
            });
        }
    }
    Ok(all)
}

/// Loads the items, and prints their memory and disk space.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let [contestant, place, folder] = arguments else {
        return Err(format!("`{COMMAND}` is started by `embedded`, not by hand").into());
    };
    let place =
        StorageMode::named(place).ok_or_else(|| format!("unknown storage mode `{place}`"))?;
    let folder = Path::new(folder);
    let resident_bytes = match Engine::named(contestant) {
        Some(Engine::Tabla) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            let store = runtime.block_on(open_tabla(place, folder))?;
            let resident = resident()?;
            drop(store);
            resident
        }
        Some(Engine::Limit) => {
            let limit = Limit::load(place, &file(contestant, place, folder))?;
            let resident = resident()?;
            drop(limit);
            resident
        }
        _ => {
            return Err(format!("`{COMMAND}` measures tabla and limit, not `{contestant}`").into());
        }
    };
    // Closing has checkpointed the WAL.
    let file_bytes =
        std::fs::metadata(file(contestant, place, folder)).map_or(0, |file| file.len());
    let footprint =
        serde_json::json!({ "resident_bytes": resident_bytes, "file_bytes": file_bytes });
    println!("{footprint}");
    Ok(())
}

impl From<&Footprint> for Value {
    fn from(footprint: &Footprint) -> Self {
        serde_json::json!({
            "contestant": footprint.contestant.name(),
            "place": footprint.place.name(),
            "resident_bytes": footprint.resident_bytes,
            "file_bytes": footprint.file_bytes,
        })
    }
}
