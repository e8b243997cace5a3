//! Protection of a server without credentials from web pages: the hosts and origins that it
//! accepts.
//!
//! A browser on this machine can reach a server on the loopback address, and so can every page that
//! it shows. Two headers distinguish requests of pages from those of programs. `Origin` names the
//! site of the page, on every request that could change something or whose response the page could
//! read. `Host` names the host in the URL: a page whose own name resolves to 127.0.0.1 (DNS
//! rebinding) sends no foreign `Origin`, but its own name as `Host`.
//!
//! A server with credentials checks neither, because a page cannot sign a request without a key.
//!
//! Every protocol checks its requests with a [`HostPolicy`]. [`CorsHeaders`] adds the response
//! headers with which a browser lets a page read the response.

use std::net::IpAddr;
use std::time::Duration;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use tabla_core::{Error, ErrorKind, Result};

use crate::listener::{Authentication, ListenerConfig};

/// Longest part of a header that an error message quotes, in characters.
const SHOWN: usize = 100;

/// Hosts and origins that a server accepts.
#[derive(Debug)]
pub struct HostPolicy(Accepted);

#[derive(Debug)]
enum Accepted {
    /// All hosts and origins: requests are signed.
    Any,
    /// Loopback, the listen address, and the configured hosts and origins.
    Listed { listen: IpAddr, hosts: Vec<String>, origins: Vec<String> },
}

/// Origin of a request that a [`HostPolicy`] has accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin(AllowOrigin);

/// Value of the response header `Access-Control-Allow-Origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AllowOrigin {
    /// `*`, as DynamoDB sends.
    Any,
    /// Origin of the request.
    This(HeaderValue),
}

impl HostPolicy {
    /// Returns the policy of a listener. A malformed host or origin is ignored.
    pub fn new(config: &ListenerConfig, authentication: Authentication) -> Self {
        if authentication == Authentication::Required {
            return Self(Accepted::Any);
        }
        Self(Accepted::Listed {
            listen: config.listen.ip().to_canonical(),
            hosts: config.hosts.iter().filter_map(|host| canonical_host(host)).collect(),
            origins: config.origins.iter().filter_map(|origin| canonical_origin(origin)).collect(),
        })
    }

    /// Checks the host and the origin of a request. Returns its origin, for the CORS headers of the
    /// response, or `None` if the request does not come from a web page.
    ///
    /// # Errors
    /// [`ErrorKind::AccessDenied`] for a host or an origin that the server does not accept. The
    /// message names it, and the option that allows it. The response should have status 403 and no
    /// `Access-Control-*` header, so that no page can read it.
    pub fn check(&self, request: &Parts) -> Result<Option<AllowedOrigin>> {
        let Accepted::Listed { listen, hosts, origins } = &self.0 else {
            let has_origin = request.headers.contains_key(ORIGIN);
            return Ok(has_origin.then_some(AllowedOrigin(AllowOrigin::Any)));
        };
        // A browser sends exactly one `Host`. A request without `Host` does not come from a
        // browser. Of several, each has to be accepted.
        let authority = request.uri.authority().map(|authority| authority.as_str().as_bytes());
        let named = request.headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
        for host in authority.into_iter().chain(named) {
            if !is_own_host(host, *listen, hosts) {
                return Err(foreign_host(host));
            }
        }
        let mut given = request.headers.get_all(ORIGIN).iter();
        let Some(origin) = given.next() else { return Ok(None) };
        if given.next().is_some() || !is_allowed_origin(origin.as_bytes(), origins) {
            return Err(foreign_origin(&request.headers));
        }
        Ok(Some(AllowedOrigin(AllowOrigin::This(origin.clone()))))
    }
}

/// CORS headers of a protocol's responses.
#[derive(Clone, Debug)]
pub struct CorsHeaders {
    /// Methods that a page may use.
    pub methods: CorsList,
    /// Request headers that a page may set.
    pub headers: CorsList,
    /// Response headers that a page may read, besides those that every page may read; separated
    /// by commas.
    pub exposed: HeaderValue,
    /// Time for which a browser may cache the response to a preflight.
    pub max_age: Duration,
}

/// List that the response to a CORS preflight allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorsList {
    /// What the browser asks for.
    Requested,
    /// These names, separated by commas.
    Only(HeaderValue),
}

impl CorsHeaders {
    /// Adds the headers with which a page of this origin can read the response.
    pub fn allow(&self, origin: &AllowedOrigin, response: &mut HeaderMap) {
        response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, self.exposed.clone());
        let origin = match &origin.0 {
            AllowOrigin::Any => HeaderValue::from_static("*"),
            AllowOrigin::This(origin) => {
                response.append(VARY, HeaderValue::from_static("Origin"));
                origin.clone()
            }
        };
        response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }

    /// Adds the headers of a response to a preflight (`OPTIONS`) of an accepted origin, besides
    /// those of [`allow`](Self::allow).
    pub fn allow_preflight(&self, request: &HeaderMap, response: &mut HeaderMap) {
        let mut allow = |allowed: HeaderName, list: &CorsList, asked: HeaderName| {
            let value = match list {
                CorsList::Requested => request.get(asked),
                CorsList::Only(names) => Some(names),
            };
            if let Some(value) = value {
                response.insert(allowed, value.clone());
            }
        };
        allow(ACCESS_CONTROL_ALLOW_METHODS, &self.methods, ACCESS_CONTROL_REQUEST_METHOD);
        allow(ACCESS_CONTROL_ALLOW_HEADERS, &self.headers, ACCESS_CONTROL_REQUEST_HEADERS);
        response.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(self.max_age.as_secs()));
    }
}

fn is_own_host(given: &[u8], listen: IpAddr, hosts: &[String]) -> bool {
    if is_usual_host(given) {
        return true;
    }
    let Some(host) = std::str::from_utf8(given).ok().and_then(canonical_host) else { return false };
    if is_loopback(&host) || hosts.contains(&host) {
        return true;
    }
    match address(&host) {
        // A server on an unspecified address has every address of its machine. A page cannot have
        // an IP address resolved to another one.
        Some(address) => address == listen || listen.is_unspecified(),
        None => false,
    }
}

/// Whether this is `localhost` or `127.0.0.1` as clients usually write it, with or without a port.
/// It has the result of the general check, and allocates nothing.
fn is_usual_host(given: &[u8]) -> bool {
    let loopback = [&b"localhost"[..], b"127.0.0.1"];
    let Some(rest) = loopback.into_iter().find_map(|host| given.strip_prefix(host)) else {
        return false;
    };
    match rest {
        [] => true,
        [b':', port @ ..] => {
            let is_port = port.len() < 5 || port.len() == 5 && port <= &b"65535"[..];
            is_port && port.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn is_allowed_origin(given: &[u8], origins: &[String]) -> bool {
    let Some(origin) = std::str::from_utf8(given).ok().and_then(canonical_origin) else {
        return false;
    };
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let host = authority.and_then(canonical_host);
    host.is_some_and(|host| is_loopback(&host)) || origins.contains(&origin)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || address(host).is_some_and(|address| address.is_loopback())
}

/// Parses a host that is an IP address, in brackets for IPv6. Returns `None` for a name.
fn address(host: &str) -> Option<IpAddr> {
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.parse().ok().map(|address: IpAddr| address.to_canonical())
}

/// Returns the host of `host` or `host:port`, in lower case and without the final dot of a full
/// domain name. `None` if the text is not of that form.
pub(crate) fn canonical_host(text: &str) -> Option<String> {
    let text = text.trim_matches([' ', '\t']);
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let end = rest.find(']')? + 2;
            let address = text[..end].trim_matches(['[', ']']);
            address.parse::<std::net::Ipv6Addr>().ok()?;
            (&text[..end], &text[end..])
        }
        None => match text.find(':') {
            Some(colon) => text.split_at(colon),
            None => (text, ""),
        },
    };
    let is_port = port.strip_prefix(':').is_none_or(is_port);
    let is_named = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_name = host.starts_with('[') || host.bytes().all(is_named);
    let is_whole = port.is_empty() || port.starts_with(':');
    let host = host.strip_suffix('.').unwrap_or(host);
    (is_port && is_name && is_whole && !host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Returns an origin as browsers write it, `scheme://host:port`: in lower case and without the
/// default port of its scheme. `None` if the text is not of that form; `null` and `*` are not.
pub(crate) fn canonical_origin(text: &str) -> Option<String> {
    let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    let (scheme, authority) = text.split_once("://")?;
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if scheme.is_empty() || !scheme.bytes().all(is_scheme) {
        return None;
    }
    canonical_host(authority)?;
    let usual = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => ":",
    };
    let authority = authority.strip_suffix(usual).unwrap_or(authority);
    Some(format!("{scheme}://{authority}"))
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.parse::<u16>().is_ok()
}

fn foreign_host(host: &[u8]) -> Error {
    let host = shown(host);
    let name = canonical_host(&host).unwrap_or_else(|| "NAME".to_owned());
    denied(format!(
        "the host '{host}' is not a name of this server: address it as localhost, or start it with \
         --host {name} (ListenerConfig::hosts)"
    ))
}

fn foreign_origin(headers: &HeaderMap) -> Error {
    let given = headers.get_all(ORIGIN).iter().map(|origin| shown(origin.as_bytes()));
    let origin = given.collect::<Vec<String>>().join(", ");
    let name = canonical_origin(&origin).unwrap_or_else(|| "ORIGIN".to_owned());
    denied(format!(
        "pages of the origin '{origin}' may not use this server: serve the page from localhost, or \
         start the server with --cors {name} (ListenerConfig::origins)"
    ))
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

fn denied(message: String) -> Error {
    Error::new(ErrorKind::AccessDenied, message).with_code("AccessDeniedException")
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::{Credentials, ServerConfig};

    fn checked(config: &ServerConfig, uri: &str, headers: &[(&str, &str)]) -> Result<String> {
        let mut request = Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let policy = HostPolicy::new(config, config.authentication());
        Ok(match policy.check(&parts)? {
            None => String::new(),
            Some(AllowedOrigin(AllowOrigin::Any)) => "*".to_owned(),
            Some(AllowedOrigin(AllowOrigin::This(origin))) => origin.to_str().unwrap().to_owned(),
        })
    }

    fn hosts(config: &ServerConfig, hosts: &[&str]) -> Vec<bool> {
        hosts.iter().map(|host| checked(config, "/", &[("host", host)]).is_ok()).collect()
    }

    #[test]
    fn loopback_hosts_are_accepted_on_any_port() {
        let own = [
            "localhost",
            "localhost:8000",
            "LocalHost.:1",
            "127.0.0.1",
            "127.0.0.1:8000",
            "127.8.9.10:80",
            "[::1]",
            "[::1]:8000",
            "[::ffff:127.0.0.1]:8000",
            " localhost:8000 ",
            "localhost:",
            "localhost:9999",
            "127.0.0.1:65535",
            "127.0.0.1:00008",
        ];
        assert_eq!(hosts(&ServerConfig::new(), &own), vec![true; own.len()]);
    }

    #[test]
    fn other_hosts_are_refused() {
        let foreign = [
            "evil.example",
            "evil.example:8000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evillocalhost",
            "localhost:8000@evil.example",
            "evil.example#localhost",
            "localhost:x",
            "localhost:80:80",
            "localhost:65536",
            "127.0.0.1:99999",
            "127.0.0.1:100000",
            "localhost8000",
            "localhost, evil.example",
            "",
            ".",
            ":8000",
            "[::1",
            "[::1]x",
            "[evil.example]",
            "[::1%25lo]",
            "0.0.0.0",
            "192.0.2.1",
            "128.0.0.1",
            "[::]",
            "127.1",
            "2130706433",
            "localhost\u{e9}",
        ];
        let answered: Vec<_> = foreign
            .iter()
            .zip(hosts(&ServerConfig::new(), &foreign))
            .filter_map(|(host, is_answered)| is_answered.then_some(host))
            .collect();
        assert!(answered.is_empty(), "{answered:?}");
    }

    #[test]
    fn listen_address_and_configured_hosts_are_accepted() {
        let config = ServerConfig::new().with_listen("192.0.2.1:8000".parse().unwrap());
        assert_eq!(
            hosts(&config, &["192.0.2.1", "192.0.2.1:9", "192.0.2.2", "[::ffff:192.0.2.1]"]),
            [true, true, false, true]
        );
        let everywhere = ServerConfig::new().with_listen("[::]:8000".parse().unwrap());
        assert_eq!(
            hosts(&everywhere, &["192.0.2.1:8000", "[2001:db8::1]:8000", "0.0.0.0:8000", "db"]),
            [true, true, true, false]
        );
        let named = ServerConfig::new().with_host("Tabla").with_host("db.example");
        assert_eq!(
            hosts(&named, &["tabla:8000", "TABLA", "db.example.", "x.db.example", "example"]),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn every_host_header_of_a_request_is_checked() {
        let config = ServerConfig::new();
        let local = ("host", "localhost");
        assert!(checked(&config, "/", &[]).is_ok(), "a browser always sends Host");
        assert!(checked(&config, "/", &[local, ("host", "evil.example")]).is_err());
        assert!(checked(&config, "http://evil.example/", &[local]).is_err());
        assert!(checked(&config, "http://localhost:8000/", &[local]).is_ok());
    }

    #[test]
    fn loopback_and_configured_origins_are_allowed() {
        let config =
            ServerConfig::new().with_origin("https://App.example:443/").with_origin("tauri://app");
        for origin in [
            "http://localhost",
            "http://localhost:3000",
            "https://localhost:3000",
            "http://127.0.0.1:3000",
            "https://127.1.2.3",
            "http://[::1]:3000",
            "https://app.example",
            "tauri://app",
        ] {
            let allowed = checked(&config, "/", &[("origin", origin)]);
            assert_eq!(allowed.unwrap(), origin, "the response repeats the origin as it was sent");
        }
    }

    #[test]
    fn other_origins_are_refused() {
        let config =
            ServerConfig::new().with_origin("https://app.example").with_host("app.example");
        for origin in [
            "null",
            "",
            "*",
            "http://evil.example",
            "http://app.example",
            "https://app.example:8443",
            "https://app.example.evil.example",
            "https://evil.example/app.example",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "http://evil.example?localhost",
            "http://localhost:3000, http://evil.example",
            "ftp://localhost",
            "file://",
            "chrome-extension://localhost",
            "http://192.0.2.1",
            "localhost:3000",
        ] {
            assert!(checked(&config, "/", &[("origin", origin)]).is_err(), "{origin}");
        }
        let both = [("origin", "http://localhost"), ("origin", "http://evil.example")];
        assert!(checked(&config, "/", &both).is_err());
    }

    #[test]
    fn refusal_names_the_option_that_allows_the_request() {
        let config = ServerConfig::new();
        let error = checked(&config, "/", &[("host", "Db.example:8000")]).unwrap_err();
        assert_eq!(error.code(), "AccessDeniedException");
        assert_eq!(
            error.message(),
            "the host 'Db.example:8000' is not a name of this server: address it as localhost, or \
             start it with --host db.example (ListenerConfig::hosts)"
        );
        let error = checked(&config, "/", &[("origin", "http://App.example")]).unwrap_err();
        assert_eq!(
            error.message(),
            "pages of the origin 'http://App.example' may not use this server: serve the page from \
             localhost, or start the server with --cors http://app.example \
             (ListenerConfig::origins)"
        );
        let long = "x".repeat(5000);
        let error = checked(&config, "/", &[("host", &long), ("origin", "null")]).unwrap_err();
        assert!(error.message().len() < 500, "{error}");
    }

    #[test]
    fn server_with_credentials_accepts_every_host_and_origin() {
        let keys = "[a]\naws_access_key_id=a\naws_secret_access_key=b\n";
        let config = ServerConfig::new().with_credentials(Credentials::parse(keys).unwrap());
        let headers = [("host", "evil.example"), ("origin", "http://evil.example")];
        assert_eq!(checked(&config, "/", &headers).unwrap(), "*");
        assert_eq!(checked(&config, "/", &headers[..1]).unwrap(), "");
    }

    #[test]
    fn preflight_lists_the_methods_and_headers_of_the_protocol() {
        let request = HeaderMap::from_iter([
            (ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("PUT")),
            (ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("x-one")),
        ]);
        let cors = CorsHeaders {
            methods: CorsList::Only(HeaderValue::from_static("GET, PUT")),
            headers: CorsList::Requested,
            exposed: HeaderValue::from_static("etag"),
            max_age: Duration::from_secs(60),
        };
        let mut response = HeaderMap::new();
        response.insert(VARY, HeaderValue::from_static("Accept"));
        let origin = AllowedOrigin(AllowOrigin::This(HeaderValue::from_static("http://localhost")));
        cors.allow(&origin, &mut response);
        cors.allow_preflight(&request, &mut response);
        for (name, expected) in [
            (ACCESS_CONTROL_ALLOW_ORIGIN, "http://localhost"),
            (ACCESS_CONTROL_ALLOW_METHODS, "GET, PUT"),
            (ACCESS_CONTROL_ALLOW_HEADERS, "x-one"),
            (ACCESS_CONTROL_EXPOSE_HEADERS, "etag"),
            (ACCESS_CONTROL_MAX_AGE, "60"),
        ] {
            assert_eq!(response[&name], expected, "{name}");
        }
        let vary: Vec<_> = response.get_all(VARY).iter().collect();
        assert_eq!(vary, ["Accept", "Origin"], "the protocol's own value is kept");
    }
}
