//! The conformance suite on MemoryStore, the executable specification.

fn main() -> std::process::ExitCode {
    tabla_conformance::main(tabla_conformance::MemoryHarness)
}
