-- The tables of knowledge.db, which is precious: no other file has what is in it.

CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again, also after the newest entry was deleted
    domain TEXT NOT NULL,
    kind TEXT NOT NULL,                     -- chunk or finding
    content TEXT NOT NULL,
    digest BLOB NOT NULL,                   -- BLAKE2b-128 of the content
    heading TEXT,
    source TEXT,
    metadata TEXT NOT NULL,                 -- a JSON object
    created_at REAL NOT NULL,               -- seconds since the epoch
    used_at REAL,                           -- when a search returned it last; NULL: never
    uses INTEGER NOT NULL DEFAULT 0,        -- how many searches returned it
    UNIQUE (domain, digest)
);
CREATE INDEX entries_by_use ON entries (coalesce(used_at, created_at));

-- The words of the entries (rowid = entries.id). Contentless: the text is in `entries`.
CREATE VIRTUAL TABLE words USING fts5 (
    content, heading, source,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
