CREATE TABLE tabla_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  catalogue INTEGER NOT NULL, -- raised by every change of tabla_tables or tabla_streams
  last_number INTEGER NOT NULL, -- the last number given to a table, index or stream; none is given twice
  last_record INTEGER NOT NULL -- the last sequence number that was taken for records, of any stream
);
INSERT INTO tabla_state VALUES (1, 1, 0, 0);
CREATE TABLE tabla_tables (
  number INTEGER PRIMARY KEY, -- its rows are in items_<number> and keys_<number>
  name TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL, -- JSON
  indexes TEXT NOT NULL -- JSON: the number of each index by its name; its rows are in index_<number>
);
CREATE TABLE tabla_counts (
  number INTEGER PRIMARY KEY, -- a table or an index
  items INTEGER NOT NULL,
  bytes INTEGER NOT NULL -- by DynamoDB's count
);
CREATE TABLE tabla_backfills (
  number INTEGER PRIMARY KEY, -- the index that is being filled
  through INTEGER NOT NULL -- the last row of the table's items that it has
);
CREATE TABLE tabla_deleted (
  name TEXT PRIMARY KEY, -- a table that is gone
  definition TEXT NOT NULL -- as it was
) WITHOUT ROWID;
CREATE TABLE tabla_garbage (
  name TEXT PRIMARY KEY -- a table of SQLite's that is to be emptied and dropped
) WITHOUT ROWID;
CREATE TABLE tabla_tokens (
  token TEXT PRIMARY KEY, -- a client request token
  fingerprint BLOB NOT NULL, -- of its transaction: 16 bytes, big-endian
  completed_at INTEGER NOT NULL -- milliseconds since 1970
) WITHOUT ROWID;
CREATE INDEX tabla_tokens_by_time ON tabla_tokens (completed_at);
CREATE TABLE tabla_streams (
  number INTEGER PRIMARY KEY, -- its records are in records_<number>
  arn TEXT NOT NULL UNIQUE,
  log TEXT NOT NULL -- JSON
);
