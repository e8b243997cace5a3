//! Key templates: constant text and fields in turn.

use std::any::Any;
use std::fmt;

use super::format::{Read, Write};
use super::part::SEPARATOR;
use tabla_core::Value;
use tabla_core::{Error, Result};

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
    /// Writes the argument of a query function: of `{at:as Day}` a day.
    pub argument: Write,
    /// Reads it back, if that can be done.
    pub read: Option<Read>,
    /// Whether the texts sort as the values do.
    pub ordered: bool,
    /// Among how many shards it chooses; 0 if it is no shard.
    pub shards: u32,
    /// How many bytes every text of it has, if all have as many.
    pub width: Option<usize>,
    /// How many texts there are at most, if that is known.
    pub values: Option<u32>,
}

impl Part {
    /// Whether larger values come first.
    pub(super) fn is_descending(&self) -> bool {
        self.format.starts_with("desc")
    }
}

/// Finds the fields of an entity by their names.
pub type Fields<'a> = &'a dyn Fn(&str) -> Option<&'a dyn Any>;

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
        let mut text = String::with_capacity(64);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::format;
    use super::super::{Id, Sharded, UtcTime};
    use super::*;

    const PART: Part = Part {
        field: "",
        format: "",
        write: format::plain::<Id>,
        argument: format::plain::<Id>,
        read: Some(format::read_plain::<Id>),
        ordered: true,
        shards: 0,
        width: None,
        values: None,
    };

    /// `A#{name}#{text:escaped}#x{number:desc04}{at}#shard{shard}`
    static TEMPLATE: Template = Template {
        pieces: &[
            Piece::Text("A#"),
            Piece::Field(Part { field: "name", ..PART }),
            Piece::Text("#"),
            Piece::Field(Part {
                field: "text",
                format: "escaped",
                write: format::escaped::<String>,
                read: Some(format::read_escaped::<String>),
                ..PART
            }),
            Piece::Text("#x"),
            Piece::Field(Part {
                field: "number",
                format: "desc04",
                write: format::descending::<u16, 4>,
                read: Some(format::read_descending::<u16, 4>),
                width: Some(4),
                ..PART
            }),
            Piece::Field(Part {
                field: "at",
                write: format::plain::<UtcTime>,
                read: Some(format::read_plain::<UtcTime>),
                width: Some(20),
                ..PART
            }),
            Piece::Text("#shard"),
            Piece::Field(Part {
                field: "shard",
                write: format::plain::<Sharded<11>>,
                read: Some(format::read_plain::<Sharded<11>>),
                shards: 11,
                width: Some(2),
                ..PART
            }),
        ],
    };

    const NAMES: [&str; 5] = ["name", "text", "number", "at", "shard"];

    #[derive(Clone, Debug, PartialEq)]
    struct Values {
        name: Id,
        text: String,
        number: u16,
        at: UtcTime,
        shard: Sharded<11>,
    }

    impl Values {
        fn field(&self, name: &str) -> Option<&dyn Any> {
            Some(match name {
                "name" => &self.name,
                "text" => &self.text,
                "number" => &self.number,
                "at" => &self.at,
                "shard" => &self.shard,
                _ => return None,
            })
        }
    }

    fn values() -> impl Strategy<Value = Values> {
        let name = "[x%é ]{1,3}".prop_map(|text| Id::new(text).unwrap());
        (name, "[x#%é]{1,3}", 0..10_000_u16, 0..4_000_000_000_u64, 0..11_u32).prop_map(
            |(name, text, number, at, shard)| Values {
                name,
                text,
                number,
                at: UtcTime::from_secs(at),
                shard: Sharded::new(shard).unwrap(),
            },
        )
    }

    fn render(values: &Values) -> String {
        TEMPLATE.render(&|name| values.field(name)).unwrap().unwrap()
    }

    proptest! {
        #[test]
        fn a_key_reads_back(values in values(), other in values()) {
            let key = render(&values);
            let read: Vec<_> = TEMPLATE.read(&key).unwrap();
            prop_assert!(read.iter().map(|(name, _)| *name).eq(NAMES));
            let value = |at: usize| &read[at].1;
            let back = Values {
                name: value(0).to_struct().unwrap(),
                text: value(1).to_struct().unwrap(),
                number: value(2).to_struct().unwrap(),
                at: value(3).to_struct().unwrap(),
                shard: value(4).to_struct().unwrap(),
            };
            prop_assert_eq!(key == render(&other), back == other);
            prop_assert_eq!(back, values);
        }

        #[test]
        fn only_keys_of_the_template_are_read(values in values(), at in 0..40_usize, with in "[#x0]") {
            let key = render(&values);
            let Some((start, old)) = key.char_indices().nth(at) else { return Ok(()) };
            let changed = format!("{}{with}{}", &key[..start], &key[start + old.len_utf8()..]);
            // What is read, if it is, is what makes this key and no other.
            if let Ok(read) = TEMPLATE.read(&changed) {
                let again = Values {
                    name: read[0].1.to_struct().unwrap(),
                    text: read[1].1.to_struct().unwrap(),
                    number: read[2].1.to_struct().unwrap(),
                    at: read[3].1.to_struct().unwrap(),
                    shard: read[4].1.to_struct().unwrap(),
                };
                prop_assert_eq!(render(&again), changed);
            }
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let key = "A#n#t#x99992025-08-18T10:30:00Z#shard07";
        assert!(TEMPLATE.matches(key));
        for (old, new) in [
            ("A#", "B#"),
            ("#n#", "##"),
            ("#n#", "#n#n#"),
            ("#t#", "#%#"),
            ("9999", "999"),
            ("9999", "999é"),
            ("Z#", "#"),
            ("07", "7"),
            ("07", "11"),
            ("07", "070"),
            ("#shard07", ""),
        ] {
            assert!(!TEMPLATE.matches(&key.replace(old, new)), "{old} {new}");
        }
        assert!(!TEMPLATE.matches(""));
    }

    #[test]
    fn what_another_type_writes_may_have_separators_at_the_end() {
        const BUCKET: Part = Part { field: "at", format: "as Bucket", read: None, ..PART };
        static LAST: Template = Template {
            pieces: &[Piece::Field(Part { field: "name", ..PART }), Piece::Field(BUCKET)],
        };
        let read = LAST.read("ana#b#3").unwrap();
        assert_eq!(read, [("name", Value::from("ana"))]);
    }

    #[test]
    fn a_template_is_shown_as_it_was_written() {
        assert_eq!(
            TEMPLATE.to_string(),
            "A#{name}#{text:escaped}#x{number:desc04}{at}#shard{shard}"
        );
        assert!(TEMPLATE.has("at") && !TEMPLATE.has("x"));
    }
}
