//! Generator of requests: valid ones, with changes before and after they are signed.

use tabla_core::blobs::{Checksum, ChecksumAlgorithm};
use tabla_s3::SigningKey;

use super::choices::Choices;
use super::seeds::{Names, SEEDS};
use super::wire::{End, unchunked};
use super::words::{
    BODIES, BUCKETS, HEADER_VALUES, HEADERS, KEYS, METHODS, PARAMETERS, VALUES, XML,
};
use crate::plain::Plain;
use crate::signer::{Signer, decoded, sha256};

/// Time of the gateway's clock, in seconds and in the format of signatures.
pub(crate) const NOW: (u64, &str) = (1_767_225_600, "20260101T000000Z");

/// Gateway for which requests are generated.
#[derive(Debug)]
pub(crate) struct Target {
    /// Value of the header `Host`.
    pub(crate) host: String,
    pub(crate) key: SigningKey,
    pub(crate) names: Names,
}

/// Generated request.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) plain: Plain,
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: End,
    /// Body as an HTTP server receives it; `None` if it is malformed or incomplete.
    pub(crate) received: Option<Vec<u8>>,
    /// Why the gateway must refuse the request; `None` if it may accept it.
    pub(crate) flaw: Option<&'static str>,
    /// Whether `bytes` are not those of `plain`.
    pub(crate) is_raw: bool,
}

/// How the payload is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Payload {
    Hash,
    Unsigned,
    SignedChunks,
    SignedChunksAndTrailer,
    UnsignedTrailer,
}

const PAYLOADS: &[Payload] = &[
    Payload::Hash,
    Payload::Unsigned,
    Payload::Hash,
    Payload::Unsigned,
    Payload::Unsigned,
    Payload::SignedChunks,
    Payload::SignedChunksAndTrailer,
    Payload::UnsignedTrailer,
];

/// Who signs the request, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Header,
    Query,
    /// Not signed.
    Public,
    /// A key that the gateway does not know.
    OtherKey,
    /// The gateway's key with another secret.
    OtherSecret,
    /// 16 minutes too early, or too late.
    OtherTime,
    /// A presigned URL that has expired.
    Expired,
}

const ACCESSES: &[Access] = &[
    Access::Header,
    Access::Header,
    Access::Header,
    Access::Header,
    Access::Header,
    Access::Header,
    Access::Header,
    Access::Query,
    Access::Query,
    Access::Query,
    Access::Query,
    Access::Public,
    Access::OtherKey,
    Access::OtherSecret,
    Access::OtherTime,
    Access::Expired,
];

/// Number of changes to a valid request.
const CHANGES: &[usize] = &[0, 0, 1, 1, 1, 2, 2, 3];

/// Returns a seed as a request, without a signature.
pub(crate) fn seed(text: &str, target: &Target) -> Plain {
    let text = target.names.fill(text);
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = head.split('\n');
    let (method, path) = lines.next().and_then(|line| line.split_once(' ')).expect("a first line");
    let mut plain = Plain::new(method, &format!("{}{path}", target.host));
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        plain.headers.push((name.to_owned(), value.to_owned()));
    }
    plain.body = body.as_bytes().to_vec();
    plain
}

/// Generates a request.
pub(crate) fn request(choices: &mut Choices<'_>, target: &Target) -> Sent {
    let mut plain = seed(choices.pick(SEEDS), target);
    for _ in 0..choices.pick(CHANGES) {
        if !choices.is_empty() {
            change(&mut plain, choices, target);
        }
    }
    let (mut plain, mut flaw) = sign(plain, choices, target);
    if choices.below(8) == 7 {
        flaw = flaw.or(tamper(&mut plain, choices));
    }
    if choices.below(16) == 15 {
        reframe(&mut plain, choices);
    }
    let (end, received) = framing(&plain);
    if received.is_none() {
        flaw = flaw.or(Some("its body is malformed or incomplete"));
    }
    // The signature and the body of a preflight are not read.
    if plain.method == "OPTIONS" {
        flaw = None;
    }
    let mut bytes = plain.encoded();
    if choices.below(16) < 15 {
        return Sent { plain, bytes, end, received, flaw, is_raw: false };
    }
    for _ in 0..=choices.below(3) {
        break_bytes(&mut bytes, choices);
    }
    Sent { plain, bytes, end: End::Closed, received: None, flaw: None, is_raw: true }
}

/// Signs a request as a client does that sends its headers as they are.
pub(crate) fn sign_header(plain: Plain, target: &Target) -> Plain {
    let plain = with_length(plain);
    let hash = sha256(&plain.body);
    Signer::new(&target.key, NOW.1).header(plain, &hash, &[])
}

/// Signs a request. Returns why it must be refused, too.
fn sign(
    mut plain: Plain,
    choices: &mut Choices<'_>,
    target: &Target,
) -> (Plain, Option<&'static str>) {
    let mut payload = choices.pick(PAYLOADS);
    let access = choices.pick(ACCESSES);
    let is_presigned = matches!(access, Access::Query | Access::Expired);
    if is_presigned && choices.below(4) < 3 {
        payload = Payload::Unsigned;
    }
    let content = std::mem::take(&mut plain.body);
    let chunk = content.len().div_ceil(choices.pick(&[1, 1, 2, 7])).max(1);
    let algorithm = choices.pick(&ChecksumAlgorithm::ALL);
    let has_trailer = matches!(payload, Payload::SignedChunksAndTrailer | Payload::UnsignedTrailer);
    if payload > Payload::Unsigned {
        plain = plain.header("x-amz-decoded-content-length", &content.len().to_string());
        if choices.below(2) == 0 {
            plain = plain.header("content-encoding", "aws-chunked");
        }
        if has_trailer && algorithm != ChecksumAlgorithm::Md5 {
            plain = plain.header("x-amz-trailer", &checksum_header(algorithm));
        }
        plain.body = chunks(&content, chunk, payload, algorithm, None);
    } else {
        plain.body = content.clone();
    }
    let value = match payload {
        Payload::Hash => sha256(&content),
        Payload::Unsigned => "UNSIGNED-PAYLOAD".to_owned(),
        Payload::SignedChunks => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD".to_owned(),
        Payload::SignedChunksAndTrailer => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER".to_owned(),
        Payload::UnsignedTrailer => "STREAMING-UNSIGNED-PAYLOAD-TRAILER".to_owned(),
    };
    let plain = with_length(plain);
    let unsigned = match choices.below(2) {
        0 => "content-length",
        _ => "",
    };
    let other = SigningKey::new("other", target.key.secret());
    let wrong = SigningKey::new(target.key.id(), "other");
    let (key, time, flaw) = match access {
        Access::Header | Access::Query => (&target.key, NOW.1, None),
        Access::Public => return (plain, Some("it is not signed")),
        Access::OtherKey => (&other, NOW.1, Some("its key is unknown")),
        Access::OtherSecret => (&wrong, NOW.1, Some("its secret is another")),
        Access::OtherTime => {
            let time = choices.pick(&["20251231T234400Z", "20260101T001600Z", "20250101T000000Z"]);
            (&target.key, time, Some("its time is another"))
        }
        Access::Expired => (&target.key, "20251231T235859Z", Some("it has expired")),
    };
    let mut signer = Signer::new(key, time);
    let mut plain = match is_presigned {
        true => {
            let plain = match payload {
                Payload::Unsigned => plain,
                _ => plain.header("x-amz-content-sha256", &value),
            };
            let mut names: Vec<String> = plain
                .headers
                .iter()
                .map(|(name, _)| name.clone())
                .filter(|name| name == "host" || name.starts_with("x-amz-") || unsigned.is_empty())
                .collect();
            names.sort();
            names.dedup();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            signer.query(plain, "60", &names)
        }
        false => signer.header(plain, &value, &[unsigned]),
    };
    if payload > Payload::Unsigned {
        plain.body = chunks(&content, chunk, payload, algorithm, Some(&mut signer));
    }
    (plain, flaw)
}

/// Sets the length of a body, unless a change has set one.
fn with_length(plain: Plain) -> Plain {
    let has_length = |(name, _): &(String, String)| {
        matches!(name.as_str(), "content-length" | "transfer-encoding")
    };
    let needs_one = !plain.body.is_empty() || matches!(plain.method.as_str(), "PUT" | "POST");
    if plain.headers.iter().any(has_length) || !needs_one {
        return plain;
    }
    let length = plain.body.len().to_string();
    plain.header("content-length", &length)
}

fn checksum_header(algorithm: ChecksumAlgorithm) -> String {
    format!("x-amz-checksum-{}", algorithm.as_str().to_ascii_lowercase())
}

/// Body with the coding `aws-chunked`. Without a signer, signatures are zeros.
fn chunks(
    content: &[u8],
    length: usize,
    payload: Payload,
    algorithm: ChecksumAlgorithm,
    mut signer: Option<&mut Signer>,
) -> Vec<u8> {
    let mut body = Vec::new();
    for chunk in content.chunks(length).chain([&[][..]]) {
        body.extend_from_slice(format!("{:x}", chunk.len()).as_bytes());
        if payload != Payload::UnsignedTrailer {
            let signature = signer.as_mut().map_or_else(|| "0".repeat(64), |one| one.chunk(chunk));
            body.extend_from_slice(format!(";chunk-signature={signature}").as_bytes());
        }
        body.extend_from_slice(b"\r\n");
        if !chunk.is_empty() {
            body.extend_from_slice(chunk);
            body.extend_from_slice(b"\r\n");
        }
    }
    let checksum = Checksum::of(algorithm, content).encoded();
    let line = match algorithm {
        ChecksumAlgorithm::Md5 => String::new(),
        _ => format!("{}:{checksum}", checksum_header(algorithm)),
    };
    let trailer = match (payload, line.is_empty(), signer) {
        (Payload::SignedChunksAndTrailer, false, Some(signer)) => signer.trailer(&line),
        (Payload::SignedChunksAndTrailer, false, None) => {
            format!("{line}\r\nx-amz-trailer-signature:{}\r\n\r\n", "0".repeat(64))
        }
        (Payload::UnsignedTrailer, false, _) => format!("{line}\r\n\r\n"),
        _ => "\r\n".to_owned(),
    };
    body.extend_from_slice(trailer.as_bytes());
    body
}

/// Changes a request before it is signed.
fn change(plain: &mut Plain, choices: &mut Choices<'_>, target: &Target) {
    let (path, query) = match plain.target.split_once('?') {
        Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
        None => (plain.target.clone(), None),
    };
    let (bucket, key) = match path.get(1..).unwrap_or_default().split_once('/') {
        Some((bucket, key)) => (bucket.to_owned(), Some(key.to_owned())),
        None => (path.get(1..).unwrap_or_default().to_owned(), None),
    };
    let mut pairs: Vec<String> =
        query.iter().flat_map(|query| query.split('&')).map(str::to_owned).collect();
    let join = |path: &str, pairs: &[String]| match pairs {
        [] => path.to_owned(),
        pairs => format!("{path}?{}", pairs.join("&")),
    };
    match choices.below(20) {
        0 => plain.method = choices.pick(METHODS).to_owned(),
        1 => plain.target = join(&format!("/{bucket}/{}", choices.pick(KEYS)), &pairs),
        2 => {
            let key = key.map_or(String::new(), |key| format!("/{key}"));
            plain.target = join(&format!("/{}{key}", choices.pick(BUCKETS)), &pairs);
        }
        3 => {
            let count = choices.pick(&[1, 4, 60, 339, 341, 342]);
            let text: String =
                choices.bytes(count % 8 + 1).iter().map(|byte| format!("%{byte:02X}")).collect();
            let key = match count < 60 {
                true => text,
                // 1 to 3 bytes more and less than the limit.
                false => "%E2%82%AC".repeat(count),
            };
            plain.target = join(&format!("/{bucket}/{key}"), &pairs);
        }
        4 | 5 => {
            let value = target.names.fill(choices.pick(VALUES));
            let place = choices.below(pairs.len() + 1);
            pairs.insert(place, format!("{}={value}", choices.pick(PARAMETERS)));
            plain.target = join(&path, &pairs);
        }
        6 if !pairs.is_empty() => {
            let place = choices.below(pairs.len());
            match choices.below(3) {
                0 => drop(pairs.remove(place)),
                1 => pairs.push(pairs[place].clone()),
                _ => {
                    let name = pairs[place].split('=').next().unwrap_or_default().to_owned();
                    let value = target.names.fill(choices.pick(VALUES));
                    pairs[place] = format!("{name}={value}");
                }
            }
            plain.target = join(&path, &pairs);
        }
        6..=9 => {
            let value = target.names.fill(choices.pick(HEADER_VALUES));
            plain.headers.push((choices.pick(HEADERS).to_owned(), value));
        }
        10 if !plain.headers.is_empty() => {
            let place = choices.below(plain.headers.len());
            match choices.below(3) {
                0 => drop(plain.headers.remove(place)),
                1 => plain.headers.push(plain.headers[place].clone()),
                _ => plain.headers[place].1 = target.names.fill(choices.pick(HEADER_VALUES)),
            }
        }
        10 | 11 => {
            let length = choices.below(24);
            let text = String::from_utf8_lossy(choices.bytes(length)).into_owned();
            let text = text.replace(['\r', '\n'], "");
            plain.headers.push((choices.pick(HEADERS).to_owned(), text));
        }
        12 => plain.body = target.names.fill(choices.pick(BODIES)).into_bytes(),
        13 | 14 => {
            let place = choices.below(plain.body.len() + 1);
            let removed = choices.below(8).min(plain.body.len() - place);
            let inserted = match choices.below(2) {
                0 => choices.pick(XML).as_bytes(),
                _ => choices.bytes(6),
            };
            plain.body.splice(place..place + removed, inserted.iter().copied());
        }
        15 => {
            let length = choices.pick(&[1, 1000, 70_000, 70_000, 300_000, 300_000, 1 << 20]);
            let length = if choices.below(64) == 63 { (8 << 20) + 1 } else { length };
            let unit = choices.bytes(16);
            let unit = if unit.is_empty() { b"x" } else { unit };
            plain.body = unit.repeat(length / unit.len() + 1);
            plain.body.truncate(length);
        }
        16 => {
            let tower = choices.pick(&["<a>", "<Object>", "<Delete><Object>", "&lt;", "<!--"]);
            let tower = tower.repeat(choices.pick(&[10, 1000, 20_000]));
            let place = plain.body.len() / 2;
            plain.body.splice(place..place, tower.bytes());
        }
        17 => plain.body = choices.rest().to_vec(),
        18 => {
            let other = seed(choices.pick(SEEDS), target);
            let headers = other.headers.into_iter().filter(|(name, _)| name != "host");
            plain.headers.extend(headers);
        }
        _ => {
            let other = seed(choices.pick(SEEDS), target);
            match choices.below(2) {
                0 => plain.target = other.target,
                _ => plain.body = other.body,
            }
        }
    }
}

/// Changes one element of a signed request. Returns why it must be refused afterwards.
fn tamper(plain: &mut Plain, choices: &mut Choices<'_>) -> Option<&'static str> {
    let is_presigned = plain.target.contains("X-Amz-Signature=");
    match choices.below(9) {
        0 => {
            let header = plain.headers.iter_mut().find(|(name, _)| name == "authorization");
            let text = match (is_presigned, header) {
                (true, _) => &mut plain.target,
                (false, Some((_, value))) => value,
                (false, None) => return None,
            };
            let digit = if text.ends_with('0') { "1" } else { "0" };
            text.pop();
            text.push_str(digit);
            Some("a digit of its signature differs")
        }
        1 => {
            let other = choices.pick(&["GET", "PUT", "POST", "DELETE", "HEAD"]);
            let is_other = plain.method != other;
            plain.method = other.to_owned();
            is_other.then_some("its method is another")
        }
        2 => {
            let end = plain.target.find('?').unwrap_or(plain.target.len());
            plain.target.insert(end, 'x');
            Some("its path is another")
        }
        3 => {
            let separator = if plain.target.contains('?') { '&' } else { '?' };
            plain.target.push_str(&format!("{separator}zz=1"));
            Some("it has a further parameter")
        }
        4 => {
            let added = choices.pick(&["x-amz-meta-added", "x-amz-copy-source", "x-amz-acl"]);
            plain.headers.push((added.to_owned(), "default/a".to_owned()));
            Some("it has a further header")
        }
        5 => {
            let host = plain.headers.iter_mut().find(|(name, _)| name == "host")?;
            host.1.push('x');
            Some("its host is another")
        }
        6 => {
            let is_hashed = plain
                .headers
                .iter()
                .any(|(name, value)| name == "x-amz-content-sha256" && value.len() == 64);
            let last = plain.body.last_mut().filter(|_| is_hashed)?;
            *last ^= 1;
            Some("its body is another")
        }
        7 if plain.target.contains("X-Amz-Expires=60") => {
            *plain = plain.clone().replace("X-Amz-Expires=60", "X-Amz-Expires=61");
            Some("its expiry is another")
        }
        _ => {
            plain.remove("authorization");
            let end = plain.target.find("&X-Amz-Signature=").unwrap_or(plain.target.len());
            plain.target.truncate(end);
            Some("its signature is missing")
        }
    }
}

/// Changes how the body of a request is framed.
fn reframe(plain: &mut Plain, choices: &mut Choices<'_>) {
    let length = plain.body.len();
    match choices.below(7) {
        0 => plain.remove("content-length"),
        1 => *plain = plain.clone().header("content-length", &(length + 1).to_string()),
        2 => *plain = plain.clone().header("content-length", &(length / 2).to_string()),
        3 => *plain = plain.clone().header("content-length", "5368709120"),
        4 => plain.headers.push(("content-length".to_owned(), length.to_string())),
        kind => {
            let mut body = Vec::new();
            for chunk in plain.body.chunks(length.div_ceil(2).max(1)).chain([&[][..]]) {
                body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            plain.body = body;
            plain.headers.push(("transfer-encoding".to_owned(), "chunked".to_owned()));
            if kind == 5 {
                plain.remove("content-length");
            }
        }
    }
}

/// How a server reads the body of a request: what follows on the connection, and the body.
fn framing(plain: &Plain) -> (End, Option<Vec<u8>>) {
    let values = |name: &str| -> Vec<&str> {
        let given = plain.headers.iter().filter(|(given, _)| given == name);
        given.map(|(_, value)| value.trim()).collect()
    };
    let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
    let body = &plain.body;
    if !codings.is_empty() {
        let is_only = codings == ["chunked"] && lengths.is_empty();
        return match unchunked(body) {
            Ok(Some((content, length))) if is_only && length == body.len() => {
                (End::Open, Some(content))
            }
            Ok(Some((content, _))) => (End::Used, Some(content)),
            _ => (End::Closed, None),
        };
    }
    let Some(first) = lengths.first() else {
        let end = if body.is_empty() { End::Open } else { End::Used };
        return (end, Some(Vec::new()));
    };
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    let length = first.parse::<usize>().ok().filter(|_| is_number);
    let Some(length) = length.filter(|_| lengths.iter().all(|other| other == first)) else {
        return (End::Closed, None);
    };
    match body.get(..length) {
        Some(received) if length == body.len() => (End::Open, Some(received.to_vec())),
        Some(received) => (End::Used, Some(received.to_vec())),
        None => (End::Closed, None),
    }
}

/// Changes single bytes.
fn break_bytes(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    // Most places are in the head.
    let places = match choices.below(4) {
        0 => bytes.len(),
        _ => bytes.len().min(600),
    };
    let place = choices.below(places.max(1)).min(bytes.len());
    match choices.below(4) {
        0 => {
            let inserted = choices.bytes(4).to_vec();
            bytes.splice(place..place, inserted);
        }
        1 => drop(bytes.splice(place..(place + 1 + choices.below(4)).min(bytes.len()), [])),
        2 => {
            let inserted =
                choices.pick(&["\r\n", "\n", " ", "\0", ":", "\t", "\r\n\r\n", "\u{e9}"]);
            bytes.splice(place..place, inserted.bytes());
        }
        _ => bytes.truncate(place),
    }
}

/// Content of a body with the coding `aws-chunked`, its signatures unread; `None` if it
/// is malformed.
pub(crate) fn decoded_chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let end = body.windows(2).position(|window| window == b"\r\n")?;
        let line = std::str::from_utf8(&body[..end]).ok()?;
        let digits = line.split(';').next()?;
        let length = usize::from_str_radix(digits, 16).ok()?;
        body = &body[end + 2..];
        if length == 0 {
            return Some(content);
        }
        content.extend_from_slice(body.get(..length)?);
        body = body.get(length..)?.strip_prefix(b"\r\n")?;
    }
}

/// Decoded path of a target; `None` if it is not UTF-8.
pub(crate) fn decoded_path(target: &str) -> Option<String> {
    let path = target.split('?').next()?;
    String::from_utf8(decoded(&path.replace('+', "%2B"))).ok()
}

/// Decoded parameters of a target.
pub(crate) fn parameters(target: &str) -> Vec<(String, String)> {
    let text = |text: &str| String::from_utf8_lossy(&decoded(text)).into_owned();
    let (_, query) = target.split_once('?').unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}
