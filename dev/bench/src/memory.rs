//! Memory of the engine: per item, and per open store. Each figure comes from a separate process.

use std::path::Path;
use std::process::Command;

use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::embedded::options::list;
use crate::embedded::workload::StorageMode;
use crate::embedded::{Failure, Folder, tabla as work};
use crate::process;

/// Command with which this program starts itself as the child.
pub(crate) const CHILD: &str = "memory-child";

/// Number of stores that are open at once, to compute the memory of one.
const STORES: usize = 100;

const PLACES: [StorageMode; 2] = [StorageMode::Memory, StorageMode::Relaxed];

/// Measures, and prints the table.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut sizes = vec![1_000, 10_000, 100_000];
    let mut folder = std::env::temp_dir();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
        match argument.as_str() {
            "--items" => sizes = list(value, |number| number.parse().ok())?,
            "--folder" => folder = value.into(),
            _ => {
                return Err(
                    format!("unknown option {argument}; see `cargo xtask bench help`").into()
                );
            }
        }
    }
    let folder = Folder::make(&folder)?;
    println!("memory of a process with one store, in MB; items of 1 KB with two indexes");
    println!("{:<10} {:>9} {:>10} {:>10}   resident bytes/item", "", "items", "resident", "peak");
    for place in PLACES {
        let nothing = measure(place, 1, 0, &folder)?;
        print(place, 0, &nothing);
        for items in sizes.iter().copied() {
            print_with(place, items, &measure(place, 1, items, &folder)?, &nothing);
        }
    }
    println!("\nmemory of one more store with an empty table, in KB; mean of {STORES} stores");
    for place in PLACES {
        let one = measure(place, 1, 0, &folder)?.resident;
        let many = measure(place, 1 + STORES, 0, &folder)?.resident;
        let each = many.saturating_sub(one) as f64 / STORES as f64;
        println!("{:<10} {:>9.0}", name(place), each / 1024.0);
    }
    Ok(())
}

struct Memory {
    resident: u64,
    peak: u64,
}

fn measure(
    place: StorageMode,
    stores: usize,
    items: u64,
    folder: &Folder,
) -> Result<Memory, Failure> {
    let own = folder.path().join(format!("{}-{stores}-{items}", place.name()));
    std::fs::create_dir_all(&own)?;
    let output = process::json_output(
        Command::new(std::env::current_exe()?)
            .args([CHILD, place.name(), &stores.to_string(), &items.to_string()])
            .arg(&own),
    )?;
    std::fs::remove_dir_all(&own)?;
    let bytes = |name: &str| output[name].as_u64().ok_or_else(|| format!("no {name}: {output}"));
    Ok(Memory { resident: bytes("resident_bytes")?, peak: bytes("peak_bytes")? })
}

/// Opens stores, writes the items into the first, and prints the memory of the process.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [place, stores, items, folder] = arguments else {
        return Err(format!("`{CHILD}` is started by `memory`, not by hand").into());
    };
    let place =
        StorageMode::named(place).ok_or_else(|| format!("unknown storage mode `{place}`"))?;
    let (stores, items): (usize, u64) = (stores.parse()?, items.parse()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut open = Vec::new();
        for number in 0..stores {
            let config = match place {
                StorageMode::Memory => SqliteConfig::in_memory(),
                _ => {
                    let path = Path::new(folder).join(format!("{number}.db"));
                    SqliteConfig::file(path).with_durability(Durability::Relaxed)
                }
            };
            let store = SqliteStore::open(&config).await?;
            work::create(&store).await?;
            open.push(store);
        }
        work::fill_with(&open[0], items, |step| step).await?;
        let (resident, peak) = (process::resident()?, process::peak()?);
        println!("{}", serde_json::json!({ "resident_bytes": resident, "peak_bytes": peak }));
        Ok(())
    })
}

fn name(place: StorageMode) -> &'static str {
    match place {
        StorageMode::Memory => "in memory",
        _ => "in a file",
    }
}

fn print(place: StorageMode, items: u64, memory: &Memory) {
    println!("{}", line(place, items, memory));
}

fn print_with(place: StorageMode, items: u64, memory: &Memory, nothing: &Memory) {
    let each = memory.resident.saturating_sub(nothing.resident) as f64 / items.max(1) as f64;
    println!("{}   {each:>19.0}", line(place, items, memory));
}

fn line(place: StorageMode, items: u64, memory: &Memory) -> String {
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!(
        "{:<10} {items:>9} {:>10.1} {:>10.1}",
        name(place),
        megabytes(memory.resident),
        megabytes(memory.peak)
    )
}
