//! Client of the load test: sends random requests, records acknowledged writes, and verifies them.
//!
//! Each client has its own items. It knows their state exactly, except for the one write that was
//! in flight when the server was killed.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tabla::env::{Clock, SystemClock};

use crate::counters::{self, COUNTERS, Version};
use crate::things::{INDEX, Name, TABLE, found, get, group, item, key, query, update, version_of};
use crate::wire::{Connection, Response};

/// Number of items of a client, besides the pair that it writes in transactions.
const ITEMS: u64 = 20;

/// Versions that a write gives to items; `None` deletes the item.
type Write = BTreeMap<Name, Option<u64>>;

pub(crate) struct Worker {
    number: u64,
    /// Last version that this client wrote.
    version: u64,
    random: u64,
    /// Versions of the client's items after the acknowledged writes.
    acknowledged: BTreeMap<Name, u64>,
    /// Write without a response.
    pending: Write,
    /// Acknowledged versions of counters.
    pub(crate) counted: Vec<Version>,
    /// Version of a counter whose write has no response.
    pub(crate) pending_count: Option<Version>,
    pub(crate) seen: Seen,
}

/// Responses since the last report.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) codes: BTreeMap<String, u64>,
    pub(crate) durations: Vec<Duration>,
    pub(crate) lasted: Duration,
}

impl Worker {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            number,
            version: 0,
            // An odd seed that differs between clients.
            random: (2 * number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            acknowledged: BTreeMap::new(),
            pending: Write::new(),
            counted: Vec::new(),
            pending_count: None,
            seen: Seen::default(),
        }
    }

    /// Sends one or two requests of a random kind, and checks the responses.
    ///
    /// # Errors
    /// The connection failed. Whether the request was executed is then unknown.
    pub(crate) async fn step(&mut self, connection: &mut Connection) -> io::Result<()> {
        match self.draw(100) {
            0..25 => self.put(connection).await,
            25..45 => self.update(connection).await,
            45..70 => self.get(connection).await,
            70..75 => self.query(connection).await,
            75..78 => self.query_index(connection).await,
            78..86 => self.transact(connection).await,
            86..93 => self.delete(connection).await,
            _ => self.count(connection).await,
        }
    }

    async fn put(&mut self, connection: &mut Connection) -> io::Result<()> {
        let (name, version) = (self.some_item(), self.next_version());
        let body = json!({ "TableName": TABLE, "Item": item(&name, version) });
        self.write(connection, "PutItem", body, [(name, Some(version))].into()).await
    }

    /// Sends a conditional update, one in eight with a wrong version.
    async fn update(&mut self, connection: &mut Connection) -> io::Result<()> {
        let name = self.some_item();
        let version = self.next_version();
        let is_wrong = self.draw(8) == 0;
        let before = match (self.acknowledged.get(&name), is_wrong) {
            (Some(before), false) => Some(*before),
            (Some(_), true) => None,
            (None, false) => None,
            (None, true) => Some(version),
        };
        let body = update(&name, before, version);
        if !is_wrong {
            return self
                .write(connection, "UpdateItem", body, [(name, Some(version))].into())
                .await;
        }
        let response = self.ask(connection, "UpdateItem", &body).await?;
        assert!(is_refused(&response, "ConditionalCheckFailedException"), "{}", response.text());
        Ok(())
    }

    async fn delete(&mut self, connection: &mut Connection) -> io::Result<()> {
        let name = self.some_item();
        let body = json!({ "TableName": TABLE, "Key": key(&name) });
        self.write(connection, "DeleteItem", body, [(name, None)].into()).await
    }

    /// Writes two items, in two partitions, that always have the same version.
    async fn transact(&mut self, connection: &mut Connection) -> io::Result<()> {
        let version = self.next_version();
        let pair = self.pair();
        let put = |name| json!({ "Put": { "TableName": TABLE, "Item": item(name, version) } });
        let body = json!({ "TransactItems": [put(&pair[0]), put(&pair[1])] });
        let write = pair.map(|name| (name, Some(version))).into();
        self.write(connection, "TransactWriteItems", body, write).await
    }

    async fn get(&mut self, connection: &mut Connection) -> io::Result<()> {
        let name = self.some_item();
        let response = self.ask(connection, "GetItem", &get(&name)).await?;
        if response.status == 200 {
            let found = response.json().get("Item").map(|item| version_of(&name, item));
            assert_eq!(found, self.acknowledged.get(&name).copied(), "{name:?}");
        }
        Ok(())
    }

    async fn query(&mut self, connection: &mut Connection) -> io::Result<()> {
        let partition = self.partition();
        let response = self.ask(connection, "Query", &query(&partition)).await?;
        if response.status == 200 {
            let expected = self.acknowledged.iter().filter(|((of, _), _)| *of == partition);
            let expected: Vec<_> =
                expected.map(|(name, version)| (name.clone(), *version)).collect();
            assert_eq!(found(&partition, &response.json()), expected);
        }
        Ok(())
    }

    async fn query_index(&mut self, connection: &mut Connection) -> io::Result<()> {
        let group = group(self.draw(64));
        let body = json!({
            "TableName": TABLE,
            "IndexName": INDEX,
            "KeyConditionExpression": "#group = :group",
            "ExpressionAttributeNames": { "#group": "group" },
            "ExpressionAttributeValues": { ":group": { "S": group } },
            "Limit": 10,
        });
        let response = self.ask(connection, "Query", &body).await?;
        if response.status == 200 {
            for item in response.json()["Items"].as_array().expect("a list") {
                assert_eq!(item["group"]["S"], group.as_str());
                let text = |name: &str| item[name]["S"].as_str().expect("a key").to_owned();
                version_of(&(text("pk"), text("sk")), item);
            }
        }
        Ok(())
    }

    /// Increments a counter, unless another client is the winner.
    async fn count(&mut self, connection: &mut Connection) -> io::Result<()> {
        let counter = self.draw(COUNTERS);
        let name = counters::name(counter);
        let response = self.ask(connection, "GetItem", &get(&name)).await?;
        if response.status != 200 {
            return Ok(());
        }
        let before = response.json().get("Item").map(|item| version_of(&name, item));
        let version = before.unwrap_or(0) + 1;
        self.pending_count = Some((counter, version));
        let response = self.ask(connection, "UpdateItem", &update(&name, before, version)).await?;
        self.pending_count = None;
        if !is_refused(&response, "ConditionalCheckFailedException") {
            response.expect();
            self.counted.push((counter, version));
        }
        Ok(())
    }

    /// Writes to items of this client. Only throttling is a valid refusal, because no other client
    /// writes to them.
    async fn write(
        &mut self,
        connection: &mut Connection,
        operation: &str,
        body: Value,
        write: Write,
    ) -> io::Result<()> {
        self.pending = write;
        let response = self.ask(connection, operation, &body).await?;
        let write = std::mem::take(&mut self.pending);
        if !is_refused(&response, "ThrottlingException") {
            response.expect();
            self.learn(write);
        }
        Ok(())
    }

    fn learn(&mut self, write: Write) {
        for (name, version) in write {
            match version {
                Some(version) => self.acknowledged.insert(name, version),
                None => self.acknowledged.remove(&name),
            };
        }
    }

    async fn ask(
        &mut self,
        connection: &mut Connection,
        operation: &str,
        body: &Value,
    ) -> io::Result<Response> {
        let begun = SystemClock.now();
        let response = connection.ask(operation, body).await?;
        self.seen.durations.push(SystemClock.now().since(begun));
        *self.seen.codes.entry(response.code()).or_default() += 1;
        Ok(response)
    }

    /// Compares the stored items with the acknowledged ones. The write without a response must be
    /// applied as a whole or not at all.
    pub(crate) async fn verify(&mut self, connection: &mut Connection) -> io::Result<()> {
        let mut stored = BTreeMap::new();
        for (partition, _) in self.pair() {
            let response = connection.ask("Query", &query(&partition)).await?;
            stored.extend(found(&partition, &response.expect()));
        }
        if stored != self.acknowledged {
            let before = self.acknowledged.clone();
            let pending = std::mem::take(&mut self.pending);
            self.learn(pending.clone());
            assert_eq!(
                stored, self.acknowledged,
                "acknowledged: {before:?}, without a response: {pending:?}"
            );
        }
        self.pending.clear();
        Ok(())
    }

    fn partition(&self) -> String {
        format!("client-{:04}", self.number)
    }

    fn pair(&self) -> [Name; 2] {
        ["", "-twin"].map(|twin| (self.partition() + twin, "pair".to_owned()))
    }

    fn some_item(&mut self) -> Name {
        let number = self.draw(ITEMS);
        (self.partition(), format!("item-{number:02}"))
    }

    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// Returns a pseudo-random number below `below`, by Marsaglia's xorshift.
    fn draw(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) % below
    }
}

fn is_refused(response: &Response, code: &str) -> bool {
    response.status != 200 && response.code() == code
}
