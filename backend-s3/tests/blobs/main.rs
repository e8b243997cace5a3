//! Tests of the blobs that this crate stores itself, beyond the conformance suite: processes, kills,
//! sweeps, full disks, damaged files, addresses.
#![cfg(all(feature = "file", unix))]

mod addresses;
mod buckets;
mod damage;
mod differential;
mod folders;
mod full_disk;
mod kills;
mod races;
mod read_only;
mod readers;
mod support;
mod sweeps;
mod syncs;
