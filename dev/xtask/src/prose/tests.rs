use super::*;

#[test]
fn phrase_is_found_across_a_line_break() {
    let text = "//! A page.\n\n    /// The writer answers who\n    /// has it now, and\n    /// whoever waits.\n";
    assert_eq!(
        find(text),
        [
            "3: `who has it`; name the lease holder",
            "5: `whoever`; name the caller, the writer, the client",
        ]
    );
}

#[test]
fn phrase_is_found_across_a_continued_string() {
    let text = "    \"there are not so \\\n     many shards\"\n";
    assert_eq!(find(text), ["1: `so many`; give the number"]);
}

#[test]
fn part_of_a_word_is_no_phrase() {
    assert_eq!(find("for goods, carried_out, gsi_for good_one, untold"), [""; 0]);
}

#[test]
fn one_word_doc_line_is_found() {
    assert_eq!(
        find("    /// Keys.\n"),
        ["1: `/// Keys.` says one word; name unit, range or purpose"]
    );
    assert_eq!(find("/// Keys of the item.\n//! Keys.\n/// `keys`.\n// Keys.\n"), [""; 0]);
}

#[test]
fn list_has_no_phrase_twice_and_is_in_lower_case() {
    for (index, (phrase, _)) in PHRASES.iter().enumerate() {
        assert_eq!(*phrase, phrase.to_lowercase());
        assert!(PHRASES[..index].iter().all(|(other, _)| other != phrase), "{phrase}");
    }
}
