//! Full validation of encoded bytes, after which views of them cannot fail.

use bytes::Bytes;

use super::{ItemHeader, corrupt, read_header, wire};
use crate::limits::ATTRIBUTE_DEPTH;
use crate::{Error, number};

/// Checks that the bytes are the canonical encoding of an item; returns its header.
pub(crate) fn check_item(bytes: &Bytes) -> Result<ItemHeader, Error> {
    let head = read_header(bytes)?;
    let mut reader = Reader { rest: &bytes[head.start..], nesting: 0 };
    let size = reader.entries(head.count)?;
    reader.finish()?;
    if size != head.size {
        return Err(corrupt(format!("its header has size {}, its attributes {size}", head.size)));
    }
    Ok(head)
}

/// Cursor over encoded bytes that checks them and adds up DynamoDB's sizes.
struct Reader<'a> {
    rest: &'a [u8],
    nesting: usize,
}

impl<'a> Reader<'a> {
    fn entries(&mut self, count: usize) -> Result<usize, Error> {
        let mut size = 0;
        let mut previous: Option<&[u8]> = None;
        for _ in 0..count {
            let name = self.text()?;
            if previous.is_some_and(|previous| previous >= name) {
                return Err(corrupt("attribute names are not in order"));
            }
            previous = Some(name);
            size += name.len() + self.value()?;
        }
        Ok(size)
    }

    fn value(&mut self) -> Result<usize, Error> {
        match self.byte()? {
            wire::S => Ok(self.text()?.len()),
            wire::N => Ok(self.number()?.size()),
            wire::B => Ok(self.block()?.len()),
            wire::FALSE | wire::TRUE | wire::NULL => Ok(1),
            wire::M => {
                let (mut content, count) = self.nested()?;
                let size = content.entries(count)?;
                content.finish()?;
                Ok(3 + count + size)
            }
            wire::L => {
                let (mut content, count) = self.nested()?;
                let mut size = 3 + count;
                for _ in 0..count {
                    size += content.value()?;
                }
                content.finish()?;
                Ok(size)
            }
            wire::SS => {
                let (mut content, count) = self.content()?;
                content
                    .members(count, |content| content.text().map(|member| (member, member.len())))
            }
            wire::NS => {
                let (mut content, count) = self.content()?;
                content.members(count, |content| {
                    content.number().map(|member| (member, member.size()))
                })
            }
            wire::BS => {
                let (mut content, count) = self.content()?;
                content
                    .members(count, |content| content.block().map(|member| (member, member.len())))
            }
            tag => Err(corrupt(format!("unknown value tag {tag}"))),
        }
    }

    /// Checks the members of a set and their order; returns their size.
    fn members<T: Ord>(
        &mut self,
        count: usize,
        read: impl Fn(&mut Self) -> Result<(T, usize), Error>,
    ) -> Result<usize, Error> {
        if count == 0 {
            return Err(corrupt("empty set"));
        }
        let mut total = 0;
        let mut previous: Option<T> = None;
        for _ in 0..count {
            let (member, size) = read(self)?;
            if previous.is_some_and(|previous| previous >= member) {
                return Err(corrupt("set members are not in order"));
            }
            previous = Some(member);
            total += size;
        }
        self.finish()?;
        Ok(total)
    }

    /// Enters a list or a map: one more nesting level.
    fn nested(&mut self) -> Result<(Reader<'a>, usize), Error> {
        let (content, count) = self.content()?;
        let nesting = self.nesting + 1;
        if nesting > ATTRIBUTE_DEPTH {
            return Err(corrupt(format!("more than {ATTRIBUTE_DEPTH} lists and maps are nested")));
        }
        Ok((Reader { nesting, ..content }, count))
    }

    /// Enters a container; returns a reader of its content and its element count.
    fn content(&mut self) -> Result<(Reader<'a>, usize), Error> {
        let content = self.block()?;
        let (count, rest) = wire::take_varint(content)
            .ok_or_else(|| corrupt("the element count is not a valid varint"))?;
        let nesting = self.nesting;
        Ok((Reader { rest, nesting }, count))
    }

    fn byte(&mut self) -> Result<u8, Error> {
        let (byte, rest) =
            self.rest.split_first().ok_or_else(|| corrupt("the bytes end inside a value"))?;
        self.rest = rest;
        Ok(*byte)
    }

    fn block(&mut self) -> Result<&'a [u8], Error> {
        let (block, rest) = wire::take_block(self.rest)
            .ok_or_else(|| corrupt("bad length, or the bytes end inside a value"))?;
        self.rest = rest;
        Ok(block)
    }

    fn text(&mut self) -> Result<&'a [u8], Error> {
        let block = self.block()?;
        std::str::from_utf8(block).map_err(|_| corrupt("a string is not UTF-8"))?;
        Ok(block)
    }

    fn number(&mut self) -> Result<number::Number, Error> {
        let (number, rest) =
            number::decode(self.rest).ok_or_else(|| corrupt("malformed number"))?;
        self.rest = rest;
        Ok(number)
    }

    fn finish(&self) -> Result<(), Error> {
        if self.rest.is_empty() { Ok(()) } else { Err(corrupt("bytes follow the last element")) }
    }
}
