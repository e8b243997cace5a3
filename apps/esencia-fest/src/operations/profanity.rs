//! What the filter thinks of a text.

use tabla::{Number, Result};

use crate::entities::{ConfigProfanity, Severity};

/// Who has banned what the filter has.
pub(super) const FILTER: &str = "auto";
/// Why it has.
pub(super) const REASON: &str = "profanity";

/// What the filter thinks of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    /// From 0 to 1: how bad the worst word is.
    pub(super) score: Number,
    /// Whether it is banned by itself.
    pub(super) is_banned: bool,
}

/// Judges a text: by the worst of its words that are on the list. Exact numbers, so that a text at
/// the threshold is at the threshold.
pub(super) fn judge(config: Option<&ConfigProfanity>, text: &str) -> Result<Judgement> {
    let clean = Judgement { score: Number::default(), is_banned: false };
    let Some(config) = config else { return Ok(clean) };
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    let mut worst: Option<Severity> = None;
    for word in &config.blacklist {
        if words.contains(&word.to_lowercase().as_str()) {
            // A word that nobody has weighed is taken for the worst.
            let severity = config.severity.get(word).copied().unwrap_or(Severity::High);
            worst = worst.max(Some(severity));
        }
    }
    let score = match worst {
        None => return Ok(clean),
        Some(Severity::Low) => Number::parse("0.25")?,
        Some(Severity::Medium) => Number::parse("0.5")?,
        Some(Severity::High) => Number::from(1),
    };
    Ok(Judgement { score, is_banned: score >= config.auto_moderation_threshold })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(threshold: &str) -> ConfigProfanity {
        let severities = [("palabra1", Severity::High), ("palabra2", Severity::Medium)];
        ConfigProfanity {
            blacklist: vec!["palabra1".into(), "palabra2".into(), "palabra3".into()],
            severity: severities.map(|(word, severity)| (word.to_owned(), severity)).into(),
            auto_moderation_threshold: Number::parse(threshold).unwrap(),
        }
    }

    #[test]
    fn the_worst_word_counts() {
        for (text, score, is_banned) in [
            ("", "0", false),
            ("hola", "0", false),
            ("palabra12", "0", false),
            ("una PALABRA2, sí", "0.5", false),
            ("palabra2 y (palabra1)", "1", true),
            ("palabra3", "1", true),
        ] {
            let score = Number::parse(score).unwrap();
            let judged = judge(Some(&config("0.8")), text).unwrap();
            assert_eq!(judged, Judgement { score, is_banned }, "{text}");
        }
        assert!(!judge(None, "palabra1").unwrap().is_banned);
    }

    #[test]
    fn a_text_at_the_threshold_is_banned() {
        assert!(judge(Some(&config("0.5")), "palabra2").unwrap().is_banned);
        assert!(!judge(Some(&config("0.50000000000000000001")), "palabra2").unwrap().is_banned);
    }
}
