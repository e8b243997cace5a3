//! A client in another language: scripts in the folder of its name, and their run on a server.

use std::path::Path;

use tabla_testkit::Error;
use tabla_testkit::clients::{Client, ClientRun};

use crate::place::Place;

/// Tests of a client, and the program that runs them.
pub(crate) struct Script(Client);

impl Script {
    pub(crate) fn boto3() -> Option<Self> {
        Self::installed(Client::python("boto3"))
    }

    pub(crate) fn cli() -> Option<Self> {
        Self::installed(Client::python("cli"))
    }

    pub(crate) fn javascript() -> Option<Self> {
        Self::installed(Client::node("javascript"))
    }

    pub(crate) fn admin() -> Option<Self> {
        Self::installed(Client::node("admin"))
    }

    pub(crate) fn browser() -> Option<Self> {
        Self::installed(Client::node("browser"))
    }

    /// Returns the client, or `None` if the tests should skip it.
    fn installed(client: Result<Option<Client>, Error>) -> Option<Self> {
        client.expect("the client is installed").map(Self)
    }

    /// Runs the tests. Their output is shown if they fail.
    pub(crate) async fn run(&self, place: &Place) {
        let run = ClientRun {
            scripts: Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients"),
            homes: Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients"),
            server: place.name,
            url: place.url.clone(),
            access_key: place.access_key.clone(),
            secret_key: "secret".to_owned(),
            variables: Vec::new(),
        };
        self.0.run(&run).await.expect("the tests of the client pass");
    }
}
