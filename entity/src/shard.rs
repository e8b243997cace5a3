//! Shards: parts of a key that spread one hot partition over several.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::part::KeyPart;
use tabla_core::backend::key_encoding;
use tabla_core::env::Random;
use tabla_core::{Error, Result};

/// Which of `N` shards an item is in.
///
/// In a template, a field of this type writes `#shard` and the number; with one shard it writes
/// nothing, so that a partition can be declared shardable before it has to be. The value is the one
/// that the field was given, such as a random one; `{other:shard 10}` needs no field of this type
/// and writes the shard that another field's value is always in.
///
/// ```
/// use tabla::entity::Sharded;
///
/// let shard = Sharded::<10>::by("event-1");
/// assert_eq!(shard, Sharded::by("event-1"));
/// assert!(shard.number() < 10);
/// assert_eq!(Sharded::<10>::all().count(), 10);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "u32", into = "u32")]
pub struct Sharded<const N: u32>(u32);

impl<const N: u32> Sharded<N> {
    const SOME: () = assert!(N > 0 && N <= 1000, "from 1 to 1000 shards");

    /// The shard with this number.
    ///
    /// # Errors
    /// There are not so many.
    pub fn new(number: u32) -> Result<Self> {
        let () = Self::SOME;
        if number >= N {
            return Err(Error::validation(format!("there is no shard {number} among {N}")));
        }
        Ok(Self(number))
    }

    /// The shard of a text, always the same.
    pub fn by(text: impl AsRef<[u8]>) -> Self {
        let () = Self::SOME;
        Self((key_encoding::hash(text.as_ref()) % u64::from(N)) as u32)
    }

    /// Any shard.
    pub fn random(random: &dyn Random) -> Self {
        let () = Self::SOME;
        Self((random.next_u64() % u64::from(N)) as u32)
    }

    /// All shards, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..N).map(Self)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// The number of a shard, in as many digits as the largest of so many has.
pub(super) fn shard_text(number: u32, shards: u32) -> String {
    let width = match shards {
        0..=10 => 1,
        11..=100 => 2,
        _ => 3,
    };
    format!("{number:0width$}")
}

impl<const N: u32> TryFrom<u32> for Sharded<N> {
    type Error = Error;

    fn try_from(number: u32) -> Result<Self> {
        Self::new(number)
    }
}

impl<const N: u32> From<Sharded<N>> for u32 {
    fn from(shard: Sharded<N>) -> Self {
        shard.0
    }
}

impl<const N: u32> fmt::Display for Sharded<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shard_text(self.0, N))
    }
}

/// The number alone, in as many digits as the largest has.
impl<const N: u32> KeyPart for Sharded<N> {
    const SAFE: bool = true;
    const ORDERED: bool = true;
    const VALUES: Option<u32> = Some(N);

    fn write_key(&self, out: &mut String) -> Result<()> {
        out.push_str(&self.to_string());
        Ok(())
    }

    fn read_key(text: &str) -> Result<Self> {
        let refuse = || Error::validation(format!("{text:?} is not the number of a shard"));
        let shard = Self::new(text.parse().map_err(|_| refuse())?)?;
        if shard.to_string() == text { Ok(shard) } else { Err(refuse()) }
    }

    fn example(_: &str) -> Self {
        Self(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reads_back<const N: u32>() {
        let texts: Vec<String> = Sharded::<N>::all().map(|shard| shard.to_string()).collect();
        assert_eq!(texts.len(), N as usize);
        assert!(texts.is_sorted() && texts.iter().all(|text| text.len() == texts[0].len()));
        for (shard, text) in Sharded::<N>::all().zip(&texts) {
            assert_eq!(Sharded::<N>::read_key(text).unwrap(), shard);
            assert_eq!(Sharded::<N>::try_from(u32::from(shard)).unwrap(), shard);
        }
        assert!(Sharded::<N>::new(N).is_err());
        assert!(Sharded::<N>::read_key(&format!("0{}", texts[0])).is_err());
        assert!(Sharded::<N>::read_key(&shard_text(N, N)).is_err());
    }

    #[test]
    fn all_shards_have_one_width_and_read_back() {
        reads_back::<1>();
        reads_back::<10>();
        reads_back::<11>();
        reads_back::<100>();
        reads_back::<101>();
        reads_back::<1000>();
    }

    proptest! {
        #[test]
        fn a_text_is_always_in_one_shard(text in ".{0,20}") {
            let shard = Sharded::<7>::by(&text);
            prop_assert!(shard.number() < 7);
            prop_assert_eq!(shard, Sharded::by(text.as_bytes()));
        }
    }

    #[test]
    fn texts_are_spread_over_all_shards() {
        let mut counts = [0_u32; 10];
        for number in 0..10_000 {
            counts[Sharded::<10>::by(format!("event-{number}")).number() as usize] += 1;
        }
        assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
    }
}
