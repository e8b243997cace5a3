CREATE TABLE tabla_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  catalogue INTEGER NOT NULL, -- version of the catalogue: each change of tabla_tables or tabla_streams raises it
  last_number INTEGER NOT NULL, -- last number given to a table, index, stream or expiry index; never reused
  last_record INTEGER NOT NULL -- last sequence number reserved for stream records, of all streams
);
INSERT INTO tabla_state VALUES (1, 1, 0, 0);
CREATE TABLE tabla_tables (
  number INTEGER PRIMARY KEY, -- its rows are in items_<number> and keys_<number>
  name TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL, -- JSON
  indexes TEXT NOT NULL, -- JSON: index name to number; the entries are in index_<number>
  expiry INTEGER -- the expiry times of its items are in expiry_<number>; NULL if TTL is off
);
CREATE TABLE tabla_counts (
  number INTEGER PRIMARY KEY, -- a table or an index
  items INTEGER NOT NULL,
  bytes INTEGER NOT NULL -- DynamoDB's item sizes, added up
);
CREATE TABLE tabla_backfills (
  number INTEGER PRIMARY KEY, -- an index or expiry index that is being filled
  through INTEGER NOT NULL -- last row of items_<number of the table> that is in it
);
CREATE TABLE tabla_deleted (
  name TEXT PRIMARY KEY, -- a deleted table
  definition TEXT NOT NULL -- its last definition: JSON
) WITHOUT ROWID;
CREATE TABLE tabla_garbage (
  name TEXT PRIMARY KEY -- an SQLite table to be emptied and dropped
) WITHOUT ROWID;
CREATE TABLE tabla_tokens (
  token TEXT PRIMARY KEY, -- client request token
  fingerprint BLOB NOT NULL, -- of the transaction: 16 bytes, big-endian
  completed_at INTEGER NOT NULL -- milliseconds since 1970
) WITHOUT ROWID;
CREATE INDEX tabla_tokens_by_time ON tabla_tokens (completed_at);
CREATE TABLE tabla_streams (
  number INTEGER PRIMARY KEY, -- its records are in records_<number>
  arn TEXT NOT NULL UNIQUE,
  log TEXT NOT NULL -- JSON
);
CREATE TABLE tabla_leases (
  name TEXT PRIMARY KEY, -- the work that the lease is for: sweep
  holder TEXT NOT NULL, -- the store that holds it, by a random name
  until INTEGER NOT NULL -- milliseconds since 1970: another store may take over then
) WITHOUT ROWID;
