//! The credential of a signature: the access key id, and the day, region and service for which the
//! signing key is derived.

use tabla_core::Result;

use super::refusal;
use super::signing_time::SigningTime;

/// Service name in the scope. Streams use the same one as tables.
const SERVICE: &str = "dynamodb";

const TERMINATOR: &str = "aws4_request";

/// Parsed credential.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) key_id: &'a str,
    /// Scope without the access key id, as it appears in the string to sign.
    pub(super) text: &'a str,
    pub(super) day: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    terminator: &'a str,
}

impl<'a> Scope<'a> {
    /// Parses a credential. Slashes at its end are ignored.
    pub(super) fn read(credential: &'a str) -> Result<Self> {
        Self::split(credential.trim_end_matches('/')).ok_or_else(|| {
            refusal::incomplete(format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. \
                 keyid/date/region/service/term, got '{credential}'"
            ))
        })
    }

    fn split(credential: &'a str) -> Option<Self> {
        let (key_id, text) = credential.split_once('/')?;
        let mut parts = text.split('/');
        let scope = Self {
            key_id,
            text,
            day: parts.next()?,
            region: parts.next()?,
            service: parts.next()?,
            terminator: parts.next()?,
        };
        parts.next().is_none().then_some(scope)
    }

    /// Checks that the scope is that of a request to DynamoDB at this time. Any region is accepted,
    /// because this server is in none.
    ///
    /// # Errors
    /// One error that names everything that is wrong. It does not show the given values, as
    /// DynamoDB's no longer does.
    pub(super) fn check(&self, moment: &SigningTime) -> Result<()> {
        let rules = [
            (!self.region.is_empty(), "Credential should be scoped to a valid region. "),
            (
                self.service == SERVICE,
                "Credential should be scoped to correct service: 'dynamodb'. ",
            ),
            (
                self.terminator == TERMINATOR,
                "Credential should be scoped with a valid terminator: 'aws4_request'. ",
            ),
            (
                self.day == moment.day(),
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date \
                 from HTTP. ",
            ),
        ];
        let broken: String =
            rules.iter().filter(|(holds, _)| !holds).map(|(_, rule)| *rule).collect();
        if broken.is_empty() { Ok(()) } else { Err(refusal::invalid(broken)) }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(credential: &str) -> Result<()> {
        let date = HeaderValue::from_static("20150830T123600Z");
        Scope::read(credential)?.check(&SigningTime::read(&date)?)
    }

    #[test]
    fn any_region_is_accepted() {
        for region in ["us-east-1", "local", "nowhere", "000000", "überall"] {
            check(&format!("AKID/20150830/{region}/dynamodb/aws4_request")).unwrap();
            check(&format!("AKID/20150830/{region}/dynamodb/aws4_request//")).unwrap();
        }
    }

    #[test]
    fn credential_must_have_five_parts() {
        for credential in ["a", "/", "a/b/c/d", "a/b/c/d/", "a/b/c/d/e/f", "a/b/c/d//e"] {
            let error = check(credential).unwrap_err();
            assert_eq!(error.code(), "IncompleteSignatureException");
            assert_eq!(
                error.message(),
                format!(
                    "Credential must have exactly 5 slash-delimited elements, e.g. \
                     keyid/date/region/service/term, got '{credential}'"
                )
            );
        }
    }

    #[test]
    fn error_names_everything_that_is_wrong_with_a_scope() {
        const REGION: &str = "Credential should be scoped to a valid region. ";
        const SERVICE: &str = "Credential should be scoped to correct service: 'dynamodb'. ";
        const END: &str = "Credential should be scoped with a valid terminator: 'aws4_request'. ";
        const DAY: &str = "Date in Credential scope does not match YYYYMMDD from ISO-8601 version \
                           of date from HTTP. ";
        for (credential, expected) in [
            ("a/b//d/e", [REGION, SERVICE, END, DAY].concat()),
            ("a/20150830/c/dynamodbstreams/aws4_request", SERVICE.to_owned()),
            ("a/20150830/c/DynamoDB/aws4_request", SERVICE.to_owned()),
            ("a/20150830/c/dynamodb/aws5_request", END.to_owned()),
            ("a/20150829/c/dynamodb/aws4_request", DAY.to_owned()),
        ] {
            let error = check(credential).unwrap_err();
            assert_eq!(error.code(), "InvalidSignatureException");
            assert_eq!(error.message(), expected, "{credential}");
        }
    }
}
