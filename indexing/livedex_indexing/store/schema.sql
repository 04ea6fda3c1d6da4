-- The index: which files there are, what their contents were cut into, and the postings of both.
-- Everything here is derived from the files of the roots and may be deleted: it is rebuilt.
-- Times named *_ns are nanoseconds, the other times seconds since the epoch. Paths are bytes (BLOB).

CREATE TABLE state (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
-- unmerged: since when rows have been removed whose words are still in the lists; 0: there are none, 1: do not wait.
INSERT INTO state (name, value) VALUES ('generation', 0), ('unmerged', 0), ('rewritten', 0);

CREATE TABLE roots (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    path            BLOB NOT NULL UNIQUE,
    dev             INTEGER NOT NULL,
    ino             INTEGER NOT NULL,
    missing_since   REAL,                       -- while it is set the root's files are kept and not served
    first_indexed   INTEGER NOT NULL DEFAULT 0,
    last_reconciled REAL,
    planned         INTEGER NOT NULL DEFAULT 0  -- fingerprint of the plan that all its contents were seen to follow
);

CREATE TABLE languages (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

-- One row per (bytes, plan signature). Its chunks have the consecutive ids first_chunk … first_chunk + chunks - 1.
-- AUTOINCREMENT: an id is never given twice, so that what is remembered about a content cannot meet another one.
CREATE TABLE contents (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    hash              BLOB NOT NULL,            -- BLAKE2b-128 of the file's bytes
    signature         BLOB NOT NULL,            -- of the plan that cut it
    size              INTEGER NOT NULL,
    first_chunk       INTEGER NOT NULL,
    chunks            INTEGER NOT NULL,
    pipeline          TEXT NOT NULL,
    language          INTEGER REFERENCES languages,
    encoding          TEXT NOT NULL,
    lossy             INTEGER NOT NULL,
    folds             INTEGER NOT NULL,         -- 1: words in `exact` may have letters that the text has in another form
    frontmatter       TEXT,                     -- JSON
    frontmatter_fault TEXT,
    fallback          TEXT,
    parsed_by         TEXT,                     -- the parser that made Markdown of a document, see `documents`
    pages             TEXT,                     -- JSON: the byte of that text at which each page begins
    unused_since      REAL,                     -- NULL while a file points here; 0: do not wait to collect it
    UNIQUE (hash, signature)
);
CREATE INDEX contents_unused ON contents (unused_since) WHERE unused_since IS NOT NULL;

-- The Markdown that a parser made of a document: the live file has no such text. Places in its chunks count in it.
CREATE TABLE documents (
    content_id INTEGER PRIMARY KEY REFERENCES contents,
    text       BLOB NOT NULL                    -- UTF-8, compressed by zlib
);

-- The frontmatter of a content, name by name and value by value (see properties.py).
CREATE TABLE properties (
    content_id INTEGER NOT NULL REFERENCES contents,
    name       TEXT NOT NULL,
    value      NOT NULL,                        -- TEXT; an empty BLOB: the name has no text of its own
    PRIMARY KEY (content_id, name, value)
) WITHOUT ROWID;
CREATE INDEX properties_by_value ON properties (name, value);

-- The id is that of the row in `postings`; the ordinal is id - first_chunk.
CREATE TABLE chunks (
    id            INTEGER PRIMARY KEY,
    content_id    INTEGER NOT NULL REFERENCES contents,
    kind          INTEGER NOT NULL,             -- place in model.KINDS
    language      INTEGER REFERENCES languages, -- the chunk's own: a code block in Markdown has its fence's
    start_byte    INTEGER NOT NULL,
    end_byte      INTEGER NOT NULL,
    start_line    INTEGER NOT NULL,
    end_line      INTEGER NOT NULL,
    context_chars INTEGER NOT NULL,
    heading       TEXT,
    symbol        TEXT,
    metadata      TEXT                          -- JSON, NULL where there is none
);

-- Chunks of contents that no file uses: searches leave them out while they are kept.
CREATE TABLE dead (id INTEGER PRIMARY KEY);

CREATE TABLE files (
    id           INTEGER PRIMARY KEY,
    root_id      INTEGER NOT NULL REFERENCES roots,
    folder       BLOB NOT NULL,                 -- relative to the root, '' at its top
    name         BLOB NOT NULL,
    size         INTEGER NOT NULL,
    mtime_ns     INTEGER NOT NULL,
    ctime_ns     INTEGER NOT NULL,
    ino          INTEGER NOT NULL,
    status       INTEGER NOT NULL,              -- place in model.STATUSES
    reason       TEXT,
    content_id   INTEGER REFERENCES contents,   -- NULL unless indexed
    content_hash BLOB,                          -- of a file that is not indexed, where it was read
    signature    BLOB,
    indexed_at   REAL NOT NULL,
    settled      INTEGER NOT NULL,
    UNIQUE (root_id, folder, name)
);
CREATE INDEX files_by_content ON files (content_id) WHERE content_id IS NOT NULL;
CREATE INDEX files_by_ino ON files (ino);
CREATE INDEX files_failed ON files (root_id) WHERE status = 3;  -- place of `failed` in model.STATUSES
CREATE INDEX files_pending ON files (root_id) WHERE status = 1; -- place of `pending`: empty while nothing waits

-- Contentless: the text is in the user's files. contentless_delete lets a row go by its id alone.
CREATE VIRTUAL TABLE postings USING fts5 (
    body, ids, heads, symbols,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
-- The words as they are written, a row a content (rowid = contents.id): stems can neither spell a correction nor answer a
-- substring. A content holds a word exactly when its row does, wherever chunks were cut: a pattern's candidates are the
-- contents whose rows hold the words (of `temp.written`, see read_pool) that it may be part of. detail=none says no more
-- than that: .08 of the corpus.
CREATE VIRTUAL TABLE exact USING fts5 (
    words,
    content = '', contentless_delete = 1, detail = none, tokenize = 'unicode61 remove_diacritics 2'
);
-- A row a file (rowid = files.id), so that a rename touches no content.
CREATE VIRTUAL TABLE paths USING fts5 (
    name, folder,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
-- The end of each page is a checksum's: with FTS5's own choice of 4050 each leaf would spill over into a second page.
INSERT INTO postings (postings, rank) VALUES ('pgsz', 4040);
INSERT INTO exact (exact, rank) VALUES ('pgsz', 4040);
INSERT INTO paths (paths, rank) VALUES ('pgsz', 4040);
-- Larger merges, fewer of them: small commits keep a short tail, and idle maintenance merges in steps.
INSERT INTO postings (postings, rank) VALUES ('automerge', 16);
INSERT INTO postings (postings, rank) VALUES ('crisismerge', 64);
INSERT INTO exact (exact, rank) VALUES ('automerge', 16);
INSERT INTO exact (exact, rank) VALUES ('crisismerge', 64);
INSERT INTO paths (paths, rank) VALUES ('automerge', 16);
INSERT INTO paths (paths, rank) VALUES ('crisismerge', 64);
-- A large commit is written at one go: what does not fit into so many bytes begins another segment.
INSERT INTO postings (postings, rank) VALUES ('hashsize', 4194304);
INSERT INTO exact (exact, rank) VALUES ('hashsize', 4194304);
