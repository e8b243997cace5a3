//! Requests to the gateway of blobs: each one gets a well-formed response, a refused one changes
//! nothing, and an accepted one changes only what it names.
//!
//! The laws, and the meaning of the input bytes, are those of the tests `fuzz` of `tabla-s3`. An
//! input is a sequence of requests. If `SEEDS` is in the environment, the target first writes an
//! input for each valid request into that folder.
#![no_main]

use std::cell::RefCell;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tabla_s3::MemoryBuckets;
use tokio::runtime::{Builder, Runtime};

use self::choices::Choices;
use self::laws::{Subject, env};

#[path = "../../../server/tests/any_request/choices.rs"]
mod choices;
#[path = "../../../backend-s3/tests/gateway/fuzz/content.rs"]
mod content;
#[path = "../../../backend-s3/tests/gateway/fuzz/generate.rs"]
mod generate;
#[path = "../../../backend-s3/tests/gateway/fuzz/laws.rs"]
mod laws;
#[path = "../../../backend-s3/tests/gateway/plain.rs"]
mod plain;
#[path = "../../../backend-s3/tests/gateway/fuzz/seeds.rs"]
mod seeds;
#[path = "../../../backend-s3/tests/gateway/signer.rs"]
mod signer;
#[path = "../../../backend-s3/tests/gateway/fuzz/wire.rs"]
mod wire;
#[path = "../../../backend-s3/tests/gateway/fuzz/words.rs"]
mod words;
#[path = "../../../backend-s3/tests/gateway/fuzz/xml.rs"]
mod xml;

/// Most requests of one input.
const REQUESTS: usize = 4;

thread_local! {
    static SUBJECT: RefCell<(Runtime, Option<Subject>)> = RefCell::new((runtime(), None));
}

fuzz_target!(init: write_seeds(), |data: &[u8]| {
    SUBJECT.with_borrow_mut(|(runtime, subject)| {
        runtime.block_on(async {
            // A failure must not depend on the inputs before.
            let mut used = match subject.take().filter(|subject| !subject.is_used()) {
                Some(subject) => subject,
                None => Subject::new(Arc::new(MemoryBuckets::with_env(env()))).await,
            };
            let mut choices = Choices::new(data);
            for _ in 0..REQUESTS {
                used.step(&mut choices).await;
                if choices.is_empty() {
                    break;
                }
            }
            *subject = Some(used);
        });
    });
});

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("the runtime starts")
}

/// Writes the choices of each seed, signed in the header and presigned.
fn write_seeds() {
    let Some(folder) = std::env::var_os("SEEDS") else { return };
    let folder = std::path::Path::new(&folder);
    for number in 0..u8::try_from(seeds::SEEDS.len()).expect("few seeds") {
        for (access, name) in [(0, "header"), (7, "query")] {
            let choices = [number, 0, 1, access];
            std::fs::write(folder.join(format!("{name}-{number}")), choices).expect("a seed");
        }
    }
}
