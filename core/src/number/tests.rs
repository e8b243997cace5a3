use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;
use crate::value::arbitrary::number;

fn parse(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Reference model: a sign, and the decimal digits of the number times 10^167, the lowest first.
/// The factor makes every number a whole one.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    negative: bool,
    digits: Vec<u8>,
}

const MODEL_SCALE: usize = 167;

impl Model {
    /// Creates a model from the number's plain decimal text.
    fn of(number: Number) -> Self {
        let text = number.to_string();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.as_str()),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction:0<MODEL_SCALE$}");
        let digits = digits.bytes().rev().map(|digit| digit - b'0').collect();
        Model { negative, digits }.trimmed()
    }

    fn trimmed(mut self) -> Self {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        self.negative &= !self.digits.is_empty();
        self
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        let lengths = self.digits.len().cmp(&other.digits.len());
        lengths.then_with(|| self.digits.iter().rev().cmp(other.digits.iter().rev()))
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }

    fn add(&self, other: &Self) -> Self {
        let length = self.digits.len().max(other.digits.len()) + 1;
        let digit = |model: &Self, index: usize| i8::try_from(model.digit(index)).unwrap();
        let (upper, lower) = match self.compare_magnitude(other) {
            Ordering::Less => (other, self),
            _ => (self, other),
        };
        let sign = if self.negative == other.negative { 1 } else { -1 };
        let mut carry = 0;
        let digits = (0..length).map(|index| {
            let sum = digit(upper, index) + sign * digit(lower, index) + carry;
            carry = sum.div_euclid(10);
            sum.rem_euclid(10) as u8
        });
        Model { digits: digits.collect(), negative: upper.negative }.trimmed()
    }

    fn digit(&self, index: usize) -> u8 {
        self.digits.get(index).copied().unwrap_or(0)
    }

    /// Converts the sum to DynamoDB's result: a number, or an error.
    fn to_number(&self) -> Result<Number, NumberError> {
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        if self.digits.len() - zeros > 38 {
            return Err(NumberError::TooManyDigits);
        }
        let digits: String =
            self.digits[zeros..].iter().rev().map(|digit| char::from(b'0' + digit)).collect();
        if digits.is_empty() {
            return Ok(Number::ZERO);
        }
        let sign = if self.negative { "-" } else { "" };
        let exponent = zeros as i32 - MODEL_SCALE as i32;
        Number::parse(&format!("{sign}{digits}e{exponent}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn text_parses_to_the_same_number(number in number()) {
        prop_assert_eq!(parse(&number.to_string()), number);
    }

    #[test]
    fn sum_matches_the_model(one in number(), other in number()) {
        let expected = Model::of(one).add(&Model::of(other)).to_number();
        prop_assert_eq!(one.checked_add(other), expected);
    }

    #[test]
    fn sum_of_near_magnitudes_matches_the_model(
        one in any::<u128>(), other in any::<u128>(), shift in 0i64..40, negative in any::<bool>(),
    ) {
        let one = Number::from_parts(false, one % COEFFICIENT_LIMIT, 0).unwrap();
        let other = Number::from_parts(negative, other % COEFFICIENT_LIMIT, -shift).unwrap();
        let expected = Model::of(one).add(&Model::of(other)).to_number();
        prop_assert_eq!(one.checked_add(other), expected);
    }

    #[test]
    fn difference_is_the_sum_with_the_negated_number(one in number(), other in number()) {
        prop_assert_eq!(one.checked_sub(other), one.checked_add(other.negated()));
        prop_assert_eq!(one.checked_sub(one), Ok(Number::ZERO));
    }

    #[test]
    fn order_matches_the_model(one in number(), other in number()) {
        prop_assert_eq!(one.cmp(&other), Model::of(one).compare(&Model::of(other)));
        prop_assert_eq!(one == other, one.cmp(&other).is_eq());
    }

    #[test]
    fn encoding_decodes_and_marks_its_end(number in number(), after in any::<[u8; 3]>()) {
        let mut bytes = Vec::new();
        encode(number, &mut bytes);
        prop_assert!((2..=21).contains(&bytes.len()));
        bytes.extend(after);
        prop_assert_eq!(decode(&bytes), Some((number, &after[..])));
        prop_assert_eq!(skip(&bytes), Some(&after[..]));
    }

    #[test]
    fn encoding_sorts_as_the_numbers(one in number(), other in number()) {
        let encoded = |number| {
            let mut bytes = Vec::new();
            encode(number, &mut bytes);
            bytes
        };
        prop_assert_eq!(encoded(one).cmp(&encoded(other)), one.cmp(&other));
    }

    #[test]
    fn random_bytes_are_rejected_or_canonical(
        bytes in proptest::collection::vec(any::<u8>(), 0..24),
    ) {
        if let Some((number, rest)) = decode(&bytes) {
            let mut again = Vec::new();
            encode(number, &mut again);
            prop_assert_eq!(&bytes[..bytes.len() - rest.len()], &again[..]);
            prop_assert_eq!(skip(&bytes), Some(rest));
        }
    }

    #[test]
    fn parser_accepts_or_rejects_any_text(text in "[-+0-9.eE]{0,12}|\\PC{0,8}") {
        if let Ok(number) = Number::parse(&text) {
            prop_assert_eq!(parse(&number.to_string()), number);
        }
    }

    #[test]
    fn integers_are_exact(value in any::<i128>(), small in any::<i64>(), wide in any::<u64>()) {
        prop_assert_eq!(Number::from(small).to_i64(), Some(small));
        prop_assert_eq!(Number::from(small).to_string(), small.to_string());
        prop_assert_eq!(Number::from(wide).to_u64(), Some(wide));
        match Number::try_from(value) {
            Ok(number) => prop_assert_eq!(number.to_i128(), Some(value)),
            Err(error) => prop_assert_eq!(error, NumberError::TooManyDigits),
        }
    }

    #[test]
    fn floats_convert_and_back(value in any::<f64>()) {
        match Number::try_from(value) {
            Ok(number) => prop_assert_eq!(number.to_f64(), value),
            Err(NumberError::Syntax(_)) => prop_assert!(!value.is_finite()),
            Err(_) => prop_assert!(value.abs() < 1e-130 || value.abs() >= 1e126),
        }
    }
}

#[test]
fn parsed_text_is_normalized() {
    let cases = [
        ("00042", "42"),
        ("-00042", "-42"),
        ("-0", "0"),
        ("+0", "0"),
        ("-0.0", "0"),
        ("1.5E2", "150"),
        ("1.200", "1.2"),
        ("+5", "5"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("1.", "1"),
        ("1.e5", "100000"),
        ("1e+05", "100000"),
        ("1E-5", "0.00001"),
        ("12e-1", "1.2"),
        ("1000000e-3", "1000"),
        ("12345.6789", "12345.6789"),
        ("123456789e-12", "0.000123456789"),
        ("0e125", "0"),
        ("0e-130", "0"),
        ("0.0e126", "0"),
        ("\u{663}", "3"),
        ("\u{FF11}e\u{663}", "1000"),
        ("111111111111111111111111111111111111110", "111111111111111111111111111111111111110"),
        ("0.011111111111111111111111111111111111111", "0.011111111111111111111111111111111111111"),
    ];
    for (text, normal) in cases {
        assert_eq!(parse(text).to_string(), normal, "{text}");
    }
    assert_eq!(parse(&format!("{}1", "0".repeat(200))).to_string(), "1");
    assert_eq!(parse(&format!("1.{}", "0".repeat(200))).to_string(), "1");
    assert_eq!(parse("1e125").to_string(), format!("1{}", "0".repeat(125)));
    assert_eq!(parse("-1e-130").to_string(), format!("-0.{}1", "0".repeat(129)));
    let longest = parse("-1.2345678901234567890123456789012345678e-130");
    assert_eq!(longest.to_string().len(), 170);
}

#[test]
fn malformed_text_is_rejected() {
    let texts = [
        "",
        " ",
        " 1",
        "1 ",
        "1 2",
        "\t1",
        "1\n",
        "NaN",
        "Infinity",
        "-Infinity",
        "inf",
        "0x5",
        "5f",
        "1L",
        "1_000",
        "1,000",
        "1e",
        "1e+",
        "1e-",
        "e5",
        "E",
        ".",
        "+",
        "-",
        "-.",
        "++5",
        "--5",
        "+-5",
        "1.2.3",
        "1e5.5",
        "1e1e1",
        "\u{BD}",
        "\u{1D7D7}",
        "abc",
        "1e2147483648",
        "0e99999999999",
        "1e-99999999999",
    ];
    for text in texts {
        assert_eq!(Number::parse(text), Err(NumberError::Syntax(text.to_owned())), "{text:?}");
    }
}

#[test]
fn number_outside_digits_or_range_is_rejected() {
    let ones = "1".repeat(39);
    let cases = [
        (ones.clone(), NumberError::TooManyDigits),
        (format!("0.{ones}"), NumberError::TooManyDigits),
        (format!("1.{}", &ones[1..]), NumberError::TooManyDigits),
        (format!("{ones}e100"), NumberError::TooManyDigits),
        (format!("1{}1", "0".repeat(37)), NumberError::TooManyDigits),
        ("1e126".into(), NumberError::Overflow),
        ("-1e126".into(), NumberError::Overflow),
        ("10e125".into(), NumberError::Overflow),
        ("0e126".into(), NumberError::Overflow),
        ("1e2147483647".into(), NumberError::Overflow),
        (format!("1{}", "0".repeat(126)), NumberError::Overflow),
        ("1e-131".into(), NumberError::Underflow),
        ("0.1e-130".into(), NumberError::Underflow),
        ("1.5e-131".into(), NumberError::Underflow),
        ("0e-131".into(), NumberError::Underflow),
    ];
    for (text, error) in cases {
        assert_eq!(Number::parse(&text), Err(error), "{text}");
    }
    for text in ["0.1e126", "0.01e127", "10e-131", "0.1e-129", "123e-132", &ones[1..]] {
        parse(text);
    }
    parse("9.9999999999999999999999999999999999999E125");
}

#[test]
fn sum_is_exact_or_rejected() {
    let nines = "9".repeat(38);
    let sum = |one: &str, other: &str| parse(one).checked_add(parse(other));
    assert_eq!(sum("0.1", "0.2"), Ok(parse("0.3")));
    assert_eq!(sum(&nines, "1"), Ok(parse("1e38")));
    assert_eq!(sum("1e37", "1"), Ok(parse("10000000000000000000000000000000000001")));
    assert_eq!(sum("1e-130", "1e-129"), Ok(parse("1.1e-129")));
    assert_eq!(sum("1e38", "-1"), Ok(parse(&nines)));
    for (one, other) in
        [("1e38", "1"), (nines.as_str(), "0.1"), ("1e100", "1e-100"), ("2e38", "-1")]
    {
        assert_eq!(sum(one, other), Err(NumberError::TooManyDigits), "{one} + {other}");
    }
    assert_eq!(sum("9.9e125", "1e125"), Err(NumberError::Overflow));
    assert_eq!(sum("-9.9e125", "-1e125"), Err(NumberError::Overflow));
    assert_eq!(sum("1.1e-130", "-1e-130"), Err(NumberError::Underflow));
}

/// The sizes were measured on DynamoDB Local.
#[test]
fn size_follows_the_number_of_digits() {
    let cases = [
        ("0", 1),
        ("1", 2),
        ("-1", 3),
        ("42", 2),
        ("-42", 3),
        ("100", 2),
        ("123", 3),
        ("1234", 3),
        ("0.15", 2),
        ("0.001", 2),
        ("1.5", 3),
        ("10.5", 3),
        ("1.05", 3),
        ("3.14159", 5),
        ("1E125", 2),
        ("1E-130", 2),
        ("-1E125", 3),
        ("1234567", 5),
        ("1000001", 5),
        ("11111111111111111111111111111111111111", 20),
        ("-11111111111111111111111111111111111111", 21),
    ];
    for (text, size) in cases {
        assert_eq!(parse(text).size(), size, "{text}");
    }
}

/// The examples are those of `docs/item-format.md`.
#[test]
fn encoding_matches_the_documented_examples() {
    let cases: [(&str, &[u8]); 8] = [
        ("0", &[0x80, 0x00]),
        ("1", &[0xC1, 0x02]),
        ("-1", &[0x3E, 0xFD]),
        ("42", &[0xC1, 0x54]),
        ("100", &[0xC2, 0x02]),
        ("0.5", &[0xC0, 0x64]),
        ("12345", &[0xC3, 0x03, 0x2F, 0x5A]),
        ("1e-130", &[0x80, 0x02]),
    ];
    for (text, bytes) in cases {
        let mut encoded = Vec::new();
        encode(parse(text), &mut encoded);
        assert_eq!(encoded, bytes, "{text}");
    }
}

#[test]
fn conversion_of_a_number_out_of_range_is_none() {
    assert_eq!(parse("1.5").to_i64(), None);
    assert_eq!(parse("-1").to_u64(), None);
    assert_eq!(parse("1e30").to_u64(), None);
    assert_eq!(parse("1e30").to_i128(), Some(10i128.pow(30)));
    assert_eq!(parse("1e125").to_u128(), None);
    assert_eq!(parse("1e125").to_f64(), 1e125);
    assert_eq!(Number::try_from(i128::MIN), Err(NumberError::TooManyDigits));
    assert_eq!(Number::from(i64::MIN).to_i64(), Some(i64::MIN));
    assert_eq!(Number::try_from(-0.0), Ok(Number::ZERO));
    assert_eq!(Number::try_from(0.1f32), Ok(parse("0.1")));
    assert!(Number::try_from(f64::NAN).is_err());
    assert_eq!(Number::try_from(1e200), Err(NumberError::Overflow));
}

#[test]
fn number_has_24_bytes() {
    assert_eq!(size_of::<Number>(), 24);
    assert!(size_of::<crate::Value>() <= 40);
}

#[test]
fn errors_are_validation_errors_with_the_texts_of_dynamodb() {
    let error = crate::Error::from(Number::parse("x").unwrap_err());
    assert_eq!(error.code(), "ValidationException");
    assert_eq!(error.message(), "The parameter cannot be converted to a numeric value: x");
    let texts = [
        (
            NumberError::Syntax(String::new()),
            "The parameter cannot be converted to a numeric value",
        ),
        (
            NumberError::TooManyDigits,
            "Attempting to store more than 38 significant digits in a Number",
        ),
        (
            NumberError::Overflow,
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
        (
            NumberError::Underflow,
            "Number underflow. Attempting to store a number with magnitude smaller than supported range",
        ),
    ];
    for (error, text) in texts {
        assert_eq!(error.to_string(), text);
    }
}
