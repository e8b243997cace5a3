//! `cargo xtask aws`: the conformance suite and the apps on DynamoDB in an AWS account.
//!
//! `estimate` runs both on `tabla serve` in memory, counts the requests and estimates their price;
//! it needs no account. `run` runs them on DynamoDB, in tables with a prefix. `clean` deletes the
//! tables with that prefix. With `--endpoint`, `run` and `clean` use DynamoDB Local instead of AWS.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::server::DYNAMODB_LOCAL;
use crate::steps::{Steps, Stopwatch, line, pause, run as run_command};
use crate::test::CLI_FEATURES;
use crate::workspace::{Built, build, cargo};

/// Environment variable that selects the store of the app tests.
const STORE_VARIABLE: &str = "TABLA_APPS_STORE";
/// Environment variable that lists the servers to leave out, read by the tests.
const WITHOUT_VARIABLE: &str = "TABLA_WITHOUT";
/// Packages of the apps, as in `cargo xtask test`.
const APPS: [&str; 5] = [
    "tabla-branding",
    "tabla-crypto-cards",
    "tabla-esencia-fest",
    "tabla-gamificacion",
    "tabla-rk-pai",
];

/// Package with the test that seeds every app and runs its access patterns and races.
const KIT: &str = "tabla-kit";
const KIT_TEST: &str = "apps_on_dynamodb_local";

/// Required start of a table prefix: `clean` deletes no table without it.
const PREFIX_START: &str = "tabla-";
/// Minimum length of a table prefix: tables of other people could have a shorter one.
const SHORTEST_PREFIX: usize = PREFIX_START.len() + 4;
/// Maximum length of a table prefix: table names have at most 255 characters, and the tests append
/// prefixes of their own.
const LONGEST_PREFIX: usize = 64;

/// Time limit of `clean`: a new table can be deleted after some seconds, and one with a new index
/// after some minutes.
const CLEAN_LIMIT: Duration = Duration::from_secs(20 * 60);

/// Access key and secret key for DynamoDB Local, as in `tabla-dynamo`. The server separates tables
/// by access key and region.
const LOCAL_KEY: &str = "tabla";
/// Region for DynamoDB Local, as in `tabla-dynamo`.
const LOCAL_REGION: &str = "us-east-1";

pub(crate) enum Task {
    /// Estimates the price of the run, and fails if it exceeds this number of US dollars.
    Estimate {
        limit: f64,
    },
    Run(Part, Target),
    Clean(Target),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Conformance,
    Apps,
}

/// Service that has the tables, AWS or DynamoDB Local, and the prefix of their names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    prefix: String,
    place: AwsTarget,
}

#[derive(Debug, PartialEq, Eq)]
enum AwsTarget {
    Region(String),
    /// `host:port` of DynamoDB Local.
    Endpoint(String),
}

impl Target {
    pub(crate) fn new(
        prefix: Option<String>,
        region: Option<String>,
        endpoint: Option<String>,
    ) -> Result<Self> {
        let prefix = prefix.ok_or("--prefix is missing: it starts the table names of the run")?;
        let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !prefix.starts_with(PREFIX_START)
            || !(SHORTEST_PREFIX..=LONGEST_PREFIX).contains(&prefix.len())
            || !prefix.chars().all(is_legal)
        {
            return Err(format!(
                "--prefix `{prefix}` must start with `{PREFIX_START}`, have {SHORTEST_PREFIX} to \
                 {LONGEST_PREFIX} characters, and only letters, digits, `-`, `_` and `.`"
            )
            .into());
        }
        let place = match (region, endpoint) {
            (Some(region), None) if is_region(&region) => AwsTarget::Region(region),
            (Some(region), None) => {
                return Err(format!("--region `{region}` must have the form of eu-west-1").into());
            }
            (None, Some(endpoint)) => match endpoint.strip_prefix("http://") {
                Some(host) => AwsTarget::Endpoint(host.trim_end_matches('/').to_owned()),
                None => {
                    return Err(format!("--endpoint `{endpoint}` must start with http://").into());
                }
            },
            _ => return Err("exactly one of --region and --endpoint is required".into()),
        };
        Ok(Self { prefix, place })
    }

    /// Address of the store.
    fn address(&self) -> String {
        match &self.place {
            AwsTarget::Region(region) => {
                format!("dynamodb:?region={region}&prefix={}", self.prefix)
            }
            AwsTarget::Endpoint(host) => format!("dynamodb://{host}?prefix={}", self.prefix),
        }
    }

    /// Command `aws dynamodb` of the AWS CLI for this target.
    fn aws(&self) -> Command {
        let mut command = Command::new("aws");
        command.args(["--no-cli-pager", "--output", "json"]);
        match &self.place {
            AwsTarget::Region(region) => command.args(["--region", region]),
            AwsTarget::Endpoint(host) => command
                .args(["--region", LOCAL_REGION, "--endpoint-url", &format!("http://{host}")])
                .env("AWS_ACCESS_KEY_ID", LOCAL_KEY)
                .env("AWS_SECRET_ACCESS_KEY", LOCAL_KEY)
                .env_remove("AWS_SESSION_TOKEN")
                .env_remove("AWS_PROFILE"),
        };
        command.arg("dynamodb");
        command
    }
}

/// Whether the name has the form of `eu-west-1` or `us-gov-east-1`.
fn is_region(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let Some((number, words)) = parts.split_last() else { return false };
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    words.len() >= 2 && words.iter().all(is_word) && number.parse::<u8>().is_ok()
}

pub(crate) fn run(mut steps: Steps, task: &Task) -> Result<()> {
    match task {
        Task::Estimate { limit } => {
            let programs = Programs::build(&mut steps)?;
            let server = steps.step("tabla serve, in memory", || Serve::start(&programs, None))?;
            // The suite behaves as on AWS: it supports everything, and polls indexes that may lag.
            let address = format!("dynamodb://{}?engine=dynamodb", server.host());
            // `run` reports failed cases. Here a failed case only leaves out requests.
            let outcomes = [
                conformance(&mut steps, &programs, &address),
                apps(&mut steps, &programs, &server),
            ];
            let estimate = Estimate::read(&server.metrics()?);
            println!("\n{estimate}");
            for error in outcomes.into_iter().filter_map(Result::err) {
                println!("the estimate may be too low: {error}");
            }
            steps.finish("cargo xtask aws estimate");
            estimate.check(*limit)
        }
        Task::Run(Part::Conformance, target) => {
            let programs = Programs::build(&mut steps)?;
            conformance(&mut steps, &programs, &target.address())?;
            steps.finish("cargo xtask aws run conformance");
            Ok(())
        }
        Task::Run(Part::Apps, target) => {
            let programs = Programs::build(&mut steps)?;
            let address = target.address();
            let server = steps.step(format_args!("tabla serve --store {address}"), || {
                Serve::start(&programs, Some(&address))
            })?;
            apps(&mut steps, &programs, &server)?;
            steps.finish("cargo xtask aws run apps");
            Ok(())
        }
        Task::Clean(target) => {
            steps.step(format_args!("tables {}*", target.prefix), || clean(target))
        }
    }
}

/// Programs that the run starts.
struct Programs {
    tabla: PathBuf,
    built: Built,
}

impl Programs {
    fn build(steps: &mut Steps) -> Result<Self> {
        let mut command = cargo();
        command.args(["test", "--no-run", "--package", "tabla-cli", "--package", KIT]);
        command.args(["--features", CLI_FEATURES]);
        command.args(APPS.iter().flat_map(|app| ["--package", app]));
        let built = steps.step(line(&command), || build(&mut command))?;
        Ok(Self { tabla: built.program("tabla")?, built })
    }
}

fn conformance(steps: &mut Steps, programs: &Programs, address: &str) -> Result<()> {
    let mut command = Command::new(&programs.tabla);
    command.args(["conformance", "--store", address]);
    steps.command("conformance suite", &mut command)
}

/// Runs the tests of all apps, and fails at the end if any of them failed.
fn apps(steps: &mut Steps, programs: &Programs, server: &Serve) -> Result<()> {
    let mut failed = Vec::new();
    let filters = APPS.iter().map(|app| (*app, None)).chain([(KIT, Some(KIT_TEST))]);
    for (package, filter) in filters {
        for (program, folder) in programs.built.tests(package)? {
            let mut command = Command::new(program);
            command.args(filter).current_dir(folder);
            command.env(STORE_VARIABLE, "dynamodb").env_remove(WITHOUT_VARIABLE);
            command.env(DYNAMODB_LOCAL.endpoint_variable, format!("http://{}", server.host()));
            if let Err(error) = steps.command(package, &mut command) {
                println!("{error}");
                failed.push(package);
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("tests failed: {}", failed.join(", ")).into()),
    }
}

/// Running `tabla serve`, killed on drop.
///
/// The app tests use DynamoDB Local, which accepts any credentials. On AWS this server receives
/// their requests, and forwards them with the credentials of the AWS SDK and the table prefix.
struct Serve {
    child: Child,
    url: String,
}

impl Serve {
    fn start(programs: &Programs, store: Option<&str>) -> Result<Self> {
        let mut command = Command::new(&programs.tabla);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command.args(store.into_iter().flat_map(|store| ["--store", store]));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or("tabla serve has no output")?;
        let mut server = Self { child, url: String::new() };
        let mut greeting = String::new();
        BufReader::new(output).read_line(&mut greeting)?;
        let url = greeting.split_whitespace().find(|word| word.starts_with("http://"));
        let url =
            url.ok_or_else(|| format!("the first line of `tabla serve` has no URL: {greeting:?}"))?;
        server.url = url.trim_end_matches([';', ',', '/']).to_owned();
        println!("{}", server.url);
        Ok(server)
    }

    fn host(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Counters of the server, in the text format of Prometheus.
    fn metrics(&self) -> Result<String> {
        let mut stream = TcpStream::connect(self.host())?;
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.host()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        match answer.starts_with("HTTP/1.1 200") {
            true => Ok(answer),
            false => {
                Err(format!("GET /metrics of tabla serve returned {:?}", answer.lines().next())
                    .into())
            }
        }
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // An error means that the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Requests of a run, from which the highest price is computed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Estimate {
    tables: u64,
    writes: u64,
    reads: u64,
    stream_reads: u64,
    /// Operations without a price: tables, tags, time to live, lists.
    others: u64,
    request_kb: u64,
    response_kb: u64,
}

/// Assumed capacity units of a request, on average at most. Most take 1; transactions take double,
/// an index adds one write, and a few cases have items of up to 400 KB.
const UNITS_PER_REQUEST: u64 = 10;
/// On-demand price per million write units in us-east-1, November 2024, in US dollars.
const WRITE_PRICE: f64 = 0.625;
/// On-demand price per million read units, as above.
const READ_PRICE: f64 = 0.125;
/// Price per million calls of `GetRecords`, in US dollars.
const STREAM_PRICE: f64 = 0.20;
/// Factor for regions that cost more than us-east-1.
const REGION_FACTOR: f64 = 2.0;
/// Assumed seconds from the creation of a table to the end of its deletion.
const SECONDS_PER_TABLE: u64 = 25;
/// Assumed number of tables that exist at a time.
const TABLES_AT_A_TIME: u64 = 4;

impl Estimate {
    /// Parses the counters of a server that has received the requests of the run.
    fn read(metrics: &str) -> Self {
        let mut requests: BTreeMap<&str, u64> = BTreeMap::new();
        let mut estimate = Self::default();
        for line in metrics.lines() {
            let Some((series, count)) = line.rsplit_once(' ') else { continue };
            let Ok(count) = count.parse::<u64>() else { continue };
            match series {
                "tabla_request_bytes_total" => estimate.request_kb = count.div_ceil(1024),
                "tabla_response_bytes_total" => estimate.response_kb = count.div_ceil(1024),
                series => {
                    let labels = series.strip_prefix("tabla_requests_total{operation=\"");
                    let Some((operation, code)) = labels.and_then(|it| it.split_once('"')) else {
                        continue;
                    };
                    *requests.entry(operation).or_default() += count;
                    if operation == "CreateTable" && code.contains("\"OK\"") {
                        estimate.tables += count;
                    }
                }
            }
        }
        for (operation, count) in requests {
            *match operation {
                "PutItem" | "UpdateItem" | "DeleteItem" | "BatchWriteItem"
                | "TransactWriteItems" => &mut estimate.writes,
                "GetItem" | "Query" | "Scan" | "BatchGetItem" | "TransactGetItems" => {
                    &mut estimate.reads
                }
                "GetRecords" => &mut estimate.stream_reads,
                _ => &mut estimate.others,
            } += count;
        }
        estimate
    }

    /// Write units, with 4 for each KB sent: double for transactions, and double again for
    /// an index.
    fn write_units(&self) -> u64 {
        self.writes * UNITS_PER_REQUEST + self.request_kb * 4
    }

    fn read_units(&self) -> u64 {
        self.reads * UNITS_PER_REQUEST + self.response_kb
    }

    /// Upper limit of the price in US dollars.
    fn dollars(&self) -> f64 {
        let millions = |count: u64, price: f64| count as f64 / 1e6 * price;
        REGION_FACTOR
            * (millions(self.write_units(), WRITE_PRICE)
                + millions(self.read_units(), READ_PRICE)
                + millions(self.stream_reads, STREAM_PRICE))
    }

    fn check(&self, limit: f64) -> Result<()> {
        if self.tables == 0 || self.writes == 0 {
            return Err(
                "`/metrics` counts no requests; adapt `Estimate::read` to its format".into()
            );
        }
        match self.dollars() <= limit {
            true => Ok(()),
            false => Err(format!(
                "the run may cost {:.2} USD, more than --max-usd {limit:.2}",
                self.dollars()
            )
            .into()),
        }
    }
}

/// Markdown, for a terminal and for the summary of a GitHub workflow.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## Cost estimate\n")?;
        writeln!(f, "At most **{:.2} USD**.\n", self.dollars())?;
        writeln!(f, "| requests | count | capacity units, at most |\n|---|---:|---:|")?;
        writeln!(f, "| writes | {} | {} |", self.writes, self.write_units())?;
        writeln!(f, "| reads | {} | {} |", self.reads, self.read_units())?;
        writeln!(f, "| GetRecords | {} | {} |", self.stream_reads, self.stream_reads)?;
        writeln!(f, "| tables created and deleted | {} | free |", self.tables)?;
        writeln!(f, "| other | {} | free |", self.others)?;
        writeln!(
            f,
            "\nThe requests were counted on `tabla serve` in memory. Assumptions: \
             {UNITS_PER_REQUEST} capacity units per request, plus 4 per KB sent and 1 per KB \
             received; on-demand prices per million of {WRITE_PRICE} USD (write), {READ_PRICE} USD \
             (read) and {STREAM_PRICE} USD (GetRecords), times {REGION_FACTOR} for regions that \
             cost more than us-east-1. Storage is below a cent: tables live for minutes and hold less \
             than 1 GB together.\n"
        )?;
        let minutes = (self.tables * SECONDS_PER_TABLE / TABLES_AT_A_TIME).div_ceil(60);
        writeln!(
            f,
            "Time: about {minutes} minutes ({SECONDS_PER_TABLE} s per table, {TABLES_AT_A_TIME} \
             tables at a time)."
        )
    }
}

/// Deletes all tables with the prefix, and waits until they are deleted.
fn clean(target: &Target) -> Result<()> {
    let stopwatch = Stopwatch::start();
    loop {
        let tables = tables(target)?;
        if tables.is_empty() {
            println!("no table starts with {}", target.prefix);
            return Ok(());
        }
        if stopwatch.elapsed() > CLEAN_LIMIT {
            return Err(format!(
                "tables still exist after {} minutes: {}",
                CLEAN_LIMIT.as_secs() / 60,
                tables.join(", ")
            )
            .into());
        }
        println!("{} tables to delete", tables.len());
        for table in tables {
            delete(target, &table)?;
        }
        (0..20).for_each(|_| pause());
    }
}

fn tables(target: &Target) -> Result<Vec<String>> {
    let mut command = target.aws();
    command.arg("list-tables");
    let answer: Value = serde_json::from_str(&crate::steps::output(&mut command)?)?;
    let names =
        answer["TableNames"].as_array().ok_or("aws dynamodb list-tables lists no tables")?;
    let names = names.iter().filter_map(Value::as_str);
    Ok(names.filter(|name| name.starts_with(&target.prefix)).map(str::to_owned).collect())
}

/// Requests the deletion of a table, and disables its deletion protection if it has one.
fn delete(target: &Target, table: &str) -> Result<()> {
    let mut command = target.aws();
    command.args(["delete-table", "--table-name", table]);
    let answer = command.stdin(Stdio::null()).output()?;
    let error = String::from_utf8_lossy(&answer.stderr);
    if answer.status.success() {
        println!("deleting {table}");
        Ok(())
    } else if is_busy(&error) {
        // The table is being created, changed or deleted; the next round checks it again.
        Ok(())
    } else if error.contains("deletion protection") {
        println!("disabling the deletion protection of {table}");
        let mut command = target.aws();
        command.args(["update-table", "--table-name", table, "--no-deletion-protection-enabled"]);
        run_command(command.stdout(Stdio::null()))
    } else {
        Err(format!("`{}` failed: {}", line(&command), error.trim()).into())
    }
}

fn is_busy(error: &str) -> bool {
    ["ResourceInUseException", "ResourceNotFoundException", "LimitExceededException"]
        .iter()
        .any(|code| error.contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(prefix: &str, region: Option<&str>, endpoint: Option<&str>) -> Result<Target> {
        let owned = |text: &str| text.to_owned();
        Target::new(Some(owned(prefix)), region.map(owned), endpoint.map(owned))
    }

    #[test]
    fn target_becomes_an_address() {
        let aws = target("tabla-ci-7-", Some("eu-west-1"), None).unwrap();
        assert_eq!(aws.address(), "dynamodb:?region=eu-west-1&prefix=tabla-ci-7-");
        let local = target("tabla-ci-7-", None, Some("http://127.0.0.1:8000/")).unwrap();
        assert_eq!(local.address(), "dynamodb://127.0.0.1:8000?prefix=tabla-ci-7-");
    }

    #[test]
    fn local_target_never_reaches_aws() {
        let local = target("tabla-ci-7-", None, Some("http://127.0.0.1:8000")).unwrap();
        let typed = line(&local.aws());
        assert!(typed.contains("--endpoint-url http://127.0.0.1:8000 dynamodb"), "{typed}");
    }

    #[test]
    fn prefix_of_foreign_tables_is_rejected() {
        for prefix in ["", "tabla-", "tabla-1-", "prod-orders-", "tabla-ci/7-", "tabla-&x=12345"] {
            assert!(target(prefix, Some("eu-west-1"), None).is_err(), "{prefix}");
        }
        assert!(
            target(&format!("tabla-{}", "x".repeat(LONGEST_PREFIX)), Some("eu-west-1"), None)
                .is_err()
        );
    }

    #[test]
    fn target_is_a_region_or_an_endpoint() {
        assert!(target("tabla-ci-7-", None, None).is_err());
        assert!(target("tabla-ci-7-", Some("eu-west-1"), Some("http://h:1")).is_err());
        assert!(target("tabla-ci-7-", None, Some("https://h:1")).is_err());
        for region in ["", "eu", "eu-west", "eu-west-1&x=y", "EU-west-1"] {
            assert!(target("tabla-ci-7-", Some(region), None).is_err(), "{region}");
        }
        assert!(is_region("us-gov-east-1"));
    }

    #[test]
    fn estimate_counts_requests_by_their_price() {
        let metrics = "\
tabla_requests_total{operation=\"CreateTable\",code=\"OK\"} 3
tabla_requests_total{operation=\"CreateTable\",code=\"ValidationException\"} 2
tabla_requests_total{operation=\"PutItem\",code=\"OK\"} 100
tabla_requests_total{operation=\"PutItem\",code=\"ValidationException\"} 20
tabla_requests_total{operation=\"Query\",code=\"OK\"} 50
tabla_requests_total{operation=\"GetRecords\",code=\"OK\"} 7
tabla_request_duration_seconds_count{operation=\"PutItem\"} 120
tabla_request_bytes_total 2049
tabla_response_bytes_total 1024
";
        let estimate = Estimate::read(metrics);
        let expected = Estimate {
            tables: 3,
            writes: 120,
            reads: 50,
            stream_reads: 7,
            others: 5,
            request_kb: 3,
            response_kb: 1,
        };
        assert_eq!(estimate, expected);
        assert_eq!((estimate.write_units(), estimate.read_units()), (1212, 501));
        estimate.check(0.01).unwrap();
        assert!(estimate.check(0.001).is_err());
        assert!(Estimate::default().check(1.0).is_err(), "an empty estimate fails");
    }
}
