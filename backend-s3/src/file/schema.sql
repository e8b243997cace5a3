-- Times are milliseconds since the Unix epoch. Keys are the bytes of their UTF-8, so that they order
-- by their bytes. A checksum is its algorithm and S3's text. `files` is a list of 16 bytes of file
-- id and 8 bytes of length each, big-endian.

CREATE TABLE folder ( -- one row
  key_id TEXT NOT NULL, -- signing key of presigned URLs
  key_secret TEXT NOT NULL,
  swept INTEGER NOT NULL -- time of the last sweep; 0: never
) STRICT;

CREATE TABLE bucket (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
  name TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  keeps_versions INTEGER NOT NULL,
  number INTEGER NOT NULL -- counts versions and uploads
) STRICT;

CREATE TABLE blob (
  bucket INTEGER NOT NULL,
  is_past INTEGER NOT NULL, -- 0: current blob of its key; 1: earlier version or delete marker
  key BLOB NOT NULL,
  version INTEGER NOT NULL, -- 2^63 - 1 - number; a lower one is newer
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  checksum TEXT,
  content_type TEXT,
  cache_control TEXT,
  content_disposition TEXT,
  content_encoding TEXT,
  content_language TEXT,
  metadata TEXT, -- JSON; NULL: none
  files BLOB, -- NULL: delete marker
  PRIMARY KEY (bucket, is_past, key, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE upload (
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  id TEXT NOT NULL, -- ids ascend in the order of their begin
  created INTEGER NOT NULL,
  checksum TEXT, -- algorithm, `full` or `composite`, and `, any` if parts may have any; NULL: none
  content_type TEXT,
  cache_control TEXT,
  content_disposition TEXT,
  content_encoding TEXT,
  content_language TEXT,
  metadata TEXT,
  PRIMARY KEY (bucket, key, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE part (
  bucket INTEGER NOT NULL,
  upload TEXT NOT NULL,
  number INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  checksum TEXT,
  files BLOB NOT NULL,
  PRIMARY KEY (bucket, upload, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE file (
  id BLOB PRIMARY KEY, -- 16 bytes; the name of the file in hexadecimal digits
  links INTEGER NOT NULL -- rows of `blob` and `part` that list it
) STRICT, WITHOUT ROWID;

CREATE TABLE garbage ( -- files without links that readers may still open
  file BLOB PRIMARY KEY,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

