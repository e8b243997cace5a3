//! The conformance suite on the executable specification.

fn main() -> std::process::ExitCode {
    tabla_conformance::main(tabla_conformance::MemoryHarness)
}
