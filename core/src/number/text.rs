//! Decimal text of numbers: parsing and formatting.

use std::fmt;
use std::str::FromStr;

use super::{MAX_DIGITS, MAX_EXPONENT, MIN_EXPONENT, Number, NumberError};

/// Length of the longest text: a sign, `0.`, 129 zeros and 38 digits.
const TEXT_CAPACITY: usize = 172;

/// Text of a number, in a buffer on the stack.
pub(crate) struct Text {
    buffer: [u8; TEXT_CAPACITY],
    length: usize,
}

impl Text {
    /// Returns the decimal text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.buffer[..self.length]).expect("digits are ASCII")
    }

    fn push(&mut self, bytes: &[u8]) {
        self.buffer[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn push_zeros(&mut self, count: usize) {
        self.buffer[self.length..self.length + count].fill(b'0');
        self.length += count;
    }
}

impl Number {
    /// Formats the number in its normal form: plain digits, never an exponent.
    pub(crate) fn text(&self) -> Text {
        let mut text = Text { buffer: [0; TEXT_CAPACITY], length: 0 };
        let mut digits = [0u8; MAX_DIGITS as usize];
        let digits = self.write_digits(&mut digits);
        if self.negative {
            text.push(b"-");
        }
        let exponent = i32::from(self.exponent);
        let point = digits.len() as i32 + exponent;
        if exponent >= 0 {
            text.push(digits);
            text.push_zeros(exponent as usize);
        } else if point > 0 {
            let (before, after) = digits.split_at(point as usize);
            text.push(before);
            text.push(b".");
            text.push(after);
        } else {
            text.push(b"0.");
            text.push_zeros(point.unsigned_abs() as usize);
            text.push(digits);
        }
        text
    }

    /// Writes the coefficient's digits; returns the part of the buffer that they fill.
    fn write_digits<'b>(&self, buffer: &'b mut [u8; MAX_DIGITS as usize]) -> &'b [u8] {
        let mut start = buffer.len();
        let mut put = |digit: u8| {
            start -= 1;
            buffer[start] = b'0' + digit;
        };
        let mut wide = self.coefficient();
        while wide > u128::from(u64::MAX) {
            put((wide % 10) as u8);
            wide /= 10;
        }
        let mut narrow = wide as u64;
        loop {
            put((narrow % 10) as u8);
            narrow /= 10;
            if narrow == 0 {
                break;
            }
        }
        &buffer[start..]
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text().as_str())
    }
}

/// Formats the number in its normal form, without the overhead of a formatter.
impl From<Number> for String {
    fn from(number: Number) -> Self {
        number.text().as_str().to_owned()
    }
}

impl FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        parse(text)
    }
}

/// State of the parser.
#[derive(Default)]
struct Reading {
    coefficient: u128,
    /// Significant digits in the coefficient so far.
    digits: u32,
    /// Zeros since the last digit in the coefficient; significant only if another digit follows.
    pending_zeros: u64,
    /// Whether a 39th significant digit was read.
    too_many: bool,
    /// Number of digits after the point.
    fraction: i64,
    /// Whether any digit was read.
    any: bool,
}

impl Reading {
    fn digit(&mut self, digit: u8, after_point: bool) {
        self.any = true;
        self.fraction += i64::from(after_point);
        if digit == 0 {
            // Leading zeros are not significant; other zeros wait until a digit follows them.
            self.pending_zeros += u64::from(self.digits > 0);
            return;
        }
        let total = u64::from(self.digits) + self.pending_zeros + 1;
        if total > u64::from(MAX_DIGITS) {
            self.too_many = true;
            // From here on, only the number of digits matters, for the range check.
            self.digits = self.digits.max(MAX_DIGITS);
            self.pending_zeros = total - u64::from(MAX_DIGITS);
            return;
        }
        let shift = self.pending_zeros as u32 + 1;
        self.coefficient = self.coefficient * 10u128.pow(shift) + u128::from(digit);
        self.digits += shift;
        self.pending_zeros = 0;
    }
}

/// Zero digits of the scripts whose decimal digits DynamoDB accepts: all those of the Basic
/// Multilingual Plane.
const SCRIPT_ZEROS: [char; 36] = [
    '\u{660}', '\u{6F0}', '\u{7C0}', '\u{966}', '\u{9E6}', '\u{A66}', '\u{AE6}', '\u{B66}',
    '\u{BE6}', '\u{C66}', '\u{CE6}', '\u{D66}', '\u{DE6}', '\u{E50}', '\u{ED0}', '\u{F20}',
    '\u{1040}', '\u{1090}', '\u{17E0}', '\u{1810}', '\u{1946}', '\u{19D0}', '\u{1A80}', '\u{1A90}',
    '\u{1B50}', '\u{1BB0}', '\u{1C40}', '\u{1C50}', '\u{A620}', '\u{A8D0}', '\u{A900}', '\u{A9D0}',
    '\u{A9F0}', '\u{AA50}', '\u{ABF0}', '\u{FF10}',
];

pub(super) fn parse(text: &str) -> Result<Number, NumberError> {
    if text.is_ascii() {
        return parse_ascii(text);
    }
    let syntax = || NumberError::Syntax(text.to_owned());
    let ascii: Option<String> = text.chars().map(to_ascii).collect();
    parse_ascii(&ascii.ok_or_else(syntax)?).map_err(|error| match error {
        NumberError::Syntax(_) => syntax(),
        other => other,
    })
}

/// Converts a decimal digit of any script to ASCII, and returns other ASCII characters unchanged.
fn to_ascii(symbol: char) -> Option<char> {
    if symbol.is_ascii() {
        return Some(symbol);
    }
    SCRIPT_ZEROS
        .iter()
        .filter_map(|zero| u32::from(symbol).checked_sub(u32::from(*zero)))
        .find_map(|digit| char::from_digit(digit, 10))
}

fn parse_ascii(text: &str) -> Result<Number, NumberError> {
    let syntax = || NumberError::Syntax(text.to_owned());
    let mut rest = text.as_bytes();
    let negative = match rest {
        [sign @ (b'+' | b'-'), after @ ..] => {
            rest = after;
            *sign == b'-'
        }
        _ => false,
    };
    let mut reading = Reading::default();
    let mut after_point = false;
    let mut exponent = 0;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'0'..=b'9' => reading.digit(byte - b'0', after_point),
            b'.' if !after_point => after_point = true,
            b'e' | b'E' => {
                exponent = parse_exponent(rest).ok_or_else(syntax)?;
                rest = &[];
            }
            _ => return Err(syntax()),
        }
    }
    if !reading.any {
        return Err(syntax());
    }
    if reading.too_many {
        return Err(NumberError::TooManyDigits);
    }
    // Decimal exponent of the last digit written, and of the first significant one.
    let last = exponent - reading.fraction;
    let width = u64::from(reading.digits) + reading.pending_zeros;
    let first = last.saturating_add_unsigned(width.saturating_sub(1));
    if first > i64::from(MAX_EXPONENT) {
        return Err(NumberError::Overflow);
    }
    if first < i64::from(MIN_EXPONENT) {
        return Err(NumberError::Underflow);
    }
    if reading.coefficient == 0 {
        return Ok(Number::ZERO);
    }
    let exponent = last.saturating_add_unsigned(reading.pending_zeros);
    Ok(Number::normal(
        negative,
        reading.coefficient,
        i16::try_from(exponent).expect("the exponent is at most 37 below a checked magnitude"),
    ))
}

/// Parses the exponent after `e`. It must fit 32 bits, as in DynamoDB.
fn parse_exponent(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
        if value > i64::from(i32::MAX) {
            return None;
        }
    }
    Some(if negative { -value } else { value })
}
