//! Requests: each one gets a valid response, and a rejected one changes nothing.
//!
//! The properties, and the meaning of the input bytes, are those of the server's test
//! `any_request`. If `SEEDS` is in the environment, the target first writes a valid request of each
//! kind into that folder.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use tabla_server::Operation;

use self::laws::Subject;

#[path = "../../../server/tests/any_request/choices.rs"]
mod choices;
#[path = "../../../server/tests/any_request/json.rs"]
mod json;
#[path = "../../../server/tests/any_request/laws.rs"]
mod laws;
#[path = "../../../server/tests/any_request/near.rs"]
mod near;
#[path = "../../../server/tests/any_request/seeds.rs"]
mod seeds;
#[path = "../../../server/tests/any_request/store.rs"]
mod store;
#[path = "../../../server/tests/any_request/words.rs"]
mod words;

thread_local! {
    static SUBJECT: RefCell<Subject> = RefCell::new(Subject::new());
}

fuzz_target!(init: write_seeds(), |data: &[u8]| {
    SUBJECT.with_borrow_mut(|subject| {
        let request = subject.request(data);
        subject.check(request);
    });
});

/// Writes each seed twice: as raw bytes to be mutated, and as the choice that selects it.
fn write_seeds() {
    let Some(folder) = std::env::var_os("SEEDS") else { return };
    let folder = std::path::Path::new(&folder);
    let subject = Subject::new();
    for (number, seed) in seeds::ALL.iter().enumerate() {
        let (operation, body) = subject.seed(*seed);
        let place = Operation::ALL.iter().position(|known| *known == operation);
        let place = place.expect("ALL has every operation") as u8;
        let raw = [&[near::RAW, place], body.as_bytes()].concat();
        std::fs::write(folder.join(format!("raw-{number}")), raw).expect("cannot write a seed");
        std::fs::write(folder.join(format!("near-{number}")), [0, 0, number as u8])
            .expect("a seed");
    }
}
