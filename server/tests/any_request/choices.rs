//! Decisions of a generator, derived from bytes.

/// Source of decisions: equal bytes give equal decisions. After the last byte every decision is the
/// first alternative, so that few bytes give a simple request.
#[derive(Debug)]
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns a number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let mut number = usize::from(self.byte());
        if count > 256 {
            number = number << 8 | usize::from(self.byte());
        }
        number % count
    }

    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    /// Returns the next `count` bytes, or fewer at the end.
    pub(crate) fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }
}
