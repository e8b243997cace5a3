//! Lexer of expression texts.
//!
//! Every text can be split into tokens. A character that no expression uses is a token of its own,
//! so that the parser's error can name it, as DynamoDB's does.

/// Token and its position in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'t str,
    /// Offset of its first byte.
    pub(crate) start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// Attribute or function name.
    Identifier,
    /// Placeholder of a name, `#name`.
    Name,
    /// Placeholder of a value, `:value`.
    Value,
    /// Whole number without leading zeros.
    Integer,
    Keyword(Keyword),
    /// Punctuation or operator: one of `( ) [ ] , . = <> < <= > >= + -`.
    Symbol,
    /// Any other character, one per token.
    Unknown,
    /// End of the text.
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

    /// Parses a keyword, regardless of case.
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

/// Splits a text into tokens; the last one is [`TokenKind::End`].
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

/// Length of the letters, digits and underscores at the start of a text.
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
    fn text_is_split_into_tokens() {
        assert_eq!(
            texts("a.b[10] <>:v1 AND#n<=x"),
            ["a", ".", "b", "[", "10", "]", "<>", ":v1", "AND", "#n", "<=", "x", ""]
        );
    }

    #[test]
    fn leading_zero_is_a_separate_number() {
        assert_eq!(texts("007"), ["0", "0", "7", ""]);
    }

    #[test]
    fn unknown_characters_are_separate_tokens() {
        assert_eq!(texts("_a日本:é#"), ["_", "a", "日", "本", ":", "é", "#", ""]);
    }

    #[test]
    fn keywords_match_in_any_case() {
        assert_eq!(tokens("bEtWeEn")[0].kind, TokenKind::Keyword(Keyword::Between));
        assert_eq!(tokens("between_")[0].kind, TokenKind::Identifier);
    }
}
