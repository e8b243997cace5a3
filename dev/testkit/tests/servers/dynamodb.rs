use tabla_testkit::dynamodb;

/// `endpoint` returns only after ListTables has succeeded.
#[test]
fn endpoint_returns_shared_running_server() {
    if dynamodb::is_excluded() {
        println!("not run: needs DynamoDB Local");
        return;
    }
    let first = dynamodb::endpoint().expect("a server");
    let second = dynamodb::endpoint().expect("the same server");
    assert_eq!(first.url(), second.url());
    assert!(first.url().starts_with("http"), "{}", first.url());
}
