//! Has the linker pack the program's relocations, where the system it is built on can unpack them.
//!
//! The program has some 77,000 places that are moved to where it is loaded. As a plain table they are
//! 1.8 MB that the loader reads at every start, and that count as memory of a server at rest; packed
//! they are 20 KB.

use std::env;
use std::process::Command;

/// The first version of glibc whose loader knows packed relocations.
const KNOWN_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_default();
    // Of another system's loader nothing is known here.
    let is_native = env::var("HOST").is_ok_and(|host| host == target);
    if is_native && target.ends_with("-linux-gnu") && glibc().is_some_and(|it| it >= KNOWN_SINCE) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this system's glibc, from an answer such as `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
