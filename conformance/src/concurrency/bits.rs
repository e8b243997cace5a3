//! Set of small numbers as bits.

/// Set of numbers below a bound that is fixed when it is created.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BitSet(Box<[u64]>);

impl BitSet {
    /// Empty set for numbers below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)].into())
    }

    pub(super) fn has(&self, number: usize) -> bool {
        self.0[number / 64] & (1 << (number % 64)) != 0
    }

    pub(super) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Copy of the set with one more member.
    pub(super) fn with(&self, number: usize) -> Self {
        let mut more = self.clone();
        more.insert(number);
        more
    }

    /// Whether all members of this set are in the other.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_set_contains_inserted_numbers() {
        let small = BitSet::new(130).with(0).with(129);
        let large = small.with(64);
        assert!(large.has(0) && large.has(64) && large.has(129) && !large.has(65));
        assert!(small.is_within(&large) && !large.is_within(&small) && small.is_within(&small));
        assert!(BitSet::new(0).is_within(&BitSet::new(0)));
    }
}
