//! Sequence numbers and event ids of stream records.
//!
//! Shards and iterators, which are made of the numbers, are in core's `stream_state`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tabla_core::Result;
use tabla_core::env::Env;

use crate::catalogue::Catalogue;
use crate::session::Session;

/// Number of sequence numbers that are allocated from the file at once. The page with the last
/// number is then written once for hundreds of records.
const BLOCK_SIZE: i64 = 1000;

/// Allocator of sequence numbers, and the epoch of event ids, of one opened store.
///
/// All streams of a file share one sequence of numbers, and so do all processes that write to it.
/// The file has the last allocated number. A store allocates a block of them and uses it until
/// another store allocates one; the rest of the block then stays unused. So numbers rise in the
/// order of the commits.
#[derive(Debug)]
pub(crate) struct SequenceAllocator {
    /// Random number, drawn when the store is opened and never stored: core's `record::event_id`
    /// has the reason.
    epoch: u64,
    /// Whether other stores can allocate from the same file; false in memory.
    is_shared: bool,
    block: Mutex<Option<SequenceBlock>>,
}

/// Block of sequence numbers that the store has allocated from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceBlock {
    /// Last number that was used.
    last: i64,
    /// Last number of the block.
    through: i64,
}

impl SequenceAllocator {
    pub(crate) fn new(env: &Env, is_shared: bool) -> Self {
        Self { epoch: env.random.next_u64(), is_shared, block: Mutex::default() }
    }

    /// Returns the block of a store in memory, if it has one; `None` for a file, because another
    /// store may have allocated a newer block.
    fn exclusive_block(&self) -> Option<SequenceBlock> {
        self.lock().filter(|_| !self.is_shared)
    }

    /// Returns the epoch as a record stores it.
    pub(crate) fn epoch(&self) -> i64 {
        self.epoch as i64
    }

    /// Returns the store's block if it ends with `taken`, the last number allocated from the file;
    /// otherwise an empty block there.
    fn block_after(&self, taken: i64) -> SequenceBlock {
        let own = self.lock().filter(|block| block.through == taken);
        own.unwrap_or(SequenceBlock { last: taken, through: taken })
    }

    /// Stores the rest of a committed group's block.
    pub(crate) fn commit(&self, block: Option<SequenceBlock>) {
        if block.is_some() {
            *self.lock() = block;
        }
    }

    /// Discards the block after a failed commit, which may have used some of its numbers.
    pub(crate) fn reset(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<SequenceBlock>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session<'_> {
    /// Returns the last sequence number before a boundary: every later record, of any store, has a
    /// higher one.
    ///
    /// Without a boundary, another store could continue with lower numbers, from a block that it
    /// has allocated before, and a stream or shard that opens here would miss its records. The
    /// boundary lies in a block of this store. Allocating that block invalidates all others,
    /// because a store uses its block only while it is the file's newest.
    pub(crate) fn boundary(&mut self) -> Result<i64> {
        let mut block = self.current_block()?;
        if block.last == block.through {
            self.allocate(&mut block)?;
            self.block = Some(block);
        }
        Ok(block.last)
    }

    /// Allocates the next sequence number.
    pub(crate) fn next_sequence_number(&mut self) -> Result<i64> {
        let mut block = self.current_block()?;
        if block.last == block.through {
            self.allocate(&mut block)?;
        }
        block.last += 1;
        self.block = Some(block);
        Ok(block.last)
    }

    /// Allocates all sequence numbers up to `through`, and leaves them unused.
    pub(crate) fn allocate_through(&mut self, through: u64) -> Result<()> {
        while (self.current_block()?.last as u64) < through {
            self.next_sequence_number()?;
        }
        Ok(())
    }

    /// Extends a used-up block by a new one from the file.
    fn allocate(&mut self, block: &mut SequenceBlock) -> Result<()> {
        block.through += BLOCK_SIZE;
        self.execute("UPDATE tabla_state SET last_record = ?1", [block.through])?;
        Ok(())
    }

    /// Returns the block of the group: the rest of the store's block, if the file has no newer one.
    fn current_block(&mut self) -> Result<SequenceBlock> {
        if let Some(block) = self.block.or_else(|| self.numbers.exclusive_block()) {
            return Ok(block);
        }
        let taken = match self.taken {
            Some(taken) => taken,
            None => Catalogue::stored_state(self.connection)?.1,
        };
        let block = self.numbers.block_after(taken);
        self.block = Some(block);
        Ok(block)
    }
}
