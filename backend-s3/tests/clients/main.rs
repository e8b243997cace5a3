//! The gateway with real clients and their usual operations: buckets, objects, conditions, listings,
//! multipart uploads, versions, presigned URLs.
//!
//! The tests of curl are here. Those of other clients are written in their languages, in the folders
//! beside this file. `cargo xtask test` installs their packages, or skips them with
//! `--without clients`. Those of boto3 also run on versitygw, which proves that they expect S3's
//! behavior and not that of this gateway.

mod curl;
mod page;
mod place;

use tabla_core::blobs::{BlobsExt, ListBlobs};
use tabla_testkit::clients::Client;

use page::Page;
use place::{Place, versitygw};

#[tokio::test(flavor = "multi_thread")]
async fn boto3_tests_pass() {
    if let Some(client) = installed(Client::python("boto3")) {
        run(&client, &Place::start(None).await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn boto3_tests_pass_on_versitygw() {
    let Some(client) = installed(Client::python("boto3")) else { return };
    if let Some(server) = versitygw() {
        client.run(&server.run).await.expect("the tests of the client pass");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn aws_cli_tests_pass() {
    if let Some(client) = installed(Client::python("cli")) {
        run(&client, &Place::start(None).await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_sdk_tests_pass() {
    if let Some(client) = installed(Client::node("javascript")) {
        run(&client, &Place::start(None).await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_lets_only_a_configured_origin_upload_and_download() {
    let Some(client) = installed(Client::node("browser")) else { return };
    let page = Page::bind().await;
    let place = Place::start(Some(&page.origin())).await;
    let blobs = place.blobs().await;
    let mut tests = place.run();
    tests.variables =
        vec![("TABLA_PAGE", page.origin()), ("TABLA_OTHER_PAGE", page.other_origin())];
    let _page = page.serve(blobs.clone());
    client.run(&tests).await.expect("the tests of the client pass");
    // What the page of the other origin sent has written nothing.
    let stored = blobs.list(ListBlobs::new()).await.unwrap().blobs;
    let [drawing] = &stored[..] else { panic!("not one object: {stored:?}") };
    assert!(drawing.key.starts_with("localhost/"), "{}", drawing.key);
    let drawing = blobs.read(&drawing.key).await.unwrap().unwrap();
    assert!(drawing.starts_with(b"\x89PNG\r\n"), "it is no PNG");
}

fn installed(client: Result<Option<Client>, tabla_testkit::Error>) -> Option<Client> {
    client.expect("the client is installed")
}

async fn run(client: &Client, place: &Place) {
    client.run(&place.run()).await.expect("the tests of the client pass");
}
