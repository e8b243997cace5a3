//! Key templates: constant text and fields in turn.

use std::any::Any;
use std::fmt;

use super::format::{Read, Write};
use super::part::SEPARATOR;
use super::shard::shard_text;
use crate::Value;
use crate::error::{Error, Result};

/// A key template, as `#[derive(Entity)]` has parsed and checked it.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Its pieces, in order.
    pub pieces: &'static [Piece],
}

/// A piece of a template.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// Text that every key has.
    Text(&'static str),
    /// The text of a field.
    Field(Part),
}

/// A field in a template.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The field.
    pub field: &'static str,
    /// How the template says to write it, after the colon.
    pub format: &'static str,
    /// Writes it.
    pub write: Write,
    /// Reads it back, if that can be done.
    pub read: Option<Read>,
    /// Whether the texts sort as the values do.
    pub ordered: bool,
    /// Among how many shards it chooses; 0 if it is no shard.
    pub shards: u32,
    /// How many bytes every text of it has, if all have as many.
    pub width: Option<usize>,
}

impl Part {
    /// Whether larger values come first.
    pub(super) fn is_descending(&self) -> bool {
        self.format.starts_with("desc")
    }
}

/// Finds the fields of an entity by their names.
pub type Fields<'a> = &'a dyn Fn(&str) -> Option<&'a dyn Any>;

/// How far a template can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// What was written.
    pub text: String,
    /// The field that was missing; `None` if none was, so that this is the whole key.
    pub missing: Option<&'static str>,
}

impl Template {
    /// The fields that stand in it.
    pub fn parts(&self) -> impl Iterator<Item = &'static Part> + use<> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field(part) => Some(part),
            Piece::Text(_) => None,
        })
    }

    /// Whether this field stands in it.
    pub fn has(&self, field: &str) -> bool {
        self.parts().any(|part| part.field == field)
    }

    /// The key, `None` if a field has no value.
    ///
    /// # Errors
    /// A field is missing, or its value cannot stand in a key.
    pub fn render(&self, fields: Fields<'_>) -> Result<Option<String>> {
        let mut text = String::new();
        for piece in self.pieces {
            match piece {
                Piece::Text(constant) => text.push_str(constant),
                Piece::Field(part) => {
                    let value = fields(part.field).ok_or_else(|| {
                        Error::validation(format!("the key {self} needs `{}`", part.field))
                    })?;
                    if !(part.write)(value, &mut text)? {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(text))
    }

    /// The key up to the first field that is missing or has no value.
    ///
    /// # Errors
    /// A value cannot stand in a key.
    pub fn prefix(&self, fields: Fields<'_>) -> Result<Prefix> {
        self.prefix_in(fields, None)
    }

    /// The same in this shard, if the shard is missing.
    pub(super) fn prefix_in(&self, fields: Fields<'_>, shard: Option<u32>) -> Result<Prefix> {
        let mut text = String::new();
        for piece in self.pieces {
            match piece {
                Piece::Text(constant) => text.push_str(constant),
                Piece::Field(part) => {
                    let is_written = match (fields(part.field), shard) {
                        (Some(value), _) => (part.write)(value, &mut text)?,
                        (None, Some(shard)) if part.shards > 0 => {
                            text.push_str(&shard_text(shard, part.shards));
                            true
                        }
                        (None, _) => false,
                    };
                    if !is_written {
                        return Ok(Prefix { text, missing: Some(part.field) });
                    }
                }
            }
        }
        Ok(Prefix { text, missing: None })
    }

    /// The values of the fields of a key that can be read back.
    ///
    /// # Errors
    /// The text is not one that this template makes.
    pub fn read(&self, text: &str) -> Result<Vec<(&'static str, Value)>> {
        let refuse = || Error::validation(format!("{text:?} is not a key of the form {self}"));
        let mut values = Vec::new();
        let mut rest = text;
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Text(constant) => rest = rest.strip_prefix(constant).ok_or_else(refuse)?,
                Piece::Field(part) => {
                    // The macro sees to it that a field has one width or no separator in it. What
                    // another type writes may have one at the end of the key.
                    let is_last = pieces.peek().is_none();
                    let end = match part.width {
                        Some(width) => width,
                        None if is_last && part.read.is_none() => rest.len(),
                        None => rest.find(SEPARATOR).unwrap_or(rest.len()),
                    };
                    let (own, following) = rest.split_at_checked(end).ok_or_else(refuse)?;
                    if let Some(read) = part.read {
                        values.push((part.field, read(own).map_err(|_| refuse())?));
                    }
                    rest = following;
                }
            }
        }
        if rest.is_empty() { Ok(values) } else { Err(refuse()) }
    }

    /// Whether this could be the text of a key of this template.
    pub fn matches(&self, text: &str) -> bool {
        self.read(text).is_ok()
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Field(Part { field, format: "", .. }) => write!(f, "{{{field}}}")?,
                Piece::Field(Part { field, format, .. }) => write!(f, "{{{field}:{format}}}")?,
            }
        }
        Ok(())
    }
}
