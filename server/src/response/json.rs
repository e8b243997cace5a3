//! Incremental writer of JSON text.

use std::fmt::Display;
use std::io::Write;

use tabla_core::Item;

/// Initial buffer for the text of a response besides its items, in bytes.
const BUFFER: usize = 256;

/// Returns the text of an object.
pub(crate) fn object(write: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(BUFFER);
    put_object(&mut out, write);
    out
}

/// Returns the text of an object that contains these items.
///
/// Its buffer has room for them from the start: a buffer that grows takes up to three times the
/// memory of the text, because it is copied to one of twice the size.
pub(crate) fn object_with_items<'a>(
    items: impl IntoIterator<Item = &'a Item>,
    write: impl FnOnce(&mut Object<'_>),
) -> Vec<u8> {
    let size: usize = items.into_iter().map(Item::size).sum();
    // Type codes and punctuation add a few per cent to an item of long values.
    let mut out = Vec::with_capacity(BUFFER + size + size / 16);
    put_object(&mut out, write);
    out
}

/// Object that is being written.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

/// Array that is being written.
pub(crate) struct Array<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl Object<'_> {
    /// Writes the name of a member. The caller writes its value next.
    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        put_text(self.out, name);
        self.out.push(b':');
        self.out
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        put_text(self.name(name), text);
    }

    pub(crate) fn flag(&mut self, name: &str, flag: bool) {
        self.number(name, flag);
    }

    /// Writes a member with an integer, or anything else whose text is JSON.
    pub(crate) fn number(&mut self, name: &str, number: impl Display) {
        write!(self.name(name), "{number}").expect("writing to a vector does not fail");
    }

    /// Writes a member with a number that may have a fraction.
    pub(crate) fn decimal(&mut self, name: &str, number: f64) {
        serde_json::to_writer(self.name(name), &number).expect("writing to a vector does not fail");
    }

    pub(crate) fn item(&mut self, name: &str, item: &Item) {
        item.write_json(self.name(name));
    }

    pub(crate) fn object(&mut self, name: &str, write: impl FnOnce(&mut Object<'_>)) {
        put_object(self.name(name), write);
    }

    pub(crate) fn array(&mut self, name: &str, write: impl FnOnce(&mut Array<'_>)) {
        put_array(self.name(name), write);
    }
}

impl Array<'_> {
    /// Starts an element. The caller writes it next.
    fn element(&mut self) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        self.out
    }

    pub(crate) fn text(&mut self, text: &str) {
        put_text(self.element(), text);
    }

    pub(crate) fn decimal(&mut self, number: f64) {
        serde_json::to_writer(self.element(), &number).expect("writing to a vector does not fail");
    }

    pub(crate) fn item(&mut self, item: &Item) {
        item.write_json(self.element());
    }

    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Object<'_>)) {
        put_object(self.element(), write);
    }
}

fn put_object(out: &mut Vec<u8>, write: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    write(&mut Object { out, is_empty: true });
    out.push(b'}');
}

fn put_array(out: &mut Vec<u8>, write: impl FnOnce(&mut Array<'_>)) {
    out.push(b'[');
    write(&mut Array { out, is_empty: true });
    out.push(b']');
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing to a vector does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_large_items_fits_into_its_first_buffer() {
        let items = vec![tabla_core::item! { "pk" => "a", "text" => "x".repeat(10_000) }; 10];
        let text = object_with_items(&items, |answer| {
            answer.array("Items", |array| items.iter().for_each(|item| array.item(item)));
        });
        assert!(text.len() > 100_000);
        assert!(text.capacity() < 110_000, "{}", text.capacity());
    }

    #[test]
    fn strings_are_escaped_and_members_separated() {
        let text = object(|answer| {
            answer.text("a\"", "b\n");
            answer.number("n", -1);
            answer.decimal("d", 1.0);
            answer.flag("f", true);
            answer.array("l", |array| {
                array.decimal(0.5);
                array.text("x");
                array.object(|_| {});
            });
            answer.object("o", |object| object.text("k", ""));
            answer.item("i", &tabla_core::item! { "pk" => 1 });
        });
        assert_eq!(
            String::from_utf8(text).unwrap(),
            r#"{"a\"":"b\n","n":-1,"d":1.0,"f":true,"l":[0.5,"x",{}],"o":{"k":""},"i":{"pk":{"N":"1"}}}"#
        );
    }
}
