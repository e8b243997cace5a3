//! Types of fields that a change can add to, and the numbers that they hold.

use std::num::{NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64};

use tabla_core::expr::{Condition, Path};
use tabla_core::{Number, Value};

/// Type of a field that [`Change::increment`](super::Change::increment) can add to.
///
/// A type of your own that is stored as a number says which numbers it can hold:
///
/// ```
/// use tabla::entity::{NumberRange, Numeric};
///
/// struct Likes(u32);
///
/// impl Numeric for Likes {
///     fn range() -> NumberRange {
///         u32::range()
///     }
/// }
/// assert_eq!(Likes::range().high, Some(u32::MAX.into()));
/// ```
pub trait Numeric {
    /// Numbers that the type can hold.
    fn range() -> NumberRange;
}

/// Numbers that a type can hold, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRange {
    /// Smallest number; `None` for the smallest that DynamoDB stores.
    pub low: Option<Number>,
    /// Greatest number; `None` for the greatest that DynamoDB stores.
    pub high: Option<Number>,
    /// Whether the type holds whole numbers only.
    pub is_whole: bool,
}

impl NumberRange {
    /// Every number that DynamoDB stores.
    pub const ANY: Self = Self { low: None, high: None, is_whole: false };

    /// Whether the type can hold this number.
    pub fn contains(&self, number: Number) -> bool {
        self.low.is_none_or(|low| low <= number)
            && self.high.is_none_or(|high| number <= high)
            && !(self.is_whole && number.scale() > 0)
    }

    /// Condition under which the sum of a present number and this amount is in the range; a missing
    /// attribute counts as zero, as it does for `ADD`.
    pub(super) fn guard(&self, path: Path, amount: Number) -> Guard {
        if amount.is_zero() {
            return Guard::Always;
        }
        if self.is_whole && amount.scale() > 0 {
            return Guard::Never;
        }
        // The end that the sum moves towards, and the one behind it.
        let (end, behind) = match amount.is_negative() {
            true => (self.low, self.high),
            false => (self.high, self.low),
        };
        let Some(end) = end else { return Guard::Always };
        let Some(limit) = less(end, amount) else { return Guard::Never };
        let is_beyond = |limit: Number, end: Number| match amount.is_negative() {
            true => limit > end,
            false => limit < end,
        };
        if behind.is_some_and(|behind| is_beyond(limit, behind)) {
            return Guard::Never;
        }
        let present = match amount.is_negative() {
            true => path.clone().ge(Value::N(limit)),
            false => path.clone().le(Value::N(limit)),
        };
        Guard::If(match is_beyond(limit, Number::ZERO) {
            true => present,
            false => path.not_exists().or(present),
        })
    }
}

/// When an amount may be added.
pub(super) enum Guard {
    /// Whatever the present number is.
    Always,
    /// If this holds.
    If(Condition),
    /// Whatever the present number is, the sum is out of range.
    Never,
}

/// Greatest, or smallest, number that the amount can be added to without passing this end of the
/// range; `None` if there is none. Where the difference has over 38 digits, the amount counts for
/// the next power of ten, or for a 10^36th of the end if that is more.
fn less(end: Number, amount: Number) -> Option<Number> {
    if let Ok(limit) = end.checked_sub(amount) {
        return Some(limit);
    }
    let power = (amount.magnitude() + 1).max(end.magnitude() - 36);
    let sign = if amount.is_negative() { "-" } else { "" };
    let amount = Number::parse(&format!("{sign}1e{power}")).ok()?;
    end.checked_sub(amount).ok()
}

macro_rules! whole {
    ($($type:ty: $low:expr, $high:expr;)+) => {$(
        impl Numeric for $type {
            fn range() -> NumberRange {
                let (low, high) = (Some($low), Some($high));
                NumberRange { low, high, is_whole: true }
            }
        }
    )+};
}

whole! {
    u8: Number::ZERO, u8::MAX.into();
    u16: Number::ZERO, u16::MAX.into();
    u32: Number::ZERO, u32::MAX.into();
    u64: Number::ZERO, u64::MAX.into();
    u128: Number::ZERO, widest();
    usize: Number::ZERO, (usize::MAX as u64).into();
    i8: i8::MIN.into(), i8::MAX.into();
    i16: i16::MIN.into(), i16::MAX.into();
    i32: i32::MIN.into(), i32::MAX.into();
    i64: i64::MIN.into(), i64::MAX.into();
    i128: widest().negated(), widest();
    isize: (isize::MIN as i64).into(), (isize::MAX as i64).into();
    NonZeroU8: 1.into(), u8::MAX.into();
    NonZeroU16: 1.into(), u16::MAX.into();
    NonZeroU32: 1.into(), u32::MAX.into();
    NonZeroU64: 1.into(), u64::MAX.into();
}

/// Greatest number of which every smaller whole number can be stored, too: 38 digits.
fn widest() -> Number {
    Number::try_from(10_u128.pow(38) - 1).expect("38 digits fit")
}

impl Numeric for Number {
    fn range() -> NumberRange {
        NumberRange::ANY
    }
}

impl Numeric for f64 {
    /// An `f64` reaches further than DynamoDB's numbers do.
    fn range() -> NumberRange {
        NumberRange::ANY
    }
}

impl Numeric for f32 {
    /// A number beyond 3.4e38 is read as infinity, which cannot be stored again.
    fn range() -> NumberRange {
        let high = Number::parse("3.4e38").expect("a number in range");
        NumberRange { low: Some(high.negated()), high: Some(high), is_whole: false }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use tabla_core::{Item, attr};

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    /// Whether an amount may be added to this number, or to none.
    fn allows<T: Numeric>(present: Option<Number>, amount: Number) -> bool {
        let item = match present {
            Some(present) => Item::new().with("n", Value::N(present)),
            None => Item::new(),
        };
        match T::range().guard(attr("n"), amount) {
            Guard::Always => true,
            Guard::If(condition) => condition.evaluate(&item),
            Guard::Never => false,
        }
    }

    #[test]
    fn sum_stays_in_the_range_of_the_type() {
        fn check<T: Numeric>(present: Option<&str>, amount: &str, is_allowed: bool) {
            let answer = allows::<T>(present.map(number), number(amount));
            let name = std::any::type_name::<T>();
            assert_eq!(answer, is_allowed, "{name}: {present:?} + {amount}");
        }
        check::<u32>(Some("0"), "4294967295", true);
        check::<u32>(Some("1"), "4294967295", false);
        check::<u32>(None, "4294967295", true);
        check::<u32>(None, "4294967296", false);
        check::<u32>(None, "-1", false);
        check::<u32>(None, "0", true);
        check::<u32>(Some("5"), "-5", true);
        check::<u32>(Some("4"), "-5", false);
        check::<u32>(Some("4"), "0.5", false);
        check::<u32>(Some("4"), "1e60", false);
        check::<u32>(Some("4"), "-1e60", false);
        check::<u64>(Some("18446744073709551614"), "1", true);
        check::<u64>(Some("18446744073709551615"), "1", false);
        check::<i64>(Some("-9223372036854775808"), "18446744073709551615", true);
        check::<i64>(None, "18446744073709551615", false);
        check::<i64>(Some("-1"), "-9223372036854775807", true);
        check::<i64>(Some("-1"), "-9223372036854775808", false);
        check::<i64>(None, "-9223372036854775808", true);
        check::<i8>(None, "200", false);
        check::<i8>(Some("-100"), "200", true);
        check::<i8>(Some("-100"), "256", false);
        check::<NonZeroU8>(Some("5"), "-4", true);
        check::<NonZeroU8>(Some("5"), "-5", false);
        check::<NonZeroU8>(None, "1", true);
        check::<u128>(Some("1"), "99999999999999999999999999999999999998", true);
        check::<u128>(Some("2"), "99999999999999999999999999999999999998", false);
        check::<i128>(Some("-99999999999999999999999999999999999999"), "-1", false);
        check::<f32>(Some("1.5"), "0.25", true);
        check::<f32>(None, "-1e-30", true);
        check::<f32>(Some("3.4e38"), "1", false);
        check::<f32>(Some("3.3e38"), "1e37", true);
        check::<f32>(None, "1e39", false);
        check::<f64>(Some("1e100"), "9e125", true);
        check::<Number>(Some("-1"), "-0.1", true);
    }

    proptest! {
        #[test]
        fn guard_of_whole_numbers_is_exact(present: i16, amount in -70_000_i32..70_000) {
            let sum = i32::from(present) + amount;
            let (present, added) = (Number::from(present), Number::from(amount));
            prop_assert_eq!(allows::<i16>(Some(present), added), i16::try_from(sum).is_ok());
            prop_assert_eq!(allows::<i16>(None, added), i16::try_from(amount).is_ok());
            if !present.is_negative() {
                prop_assert_eq!(allows::<u16>(Some(present), added), u16::try_from(sum).is_ok());
            }
        }
    }
}
