//! What the macros refuse, and what they say then: one file for each mistake.
//!
//! After a change of a text, `TRYBUILD=overwrite cargo test -p tabla-entity-derive` writes the new
//! ones: read each as somebody would who has just made the mistake.

#[test]
fn mistakes_are_refused_with_advice() {
    // Only what fails is here, so that nothing has to be linked.
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
