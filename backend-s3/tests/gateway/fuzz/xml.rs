//! Strict parser of XML documents: it takes less than the parsers of clients.

/// Returns name and text of each element without child elements, in their order.
pub(crate) fn leaves(document: &[u8]) -> Result<Vec<(String, String)>, String> {
    let text = std::str::from_utf8(document).map_err(|error| error.to_string())?;
    if let Some(forbidden) = text.chars().find(|character| !is_allowed(*character)) {
        return Err(format!("XML cannot contain {forbidden:?}"));
    }
    let text = match text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>") {
        Some(rest) => rest.trim_start(),
        None => text,
    };
    let mut parser = Parser { rest: text, open: Vec::new(), leaves: Vec::new() };
    parser.element()?;
    while !parser.open.is_empty() {
        parser.content()?;
    }
    match parser.rest {
        "" => Ok(parser.leaves),
        rest => Err(format!("{rest:?} follows the document")),
    }
}

/// Whether a document may contain a character as it is.
fn is_allowed(character: char) -> bool {
    // A parser would read a carriage return as a line feed.
    matches!(character, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

struct Parser<'a> {
    rest: &'a str,
    /// Open elements: name, text, and whether there are child elements.
    open: Vec<(&'a str, String, bool)>,
    leaves: Vec<(String, String)>,
}

impl<'a> Parser<'a> {
    fn expect(&mut self, token: &str) -> Result<(), String> {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.ok_or_else(|| format!("no {token:?} before {:?}", self.rest))?;
        Ok(())
    }

    /// Takes everything before a character.
    fn until(&mut self, end: char) -> Result<&'a str, String> {
        let (taken, rest) =
            self.rest.split_once(end).ok_or_else(|| format!("no {end:?} in {:?}", self.rest))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes the begin of an element.
    fn element(&mut self) -> Result<(), String> {
        self.expect("<")?;
        let tag = self.until('>')?;
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !name.starts_with(|first: char| first.is_ascii_alphabetic())
            || !name.bytes().all(is_name)
        {
            return Err(format!("{name:?} is no name of an element"));
        }
        while !attributes.is_empty() {
            let (name, rest) = attributes.split_once("=\"").ok_or("a malformed attribute")?;
            let (value, rest) = rest.split_once('"').ok_or("an attribute without an end")?;
            if name.is_empty() || value.contains(['<', '&']) {
                return Err(format!("the attribute {name}={value} is malformed"));
            }
            attributes = rest.trim_start();
        }
        if let Some((_, _, has_children)) = self.open.last_mut() {
            *has_children = true;
        }
        self.open.push((name, String::new(), false));
        if is_empty { self.close() } else { Ok(()) }
    }

    /// Takes text up to the next tag, and the tag.
    fn content(&mut self) -> Result<(), String> {
        let end = self.rest.find('<').ok_or("an element has no end")?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let text = resolved(text)?;
        let Some((name, of_element, _)) = self.open.last_mut() else { return Ok(()) };
        of_element.push_str(&text);
        let end = format!("</{name}>");
        match self.rest.starts_with("</") {
            true => {
                self.expect(&end)?;
                self.close()
            }
            false => self.element(),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        let (name, text, has_children) = self.open.pop().ok_or("an end without a begin")?;
        if !has_children {
            self.leaves.push((name.to_owned(), text));
        }
        Ok(())
    }
}

/// Text with its references resolved.
fn resolved(mut text: &str) -> Result<String, String> {
    let mut all = String::new();
    while let Some((before, rest)) = text.split_once('&') {
        all.push_str(before);
        let (name, rest) = rest.split_once(';').ok_or("a reference without an end")?;
        let number = match name.strip_prefix('#') {
            Some(number) => match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => number.parse().ok(),
            },
            None => match name {
                "amp" => Some('&'.into()),
                "lt" => Some('<'.into()),
                "gt" => Some('>'.into()),
                "quot" => Some('"'.into()),
                "apos" => Some('\''.into()),
                _ => None,
            },
        };
        let character = number.and_then(char::from_u32);
        all.push(character.ok_or_else(|| format!("the reference &{name}; has no meaning"))?);
        text = rest;
    }
    all.push_str(text);
    Ok(all)
}
