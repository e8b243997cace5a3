//! Profanity filter.

use tabla::entity::{Id, UtcTime};
use tabla::{Number, Result};

use crate::entities::{ConfigProfanity, Severity, Status};

/// Fields of a post or comment that the filter sets.
pub(super) struct Verdict {
    pub(super) status: Status,
    pub(super) banned_at: Option<UtcTime>,
    pub(super) banned_by: Option<Id>,
    pub(super) ban_reason: Option<String>,
    pub(super) profanity_score: Number,
}

impl ConfigProfanity {
    /// Evaluates a text by its worst forbidden word, and bans it from the threshold on. Scores are
    /// exact, so that they compare with the threshold as written.
    pub(super) fn evaluate(&self, text: &str, now: UtcTime) -> Result<Verdict> {
        let text = text.to_lowercase();
        let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
        let found = self.blacklist.iter().filter(|word| words.contains(&&*word.to_lowercase()));
        let severity = |word| self.severity.get(word).copied().unwrap_or(Severity::High);
        let profanity_score = match found.map(severity).max() {
            None => Number::ZERO,
            Some(Severity::Low) => Number::parse("0.25")?,
            Some(Severity::Medium) => Number::parse("0.5")?,
            Some(Severity::High) => Number::from(1),
        };
        // A text without a forbidden word is not banned, even if the threshold is 0.
        let is_banned =
            !profanity_score.is_zero() && profanity_score >= self.auto_moderation_threshold;
        Ok(Verdict {
            status: if is_banned { Status::Banned } else { Status::Active },
            banned_at: is_banned.then_some(now),
            banned_by: is_banned.then(|| Id::new("auto")).transpose()?,
            ban_reason: is_banned.then(|| "profanity".to_owned()),
            profanity_score,
        })
    }
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

    fn evaluate(config: &ConfigProfanity, text: &str) -> (String, Status) {
        let verdict = config.evaluate(text, UtcTime::default()).unwrap();
        (verdict.profanity_score.to_string(), verdict.status)
    }

    #[test]
    fn score_is_that_of_worst_word() {
        for (text, score, status) in [
            ("", "0", Status::Active),
            ("hola", "0", Status::Active),
            ("palabra12", "0", Status::Active),
            ("una PALABRA2, sí", "0.5", Status::Active),
            ("palabra2 y (palabra1)", "1", Status::Banned),
            ("palabra3", "1", Status::Banned),
        ] {
            assert_eq!(evaluate(&config("0.8"), text), (score.to_owned(), status), "{text}");
        }
    }

    #[test]
    fn text_without_forbidden_word_is_active_at_threshold_0() {
        assert_eq!(evaluate(&config("0"), "hola").1, Status::Active);
        assert_eq!(evaluate(&ConfigProfanity::default(), "palabra1").1, Status::Active);
    }

    #[test]
    fn text_at_threshold_is_banned() {
        assert_eq!(evaluate(&config("0.5"), "palabra2").1, Status::Banned);
        let above = config("0.50000000000000000001");
        assert_eq!(evaluate(&above, "palabra2").1, Status::Active);
    }
}
