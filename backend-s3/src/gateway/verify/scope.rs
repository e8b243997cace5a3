//! Credential of a signature: the key id, and the day, region and service of the signing key.

/// Parsed credential.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) key_id: &'a str,
    /// Scope without the key id, as it appears in the string to sign.
    pub(super) text: &'a str,
    pub(super) day: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    terminator: &'a str,
}

impl<'a> Scope<'a> {
    /// Parses `id/day/region/service/aws4_request`; `None` for another number of parts.
    pub(super) fn parse(credential: &'a str) -> Option<Self> {
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

    /// Checks that the scope is that of a request to S3 on this day. Any region is accepted, because
    /// the gateway is in none.
    ///
    /// # Errors
    /// The message, without the prefix that depends on where the credential was given.
    pub(super) fn check(&self, day: &str) -> Result<(), String> {
        if self.service != "s3" {
            return Err(format!(
                "incorrect service \"{}\". This endpoint belongs to \"s3\".",
                self.service
            ));
        }
        if self.terminator != "aws4_request" {
            return Err(format!(
                "incorrect terminal \"{}\". This endpoint uses \"aws4_request\".",
                self.terminator
            ));
        }
        if self.region.is_empty() {
            return Err("the region is missing.".to_owned());
        }
        if self.day != day {
            return Err(format!(
                "Invalid credential date \"{}\". This date is not the same as X-Amz-Date: \"{day}\".",
                self.day
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_has_five_parts() {
        let scope = Scope::parse("id/20130524/eu-west-1/s3/aws4_request").unwrap();
        assert_eq!((scope.key_id, scope.region), ("id", "eu-west-1"));
        assert_eq!(scope.text, "20130524/eu-west-1/s3/aws4_request");
        for text in ["", "id", "id/20130524/eu-west-1/s3", "id/20130524/eu-west-1/s3/aws4_request/"]
        {
            assert!(Scope::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn service_terminator_and_day_are_checked() {
        let check = |text| Scope::parse(text).unwrap().check("20130524");
        assert_eq!(check("id/20130524/any-region/s3/aws4_request"), Ok(()));
        for text in [
            "id/20130524/us-east-1/sts/aws4_request",
            "id/20130524/us-east-1/dynamodb/aws4_request",
            "id/20130524/us-east-1/s3/aws3_request",
            "id/20130524//s3/aws4_request",
            "id/20130525/us-east-1/s3/aws4_request",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
