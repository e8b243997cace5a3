//! Exact decimal numbers with DynamoDB's precision and range.
//!
//! The value, its arithmetic and its order belong here; its forms are in `text`, `bytes` and
//! `convert`.

mod bytes;
mod convert;
mod text;

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hash;

use crate::Error;

pub(crate) use self::bytes::{decode, encode, skip};

/// Largest number of significant digits, 38 (developer guide, "Data types").
pub const MAX_DIGITS: u32 = 38;

/// Largest decimal exponent of the first significant digit, 125.
pub const MAX_EXPONENT: i32 = 125;

/// Smallest decimal exponent of the first significant digit, -130.
pub const MIN_EXPONENT: i32 = -130;

/// Exclusive upper bound of every coefficient, 10^38.
const COEFFICIENT_LIMIT: u128 = 10u128.pow(MAX_DIGITS);

/// Exact decimal number, as DynamoDB stores it.
///
/// A number is zero, or has at most 38 significant digits and a magnitude between `1E-130` and
/// `9.9999999999999999999999999999999999999E+125`. It is always in one normal form: no trailing
/// zeros, and one zero without a sign. Equality, hashing and ordering are therefore those of the
/// value: `1`, `1.0` and `1e0` are the same number.
///
/// ```
/// use tabla::Number;
///
/// let price: Number = "1.200".parse()?;
/// assert_eq!(price.to_string(), "1.2");
/// assert_eq!(price.checked_add(Number::from(2))?.to_string(), "3.2");
/// # Ok::<(), tabla::NumberError>(())
/// ```
// The coefficient is in two halves because a `u128` field would raise the alignment to 16, and with
// it the size of every value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    high: u64,
    low: u64,
    exponent: i16,
    negative: bool,
}

/// Reason why a text, a Rust number or a sum is not a number that DynamoDB can store.
///
/// The texts are DynamoDB's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberError {
    /// The text is not a decimal number. The field contains the text.
    Syntax(String),
    /// The number has more than 38 significant digits.
    TooManyDigits,
    /// The magnitude is above the supported range.
    Overflow,
    /// The magnitude is below the supported range, and not zero.
    Underflow,
}

impl Number {
    /// The number zero.
    pub const ZERO: Number = Number { high: 0, low: 0, exponent: 0, negative: false };

    /// Parses decimal text: an optional sign, digits with an optional point, an optional exponent.
    ///
    /// # Errors
    ///
    /// The text does not have that form, has more than 38 significant digits, or is out of range. A
    /// zero is checked by its written exponent, as on AWS: `0e126` is an overflow.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        text::parse(text)
    }

    /// Returns the exact sum.
    ///
    /// # Errors
    ///
    /// The exact sum needs more than 38 digits or is out of range. It is never rounded.
    pub fn checked_add(self, other: Self) -> Result<Self, NumberError> {
        if self.is_zero() {
            return Ok(other);
        }
        if other.is_zero() {
            return Ok(self);
        }
        let (upper, lower) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let gap = (upper.exponent - lower.exponent) as u32;
        // With a gap, the sum's last digit is the lower operand's last digit. That digit is not
        // zero, so the sum has no trailing zeros to remove. A scaled operand of at least 2*10^38,
        // less something below 10^38, then still has 39 digits.
        let scaled = 10u128
            .checked_pow(gap)
            .and_then(|power| upper.coefficient().checked_mul(power))
            .filter(|scaled| *scaled < 2 * COEFFICIENT_LIMIT)
            .ok_or(NumberError::TooManyDigits)?;
        let below = lower.coefficient();
        let (coefficient, negative) = if upper.negative == lower.negative {
            (scaled + below, upper.negative)
        } else if scaled >= below {
            (scaled - below, upper.negative)
        } else {
            (below - scaled, lower.negative)
        };
        Self::from_parts(negative, coefficient, i64::from(lower.exponent))
    }

    /// Returns the exact difference.
    ///
    /// # Errors
    ///
    /// As for [`checked_add`](Self::checked_add).
    pub fn checked_sub(self, other: Self) -> Result<Self, NumberError> {
        self.checked_add(other.negated())
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.high == 0 && self.low == 0
    }

    /// Whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Number of digits after the decimal point: 2 for `0.25`, 0 for whole numbers.
    pub fn scale(&self) -> u32 {
        u32::from(self.exponent.min(0).unsigned_abs())
    }

    /// Returns the number with the opposite sign; zero stays zero.
    #[must_use]
    pub fn negated(self) -> Self {
        Number { negative: !self.negative && !self.is_zero(), ..self }
    }

    /// Size of the number as DynamoDB counts it in an item, in bytes.
    ///
    /// 1 byte, plus 1 for a minus sign, plus 1 for every two digits before the point and every two
    /// after it, each rounded up. Leading and trailing zeros do not count.
    pub fn size(&self) -> usize {
        if self.is_zero() {
            return 1;
        }
        let digits = i32::try_from(self.digits()).expect("at most 38 digits");
        let exponent = i32::from(self.exponent);
        let (before, after) = if exponent >= 0 {
            (digits, 0)
        } else if digits + exponent > 0 {
            (digits + exponent, -exponent)
        } else {
            (0, digits)
        };
        let pairs = (before + 1) / 2 + (after + 1) / 2;
        1 + usize::try_from(pairs).expect("a digit count is not negative")
            + usize::from(self.negative)
    }

    /// Converts `±coefficient × 10^exponent` to the normal form; checks digits and range.
    fn from_parts(
        negative: bool,
        mut coefficient: u128,
        mut exponent: i64,
    ) -> Result<Self, NumberError> {
        if coefficient == 0 {
            return Ok(Self::ZERO);
        }
        while coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
        let digits = coefficient.ilog10() + 1;
        if digits > MAX_DIGITS {
            return Err(NumberError::TooManyDigits);
        }
        let magnitude = exponent + i64::from(digits) - 1;
        if magnitude > i64::from(MAX_EXPONENT) {
            return Err(NumberError::Overflow);
        }
        if magnitude < i64::from(MIN_EXPONENT) {
            return Err(NumberError::Underflow);
        }
        Ok(Self::normal(
            negative,
            coefficient,
            i16::try_from(exponent).expect("the range was checked"),
        ))
    }

    /// Creates a number from parts that are known to be in normal form.
    fn normal(negative: bool, coefficient: u128, exponent: i16) -> Self {
        Number { high: (coefficient >> 64) as u64, low: coefficient as u64, exponent, negative }
    }

    fn coefficient(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// Number of significant digits; 1 for zero.
    fn digits(&self) -> u32 {
        if self.high == 0 {
            self.low.checked_ilog10().unwrap_or(0) + 1
        } else {
            self.coefficient().ilog10() + 1
        }
    }

    /// Decimal exponent of the first significant digit: 2 for `250`, -1 for `0.25`, 0 for zero.
    pub fn magnitude(&self) -> i32 {
        i32::from(self.exponent) + self.digits() as i32 - 1
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        if self.exponent == other.exponent {
            return self.coefficient().cmp(&other.coefficient());
        }
        self.magnitude().cmp(&other.magnitude()).then_with(|| {
            // The first digits have the same decimal exponent. So `exponent` differs by at most 37,
            // and the scaled coefficient has at most 38 digits.
            let gap = u32::from(self.exponent.abs_diff(other.exponent));
            let power = 10u128.pow(gap);
            if self.exponent > other.exponent {
                (self.coefficient() * power).cmp(&other.coefficient())
            } else {
                self.coefficient().cmp(&(other.coefficient() * power))
            }
        })
    }
}

impl Default for Number {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let signs = sign(self).cmp(&sign(other));
        if signs.is_ne() || self.is_zero() {
            return signs;
        }
        let magnitudes = self.compare_magnitude(other);
        if self.negative { magnitudes.reverse() } else { magnitudes }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumberError::Syntax(text) if text.is_empty() => {
                f.write_str("The parameter cannot be converted to a numeric value")
            }
            NumberError::Syntax(text) => {
                write!(f, "The parameter cannot be converted to a numeric value: {text}")
            }
            NumberError::TooManyDigits => {
                f.write_str("Attempting to store more than 38 significant digits in a Number")
            }
            NumberError::Overflow => f.write_str(
                "Number overflow. Attempting to store a number with magnitude larger than \
                 supported range",
            ),
            NumberError::Underflow => f.write_str(
                "Number underflow. Attempting to store a number with magnitude smaller than \
                 supported range",
            ),
        }
    }
}

impl std::error::Error for NumberError {}

impl From<NumberError> for Error {
    fn from(error: NumberError) -> Self {
        Error::validation(error.to_string())
    }
}

#[cfg(test)]
mod tests;
