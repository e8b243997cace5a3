//! Clauses of DynamoDB's semantics. The case with the id of a clause proves it.

mod table;

use std::collections::BTreeSet;

use crate::cases;
use crate::family::Family;

/// One statement about the behavior of DynamoDB.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Clause {
    /// Number of the subject and a letter, such as `29a`.
    pub id: &'static str,
    /// Statement as a sentence; equals [`Case::title`](crate::Case::title) of its case.
    pub text: &'static str,
    /// Family whose file has its case.
    pub family: Family,
}

/// All clauses, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static Clause> {
    table::CLAUSES.iter()
}

/// Clauses without a case. There must be none.
pub fn without_case() -> impl Iterator<Item = &'static Clause> {
    let proved: BTreeSet<&str> = cases().map(|case| case.id).collect();
    unproved(table::CLAUSES, proved)
}

fn unproved<'a>(
    clauses: &'a [Clause],
    proved: BTreeSet<&'a str>,
) -> impl Iterator<Item = &'a Clause> {
    clauses.iter().filter(move |clause| !proved.contains(clause.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number in the id of a clause, such as 29 in `29a`.
    fn line(id: &str) -> Option<u8> {
        let digits = id.trim_end_matches(|c: char| c.is_ascii_lowercase());
        (id.len() == digits.len() + 1).then(|| digits.parse().ok())?
    }

    #[test]
    fn every_clause_has_a_case() {
        let open: Vec<String> =
            without_case().map(|clause| format!("{} ({})", clause.id, clause.family)).collect();
        assert!(open.is_empty(), "{} clauses have no case: {}", open.len(), open.join(", "));
    }

    #[test]
    fn clause_without_case_is_found() {
        let clause = |id| Clause { id, text: "x", family: Family::Values };
        let clauses = [clause("1a"), clause("1b")];
        let open: Vec<&str> =
            unproved(&clauses, BTreeSet::from(["1b"])).map(|clause| clause.id).collect();
        assert_eq!(open, ["1a"]);
    }

    #[test]
    fn ids_are_unique_numbers_with_a_letter() {
        let mut seen = BTreeSet::new();
        for clause in all() {
            assert!(line(clause.id).is_some(), "malformed id {}", clause.id);
            assert!(seen.insert(clause.id), "duplicate id {}", clause.id);
        }
    }

    #[test]
    fn clauses_of_each_number_have_letters_without_gaps() {
        for number in 1..=61 {
            let mut letters: Vec<char> = all()
                .filter(|clause| line(clause.id) == Some(number))
                .filter_map(|clause| clause.id.chars().last())
                .collect();
            letters.sort_unstable();
            let expected: Vec<char> = ('a'..='z').take(letters.len()).collect();
            assert!(
                !letters.is_empty() && letters == expected,
                "clauses of number {number} have the letters {letters:?}"
            );
        }
    }
}
