//! The clauses of DynamoDB's semantics: each is proved by the case that has its id.

mod table;

use std::collections::BTreeSet;

use crate::cases;
use crate::family::Family;

/// One assertion about what DynamoDB does.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    /// The number of the line in the semantics, and a letter: `29a`.
    pub id: &'static str,
    /// What it says, in a line.
    pub text: &'static str,
    /// The family whose file holds its case.
    pub family: Family,
}

/// All clauses, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static Clause> {
    table::CLAUSES.iter()
}

/// The clauses that no case proves. There must be none.
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

    /// The number before the letter.
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
    fn a_clause_without_a_case_is_found() {
        let clause = |id| Clause { id, text: "x", family: Family::Values };
        let clauses = [clause("1a"), clause("1b")];
        let open: Vec<&str> =
            unproved(&clauses, BTreeSet::from(["1b"])).map(|clause| clause.id).collect();
        assert_eq!(open, ["1a"]);
    }

    #[test]
    fn ids_are_lines_with_a_letter_each_once() {
        let mut seen = BTreeSet::new();
        for clause in all() {
            assert!(line(clause.id).is_some(), "{}", clause.id);
            assert!(seen.insert(clause.id), "{} stands twice", clause.id);
        }
    }

    #[test]
    fn every_line_of_groups_a_to_f_has_clauses_lettered_without_gaps() {
        for number in 1..=61 {
            let mut letters: Vec<char> = all()
                .filter(|clause| line(clause.id) == Some(number))
                .filter_map(|clause| clause.id.chars().last())
                .collect();
            letters.sort_unstable();
            let expected: Vec<char> = ('a'..='z').take(letters.len()).collect();
            assert!(!letters.is_empty() && letters == expected, "line {number}: {letters:?}");
        }
    }
}
