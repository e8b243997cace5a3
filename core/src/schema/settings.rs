//! Rules of encryption settings and table classes, which embedded stores keep without effect.

use super::constraint::invalid;
use crate::error::{Error, Result};
use crate::ops::SseSpecification;

/// Validates encryption settings. The default encryption, with a key owned by DynamoDB, becomes
/// `None`, as in descriptions.
pub(super) fn sse(given: Option<&SseSpecification>) -> Result<Option<SseSpecification>> {
    let Some(sse) = given else { return Ok(None) };
    let SseSpecification { enabled, sse_type, kms_master_key_id } = sse;
    if !enabled {
        if sse_type.is_some() {
            return Err(invalid("SSEType can not be specified if Enabled is false"));
        }
        if kms_master_key_id.is_some() {
            return Err(invalid("KMSMasterKeyId can not be specified if Enabled is false"));
        }
        return Ok(None);
    }
    match sse_type.as_deref() {
        Some("AES256") => Err(invalid("SSEType AES256 is not supported")),
        None if kms_master_key_id.is_some() => {
            Err(invalid("SSEType KMS is required if KMSMasterKeyId is specified"))
        }
        _ => Ok(Some(sse.clone())),
    }
}

/// Validates a table class.
pub(super) fn table_class(given: Option<&str>) -> Result<()> {
    match given {
        None | Some("STANDARD" | "STANDARD_INFREQUENT_ACCESS") => Ok(()),
        Some(_) => Err(Error::validation(
            "Invalid table-class parameter provided. Please try again with a valid table-class \
             value: [STANDARD, STANDARD_INFREQUENT_ACCESS].",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_is_the_default_or_kms() {
        let check = |enabled, sse_type: Option<&str>, key: Option<&str>| {
            sse(Some(&SseSpecification {
                enabled,
                sse_type: sse_type.map(str::to_owned),
                kms_master_key_id: key.map(str::to_owned),
            }))
        };
        assert_eq!(sse(None).unwrap(), None);
        assert_eq!(check(false, None, None).unwrap(), None);
        assert!(check(true, None, None).unwrap().is_some());
        assert!(check(true, Some("KMS"), Some("alias/x")).unwrap().is_some());
        for (result, text) in [
            (check(false, Some("KMS"), None), "SSEType can not be specified if Enabled is false"),
            (
                check(false, None, Some("alias/x")),
                "KMSMasterKeyId can not be specified if Enabled is false",
            ),
            (
                check(true, None, Some("alias/x")),
                "SSEType KMS is required if KMSMasterKeyId is specified",
            ),
            (check(true, Some("AES256"), None), "SSEType AES256 is not supported"),
        ] {
            let expected = format!("One or more parameter values were invalid: {text}");
            assert_eq!(result.unwrap_err().message(), expected);
        }
    }

    #[test]
    fn table_class_is_one_of_two() {
        table_class(None).unwrap();
        table_class(Some("STANDARD")).unwrap();
        table_class(Some("STANDARD_INFREQUENT_ACCESS")).unwrap();
        assert!(table_class(Some("standard")).unwrap_err().message().contains("[STANDARD, "));
    }
}
