//! Which items hang together.

/// Sets of keys that have no transaction in common, found by joining those that have.
#[derive(Clone, Debug)]
pub(super) struct DisjointSets {
    parents: Vec<usize>,
}

impl DisjointSets {
    /// Each key by itself.
    pub(super) fn new(keys: usize) -> Self {
        Self { parents: (0..keys).collect() }
    }

    /// Puts these keys into one set.
    pub(super) fn join(&mut self, keys: &[usize]) {
        let mut keys = keys.iter().map(|key| self.of(*key)).collect::<Vec<_>>().into_iter();
        let Some(first) = keys.next() else { return };
        for root in keys {
            self.parents[root] = first;
        }
    }

    /// The set of a key, named by one of its members.
    pub(super) fn of(&self, key: usize) -> usize {
        let mut root = key;
        while self.parents[root] != root {
            root = self.parents[root];
        }
        root
    }

    /// The names of all sets.
    pub(super) fn names(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.parents.len()).filter(|key| self.parents[*key] == *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_share_a_transaction_are_joined_through_others_too() {
        let mut groups = DisjointSets::new(6);
        groups.join(&[0, 1]);
        groups.join(&[3, 4]);
        groups.join(&[1, 4, 3]);
        groups.join(&[5]);
        groups.join(&[]);
        assert_eq!(groups.of(0), groups.of(3));
        assert_ne!(groups.of(0), groups.of(2));
        assert_eq!(groups.names().count(), 3);
    }
}
