//! The requests of AWS's test suite for Signature Version 4, with their signatures. Its requests
//! with folded or unencoded lines are left out: the HTTP parser rejects them.

use http::Request;

use super::canonical::{self, SignedHeaders};
use super::key::Key;
use super::scope::Scope;
use super::signing_time::SigningTime;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const CREDENTIAL: &str = "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request";
const DATE: &str = "20150830T123600Z";

struct Vector {
    name: &'static str,
    request: &'static str,
    /// Headers of the request besides the host and the date.
    headers: &'static [(&'static str, &'static str)],
    signed: &'static str,
    body: &'static str,
    signature: &'static str,
}

const PLAIN: Vector = Vector {
    name: "get-vanilla",
    request: "GET /",
    headers: &[],
    signed: "host;x-amz-date",
    body: "",
    signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
};

const VECTORS: &[Vector] = &[
    PLAIN,
    Vector {
        name: "post-vanilla",
        request: "POST /",
        signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ..PLAIN
    },
    Vector { name: "get-slash", request: "GET //", ..PLAIN },
    Vector { name: "get-slash-dot-slash", request: "GET /./", ..PLAIN },
    Vector { name: "get-relative", request: "GET /example/..", ..PLAIN },
    Vector { name: "get-relative-relative", request: "GET /example1/example2/../..", ..PLAIN },
    Vector {
        name: "get-slashes",
        request: "GET //example//",
        signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84",
        ..PLAIN
    },
    Vector {
        name: "get-slash-pointless-dot",
        request: "GET /./example",
        signature: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5",
        ..PLAIN
    },
    Vector {
        name: "post-vanilla-query",
        request: "POST /?Param1=value1",
        signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
        ..PLAIN
    },
    Vector {
        name: "get-vanilla-query-order-value",
        request: "GET /?Param1=value2&Param1=value1",
        signature: "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694",
        ..PLAIN
    },
    Vector {
        name: "get-vanilla-query-order-key-case",
        request: "GET /?Param2=value2&Param1=value1",
        signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ..PLAIN
    },
    Vector {
        name: "get-vanilla-utf8-query, encoded",
        request: "GET /?%E1%88%B4=bar",
        signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
        ..PLAIN
    },
    Vector {
        name: "get-header-key-duplicate",
        headers: &[("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
        signed: "host;my-header1;x-amz-date",
        signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
        ..PLAIN
    },
    Vector {
        name: "get-header-value-trim",
        headers: &[("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
        signed: "host;my-header1;my-header2;x-amz-date",
        signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        ..PLAIN
    },
    Vector {
        name: "post-header-value-case",
        request: "POST /",
        headers: &[("My-Header1", "VALUE1")],
        signed: "host;my-header1;x-amz-date",
        signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        ..PLAIN
    },
    Vector {
        name: "post-x-www-form-urlencoded",
        request: "POST /",
        headers: &[("Content-Type", "application/x-www-form-urlencoded")],
        signed: "content-type;host;x-amz-date",
        body: "Param1=value1",
        signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    },
];

#[test]
fn signatures_match_the_aws_test_suite() {
    let key = Key::new(SECRET.to_owned(), None);
    for Vector { name, request, headers, signed, body, signature } in VECTORS {
        let (method, uri) = request.split_once(' ').unwrap();
        // At the start of a request line, `//` begins a path, not a host.
        let uri = http::uri::PathAndQuery::from_static(uri);
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .header("host", "example.amazonaws.com")
            .header("x-amz-date", DATE);
        for (name, value) in *headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let body_hash = canonical::hash(body.as_bytes());
        let requests = canonical::requests(&parts, &SignedHeaders::read(signed), &body_hash);
        let moment = SigningTime::read(&parts.headers["x-amz-date"]).unwrap();
        let scope = Scope::read(CREDENTIAL).unwrap();
        let to_sign = canonical::string_to_sign(&moment, &scope, &requests[0]);
        assert_eq!(key.sign(&scope, &to_sign), *signature, "{name}\n{to_sign}");
    }
}
