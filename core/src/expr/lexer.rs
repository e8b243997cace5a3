//! Expression text to tokens.
//!
//! Every text has tokens: a character that no expression uses becomes a token of its own, so that
//! the parser can name it in DynamoDB's words.

/// One token and where it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'t str,
    /// The byte at which it starts.
    pub(crate) start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// An attribute or function name.
    Identifier,
    /// `#name`.
    Name,
    /// `:value`.
    Value,
    /// A whole number without leading zeros.
    Integer,
    Keyword(Keyword),
    /// One of `( ) [ ] , . = <> < <= > >= + -`.
    Symbol,
    /// Anything else, one character.
    Unknown,
    /// The end of the text.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Keyword {
    And,
    Or,
    Not,
    Between,
    In,
    Set,
    Remove,
    Add,
    Delete,
}

impl Keyword {
    const ALL: [Self; 9] = [
        Self::And,
        Self::Or,
        Self::Not,
        Self::Between,
        Self::In,
        Self::Set,
        Self::Remove,
        Self::Add,
        Self::Delete,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
            Self::Not => "NOT",
            Self::Between => "BETWEEN",
            Self::In => "IN",
            Self::Set => "SET",
            Self::Remove => "REMOVE",
            Self::Add => "ADD",
            Self::Delete => "DELETE",
        }
    }

    /// Keywords are recognised whatever their case.
    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|keyword| word.eq_ignore_ascii_case(keyword.as_str()))
    }
}

impl Token<'_> {
    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    pub(crate) fn is_keyword(&self, keyword: Keyword) -> bool {
        self.kind == TokenKind::Keyword(keyword)
    }

    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The tokens of a text; the last one is [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(character) = text[start..].chars().next() {
        let rest = &text[start..];
        let (kind, length) = match character {
            ' ' | '\t' | '\n' | '\r' => {
                start += 1;
                continue;
            }
            'a'..='z' | 'A'..='Z' => {
                let length = word_length(rest);
                let kind =
                    Keyword::of(&rest[..length]).map_or(TokenKind::Identifier, TokenKind::Keyword);
                (kind, length)
            }
            '#' | ':' => match word_length(&rest[1..]) {
                0 => (TokenKind::Unknown, 1),
                length if character == '#' => (TokenKind::Name, 1 + length),
                length => (TokenKind::Value, 1 + length),
            },
            '0' => (TokenKind::Integer, 1),
            '1'..='9' => (TokenKind::Integer, prefix_length(rest, |byte| byte.is_ascii_digit())),
            '<' if rest.starts_with("<>") || rest.starts_with("<=") => (TokenKind::Symbol, 2),
            '>' if rest.starts_with(">=") => (TokenKind::Symbol, 2),
            '(' | ')' | '[' | ']' | ',' | '.' | '=' | '<' | '>' | '+' | '-' => {
                (TokenKind::Symbol, 1)
            }
            other => (TokenKind::Unknown, other.len_utf8()),
        };
        tokens.push(Token { kind, text: &rest[..length], start });
        start += length;
    }
    tokens.push(Token { kind: TokenKind::End, text: "", start: text.len() });
    tokens
}

/// The letters, digits and underscores that a text begins with.
pub(crate) fn word_length(text: &str) -> usize {
    prefix_length(text, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn prefix_length(text: &str, accepts: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| accepts(*byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn text_falls_into_tokens() {
        assert_eq!(
            texts("a.b[10] <>:v1 AND#n<=x"),
            ["a", ".", "b", "[", "10", "]", "<>", ":v1", "AND", "#n", "<=", "x", ""]
        );
    }

    #[test]
    fn a_leading_zero_is_a_number_of_its_own() {
        assert_eq!(texts("007"), ["0", "0", "7", ""]);
    }

    #[test]
    fn unusable_characters_become_tokens_of_their_own() {
        assert_eq!(texts("_a日本:é#"), ["_", "a", "日", "本", ":", "é", "#", ""]);
    }

    #[test]
    fn keywords_have_no_case() {
        assert_eq!(tokens("bEtWeEn")[0].kind, TokenKind::Keyword(Keyword::Between));
        assert_eq!(tokens("between_")[0].kind, TokenKind::Identifier);
    }
}
