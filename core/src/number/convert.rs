//! Conversions between [`Number`] and Rust's number types.

use super::{Number, NumberError};

impl Number {
    /// Converts to `i64`; `None` if the number has a fraction or does not fit.
    pub fn to_i64(&self) -> Option<i64> {
        self.to_i128()?.try_into().ok()
    }

    /// Converts to `u64`; `None` if the number has a fraction or does not fit.
    pub fn to_u64(&self) -> Option<u64> {
        self.to_u128()?.try_into().ok()
    }

    /// Converts to `i128`; `None` if the number has a fraction or does not fit.
    pub fn to_i128(&self) -> Option<i128> {
        let whole = self.whole()?;
        if self.negative {
            // The magnitude of `i128::MIN` is one more than that of `i128::MAX`.
            0i128.checked_sub_unsigned(whole)
        } else {
            whole.try_into().ok()
        }
    }

    /// Converts to `u128`; `None` if the number has a fraction or does not fit.
    pub fn to_u128(&self) -> Option<u128> {
        self.whole().filter(|_| !self.negative)
    }

    /// Integer part of the number; `None` if it is negative or does not fit.
    pub(crate) fn whole_part(&self) -> Option<u64> {
        let digits = u32::from(self.exponent.min(0).unsigned_abs());
        let whole = match digits {
            0 => self.whole()?,
            // A coefficient has at most 38 digits: with 39 or more after the point, the integer
            // part is 0.
            digits => 10u128.checked_pow(digits).map_or(0, |scale| self.coefficient() / scale),
        };
        whole.try_into().ok().filter(|_| !self.negative)
    }

    /// Converts to the nearest `f64`.
    pub fn to_f64(&self) -> f64 {
        // Whole numbers below 2^53 are exact in an `f64`.
        if self.high == 0 && self.exponent == 0 && self.low < 1 << 53 {
            let magnitude = self.low as f64;
            return if self.negative { -magnitude } else { magnitude };
        }
        self.text().as_str().parse().expect("a decimal text parses as a float")
    }

    /// Magnitude of a whole number; `None` if it has a fraction or more than 128 bits.
    fn whole(&self) -> Option<u128> {
        let exponent = u32::try_from(self.exponent).ok()?;
        self.coefficient().checked_mul(10u128.checked_pow(exponent)?)
    }
}

macro_rules! from_integers {
    ($($unsigned:ty, $signed:ty);*) => {$(
        impl From<$unsigned> for Number {
            fn from(value: $unsigned) -> Self {
                from_small(false, value as u64)
            }
        }

        impl From<$signed> for Number {
            fn from(value: $signed) -> Self {
                from_small(value < 0, value.unsigned_abs() as u64)
            }
        }
    )*};
}

from_integers!(u8, i8; u16, i16; u32, i32; u64, i64; usize, isize);

fn from_small(negative: bool, mut magnitude: u64) -> Number {
    if magnitude == 0 {
        return Number::ZERO;
    }
    let mut exponent = 0;
    while magnitude.is_multiple_of(10) {
        magnitude /= 10;
        exponent += 1;
    }
    Number::normal(negative, u128::from(magnitude), exponent)
}

impl TryFrom<u128> for Number {
    type Error = NumberError;

    /// Fails with [`NumberError::TooManyDigits`] above 38 significant digits.
    fn try_from(value: u128) -> Result<Self, NumberError> {
        Number::from_parts(false, value, 0)
    }
}

impl TryFrom<i128> for Number {
    type Error = NumberError;

    /// Fails with [`NumberError::TooManyDigits`] above 38 significant digits.
    fn try_from(value: i128) -> Result<Self, NumberError> {
        Number::from_parts(value < 0, value.unsigned_abs(), 0)
    }
}

impl TryFrom<f64> for Number {
    type Error = NumberError;

    /// Converts to the shortest decimal that parses to the same `f64`: `0.1` becomes `0.1`.
    ///
    /// Fails for NaN, infinities and magnitudes outside of DynamoDB's range.
    fn try_from(value: f64) -> Result<Self, NumberError> {
        if value == 0.0 {
            return Ok(Number::ZERO);
        }
        Number::parse(&format!("{value:e}"))
    }
}

impl TryFrom<f32> for Number {
    type Error = NumberError;

    /// Converts to the shortest decimal that parses to the same `f32`.
    ///
    /// Fails for NaN and infinities.
    fn try_from(value: f32) -> Result<Self, NumberError> {
        if value == 0.0 {
            return Ok(Number::ZERO);
        }
        Number::parse(&format!("{value:e}"))
    }
}
