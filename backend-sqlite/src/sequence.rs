//! The numbers and the ids of stream records.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tabla_core::Result;
use tabla_core::env::Env;

use crate::catalogue::Catalogue;
use crate::session::Session;

/// Numbers that are taken from the file at once. So few that none are missed, so many that the page
/// with the last of them is written once for hundreds of records.
const BLOCK_SIZE: i64 = 1000;

/// What a store has for the records that it writes.
///
/// All streams of a file, and all processes that write to it, share one sequence of numbers. The
/// file has the last one that was taken from it: a store takes a block of them, and gives them out
/// as long as nobody has taken another block meanwhile. What it has left then stays unused, so that
/// numbers rise in the order of the commits.
#[derive(Debug)]
pub(crate) struct SequenceAllocator {
    /// Drawn when the store is opened, and never used again: `change::event_id` says why.
    epoch: u64,
    /// Whether others may take numbers, too.
    is_shared: bool,
    block: Mutex<Option<SequenceBlock>>,
}

/// Numbers that were taken from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceBlock {
    /// The last one that was given out.
    last: i64,
    /// The last one of the block.
    through: i64,
}

impl SequenceAllocator {
    pub(crate) fn new(env: &Env, is_shared: bool) -> Self {
        Self { epoch: env.random.next_u64(), is_shared, block: Mutex::default() }
    }

    /// The block of a store that nobody else takes numbers from, if it has one.
    fn exclusive_block(&self) -> Option<SequenceBlock> {
        self.lock().filter(|_| !self.is_shared)
    }

    /// The epoch, as it stands in a record.
    pub(crate) fn epoch(&self) -> i64 {
        self.epoch as i64
    }

    /// The block that can be used while the file has this as the last number taken.
    fn block_after(&self, taken: i64) -> SequenceBlock {
        let own = self.lock().filter(|block| block.through == taken);
        own.unwrap_or(SequenceBlock { last: taken, through: taken })
    }

    /// Keeps what a group that is committed has left of its block.
    pub(crate) fn commit(&self, block: Option<SequenceBlock>) {
        if block.is_some() {
            *self.lock() = block;
        }
    }

    /// Forgets the block: nobody knows which of its numbers are in the file.
    pub(crate) fn reset(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<SequenceBlock>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session<'_> {
    /// Last sequence number before a boundary: every record written after this group, by whichever
    /// store, has a higher one.
    ///
    /// A stream or a shard that opens here would otherwise miss the records of a store that goes on
    /// with lower numbers, from a block that it allocated before. So the boundary is in a block of
    /// this store's own: allocating it invalidates every other, because a store uses its block only
    /// while the file says that it is the newest.
    pub(crate) fn boundary(&mut self) -> Result<i64> {
        let mut block = self.current_block()?;
        if block.last == block.through {
            self.allocate(&mut block)?;
            self.block = Some(block);
        }
        Ok(block.last)
    }

    /// Gives out the next sequence number.
    pub(crate) fn next_sequence_number(&mut self) -> Result<i64> {
        let mut block = self.current_block()?;
        if block.last == block.through {
            self.allocate(&mut block)?;
        }
        block.last += 1;
        self.block = Some(block);
        Ok(block.last)
    }

    /// Gives out all numbers up to this one.
    pub(crate) fn allocate_through(&mut self, through: u64) -> Result<()> {
        while (self.current_block()?.last as u64) < through {
            self.next_sequence_number()?;
        }
        Ok(())
    }

    /// Extends a block that has no numbers left by a new one from the file.
    fn allocate(&mut self, block: &mut SequenceBlock) -> Result<()> {
        block.through += BLOCK_SIZE;
        self.execute("UPDATE tabla_state SET last_record = ?1", [block.through])?;
        Ok(())
    }

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
