ALTER TABLE tabla_tables ADD COLUMN expiry INTEGER /* the times at which its items expire are in expiry_<number> */;
CREATE TABLE tabla_leases (
  name TEXT PRIMARY KEY, -- what one store at a time does: sweep
  holder TEXT NOT NULL, -- the store that does it, by a name that it has given itself
  until INTEGER NOT NULL -- milliseconds since 1970: then another may
) WITHOUT ROWID;
