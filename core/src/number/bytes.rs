//! Order-preserving encoding of numbers: the bytes sort as the numbers do.
//!
//! A positive number is written in base 100 with the point after the first base-100 digit, which is
//! not zero: `D1.D2 D3… × 100^P`, with `P` from -65 to 62. The first byte is `0x80 + P + 65`. Then
//! each base-100 digit takes one byte, `2 × D`, plus one if another digit follows; the last digit
//! is not zero. Zero is the byte `0x80` and the digit 0, just below the smallest positive number. A
//! negative number is the encoding of its magnitude with each byte complemented.
//!
//! Bytes compare as the numbers do: by sign, then by the exponent, then digit by digit. Where
//! the digits of one number are a prefix of the other's, the longer one has the low bit of the last
//! common byte set. The encoding marks its own end, so a following key part does not change the
//! order.

use super::{MAX_DIGITS, Number};

/// Smallest exponent to base 100, that of `1E-130`.
const MIN_POWER: i32 = -65;

/// Largest number of base-100 digits for 38 decimal digits.
const MAX_PAIRS: usize = 20;

/// Bit that is set in the first byte of zero and of every positive number.
const POSITIVE: u8 = 0x80;

/// Appends the encoded number, 2 to 21 bytes.
pub(crate) fn encode(number: Number, out: &mut Vec<u8>) {
    let mask = if number.negative { 0xFF } else { 0 };
    if number.is_zero() {
        out.extend_from_slice(&[POSITIVE, 0]);
        return;
    }
    let power = number.magnitude().div_euclid(2);
    let header = POSITIVE + u8::try_from(power - MIN_POWER).expect("the magnitude is in range");
    // Digits are taken from the last one backwards. A last digit with an odd decimal exponent is
    // the upper half of its pair.
    let mut reversed = [0u8; MAX_PAIRS];
    let mut count = 0;
    let mut wide = number.coefficient();
    if number.exponent.rem_euclid(2) == 1 {
        reversed[0] = (wide % 10) as u8 * 10;
        wide /= 10;
        count = 1;
    }
    while wide > u128::from(u64::MAX) {
        reversed[count] = (wide % 100) as u8;
        wide /= 100;
        count += 1;
    }
    let mut narrow = wide as u64;
    while narrow > 0 {
        reversed[count] = (narrow % 100) as u8;
        narrow /= 100;
        count += 1;
    }
    out.push(header ^ mask);
    for index in (0..count).rev() {
        let more = u8::from(index > 0);
        out.push((2 * reversed[index] + more) ^ mask);
    }
}

/// Decodes the number at the start of the bytes; returns it with the rest. `None` if [`encode`]
/// writes these bytes for no number.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Number, &[u8])> {
    let (&first, mut rest) = bytes.split_first()?;
    let negative = first & POSITIVE == 0;
    let mask = if negative { 0xFF } else { 0 };
    let power = i32::from((first ^ mask) - POSITIVE) + MIN_POWER;
    let mut coefficient = 0u128;
    let mut pairs = 0;
    let last = loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        let byte = byte ^ mask;
        let pair = byte / 2;
        if pair > 99 || pairs == MAX_PAIRS {
            return None;
        }
        pairs += 1;
        if byte & 1 == 0 {
            break pair;
        }
        if pairs == 1 && pair == 0 {
            return None;
        }
        // Malformed bytes can reach a 20th pair here, which overflows.
        coefficient = coefficient.checked_mul(100)?.checked_add(u128::from(pair))?;
    };
    if last == 0 {
        let zero = pairs == 1 && first == POSITIVE;
        return zero.then_some((Number::ZERO, rest));
    }
    // A half-filled last pair adds one digit only, so that 38 digits across 20 pairs still fit.
    let mut exponent = 2 * (power - (pairs as i32 - 1));
    let (scale, last) = if last.is_multiple_of(10) {
        exponent += 1;
        (10, last / 10)
    } else {
        (100, last)
    };
    coefficient = coefficient.checked_mul(scale)?.checked_add(u128::from(last))?;
    if coefficient.ilog10() + 1 > MAX_DIGITS {
        return None;
    }
    let exponent = i16::try_from(exponent).ok()?;
    Some((Number::normal(negative, coefficient, exponent), rest))
}

/// Skips the encoded number at the start of the bytes; returns the rest.
pub(crate) fn skip(bytes: &[u8]) -> Option<&[u8]> {
    let first = *bytes.first()?;
    let more = if first & POSITIVE == 0 { 0 } else { 1 };
    let last = bytes[1..].iter().position(|byte| byte & 1 != more)?;
    bytes.get(last + 2..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_over_20_pairs_is_rejected() {
        for pair in [0x6A, 0xC7] {
            let mut bytes = vec![POSITIVE | 0x42];
            bytes.extend([pair | 1; 24]);
            assert_eq!(decode(&bytes), None);
            bytes.push(2);
            assert_eq!(decode(&bytes), None);
        }
    }
}
