//! The conformance suite on DynamoDB Local.

use std::process::ExitCode;

use tabla_conformance::AddressHarness;
use tabla_core::{Registry, RetryPolicy};
use tabla_dynamo::DynamoOpener;

fn main() -> ExitCode {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("skipped (TABLA_WITHOUT): the conformance suite on DynamoDB Local");
        return ExitCode::SUCCESS;
    }
    let server = match tabla_testkit::dynamodb::endpoint() {
        Ok(server) => server,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut registry = Registry::new().with_retries(RetryPolicy::none());
    registry.register(DynamoOpener);
    let address = format!("{}?engine=local", server.url().replacen("http:", "dynamodb:", 1));
    let harness = AddressHarness::new(registry, &address, "dynamodb-local")
        .expect("the server's address is well formed");
    let code = tabla_conformance::main(harness);
    drop(server);
    code
}
