-- The tables of exchange.db. Messages are never changed; what is done with them is in `waiting` and `claims`.
-- A file of an earlier version gets the tables that it lacks.

CREATE TABLE IF NOT EXISTS topics (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- How many of its messages there are, wait, are claimed and were given up: kept by the transactions that change them.
    messages INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0,
    active INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again, also after the newest message was removed
    topic_id INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at REAL NOT NULL,               -- seconds since the epoch
    parent_id INTEGER,
    conversation_id TEXT NOT NULL,
    producer TEXT,
    metadata TEXT NOT NULL,                 -- a JSON object
    idempotency_key TEXT,
    hops INTEGER NOT NULL                   -- length of the chain of parents
);
CREATE INDEX IF NOT EXISTS messages_by_topic ON messages (topic_id, id);
CREATE INDEX IF NOT EXISTS messages_by_conversation ON messages (conversation_id, id);
CREATE INDEX IF NOT EXISTS messages_by_parent ON messages (parent_id, id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS messages_by_key ON messages (topic_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- The messages that may be claimed now.
CREATE TABLE IF NOT EXISTS waiting (
    topic_id INTEGER NOT NULL,
    message_id INTEGER NOT NULL,
    PRIMARY KEY (topic_id, message_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS claims (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id INTEGER NOT NULL,
    topic_id INTEGER NOT NULL,
    worker_group TEXT,
    worker_instance_id TEXT,
    claimed_at REAL NOT NULL,
    lease_until REAL NOT NULL,              -- for people: by the wall clock
    boot_id TEXT NOT NULL,                  -- the start of the machine whose clock measures the lease
    lease_ends_ns INTEGER NOT NULL,         -- by that clock
    status TEXT NOT NULL,                   -- active, completed, failed or timed_out
    completed_at REAL,                      -- null: nobody completed it; if it is not active, its lease ran out
    attempt INTEGER NOT NULL,               -- 1 for the first claim of the message
    token TEXT NOT NULL,
    follow_up_id INTEGER                    -- the message that its completion published
);
CREATE INDEX IF NOT EXISTS claims_by_message ON claims (message_id, id);
CREATE INDEX IF NOT EXISTS claims_active ON claims (topic_id, lease_ends_ns) WHERE status = 'active';

-- Conversations that `notify` reports, once their first message is finished.
CREATE TABLE IF NOT EXISTS tracked (
    message_id INTEGER PRIMARY KEY,         -- the conversation's first message
    is_finished INTEGER NOT NULL DEFAULT 0,
    boot_id TEXT,                           -- a request waits for the reply until then; null: none does
    awaited_until_ns INTEGER
);
CREATE INDEX IF NOT EXISTS tracked_finished ON tracked (message_id) WHERE is_finished;

-- What had been published when: age is counted in time that passed, not by a clock that can be set.
CREATE TABLE IF NOT EXISTS ages (
    passed_s REAL NOT NULL,                 -- since the first row
    last_message_id INTEGER NOT NULL,
    last_claim_id INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    boot_ns INTEGER NOT NULL,
    wall_s REAL NOT NULL
);

-- The standing queries of the configuration, each with its topic.
CREATE TABLE IF NOT EXISTS standing_queries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again: a query that comes back has nothing of the former one
    query TEXT NOT NULL,
    topic TEXT NOT NULL,
    UNIQUE (query, topic)
);

-- The roots whose first contents a query has noted: what comes later in them is new.
CREATE TABLE IF NOT EXISTS standing_roots (
    query_id INTEGER NOT NULL,
    path BLOB NOT NULL,
    PRIMARY KEY (query_id, path)
) WITHOUT ROWID;

-- The contents that a query has published, or noted as there from the first. Retention removes none of them.
CREATE TABLE IF NOT EXISTS standing_contents (
    query_id INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    PRIMARY KEY (query_id, content_hash)
) WITHOUT ROWID;
