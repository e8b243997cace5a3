//! Decimal places of the currencies, and amounts that fit them.
//!
//! Every stored amount is a whole number of a currency's smallest unit, with at most 38 digits. Sums
//! and differences of such amounts are exact, so that each reserved amount can be debited and
//! released.

use tabla::{Error, Number, Result};

use crate::entities::Currency;

/// Decimal places of ARS: centavos, as in ISO 4217. The document does not say.
pub const ARS_DECIMALS: u32 = 2;

impl Currency {
    /// Decimal places of the currency. The document does not say; they are those of the chains:
    /// 6 for USDT (the token contract's `decimals`, on Ethereum and on Tron), 8 for BTC (satoshi),
    /// 18 for ETH (wei).
    pub const fn decimals(self) -> u32 {
        match self {
            Self::Usdt => 6,
            Self::Btc => 8,
            Self::Eth => 18,
        }
    }

    /// Refuses an amount that does not fit the currency.
    pub(crate) fn check(self, what: &str, amount: Number) -> Result<()> {
        let name = match self {
            Self::Usdt => "USDT",
            Self::Btc => "BTC",
            Self::Eth => "ETH",
        };
        check_places(what, amount, name, self.decimals())
    }
}

/// Refuses an amount with more decimal places than the currency has, or with more than 38 digits once
/// all of these places are written out.
pub(crate) fn check_places(
    what: &str,
    amount: Number,
    currency: &str,
    decimals: u32,
) -> Result<()> {
    if amount.scale() > decimals {
        return Err(Error::validation(format!(
            "{what} cannot be {amount} {currency}: {currency} has {decimals} decimal places"
        )));
    }
    let digits = tabla::MAX_DIGITS - decimals;
    let end = Number::parse(&format!("1e{digits}"))?;
    if amount >= end || amount <= end.negated() {
        return Err(Error::validation(format!(
            "{what} cannot be {amount} {currency}: it has over {digits} digits before the point"
        )));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn amount_fits_the_places_of_its_currency() {
        let fits = |currency: Currency, text: &str| {
            currency.check("the amount", Number::parse(text).unwrap()).is_ok()
        };
        for (currency, least, greatest, too_fine, too_large) in [
            (Currency::Usdt, "0.000001", "1e31", "0.0000001", "1e32"),
            (Currency::Btc, "0.00000001", "1e29", "0.000000001", "1e30"),
            (Currency::Eth, "1e-18", "99999999999999999999.999999999999999999", "1e-19", "1e20"),
        ] {
            assert!(fits(currency, "0") && fits(currency, least) && fits(currency, greatest));
            assert!(!fits(currency, too_fine) && !fits(currency, too_large));
            assert!(!fits(currency, &format!("-{too_large}")));
        }
        let error = check_places("amount_ars", Number::parse("0.001").unwrap(), "ARS", 2);
        assert_eq!(
            error.unwrap_err().message(),
            "amount_ars cannot be 0.001 ARS: ARS has 2 decimal places"
        );
    }
}
