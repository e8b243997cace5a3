//! Groups of items that are connected by transactions.

/// Disjoint sets of keys: two keys that a transaction uses together are in one set.
#[derive(Clone, Debug)]
pub(super) struct DisjointSets {
    parents: Vec<usize>,
}

impl DisjointSets {
    /// Sets that each contain one key, for keys below `keys`.
    pub(super) fn new(keys: usize) -> Self {
        Self { parents: (0..keys).collect() }
    }

    /// Joins the sets of these keys.
    pub(super) fn join(&mut self, keys: &[usize]) {
        let mut keys = keys.iter().map(|key| self.of(*key)).collect::<Vec<_>>().into_iter();
        let Some(first) = keys.next() else { return };
        for root in keys {
            self.parents[root] = first;
        }
    }

    /// Set of a key, identified by one of its members.
    pub(super) fn of(&self, key: usize) -> usize {
        let mut root = key;
        while self.parents[root] != root {
            root = self.parents[root];
        }
        root
    }

    /// Identifiers of all sets.
    pub(super) fn names(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.parents.len()).filter(|key| self.parents[*key] == *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_joined_transitively() {
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
