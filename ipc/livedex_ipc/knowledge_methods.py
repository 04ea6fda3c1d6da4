"""The rows of the table of methods for agent memory: what agents asked to remember.

Invariant: as that of the table.
"""

from __future__ import annotations

from livedex_ipc.constants import ENTRY_KINDS, HOT_CHARS, RANKED_MODES
from livedex_ipc.method_types import Field, Method
from livedex_ipc.params import MAX_INTEGER, Param

MAX_NAME = 200  # characters of a domain, a heading or a source
MAX_CONTENT_BYTES = 256 * 1024  # of one entry
MAX_HOT_CHARS = 1_000_000

_ENTRY = "{id, content, domain, heading, kind, source, score, created_at, used_at, uses, metadata}"
_CONTENT = Param("content", "string", "the text to remember, at most 256 KiB", required=True, minimum=1)
_DOMAIN = Param("domain", "string", "a name for entries that belong together", minimum=1, maximum=MAX_NAME)
_SOURCE = Param("source", "string", "where it comes from", minimum=1, maximum=2_000)
_METADATA = Param("metadata", "object", "anything else")
_KIND = Param("kind", "string", "only entries of this kind", choices=ENTRY_KINDS)
_ADDED = (
    Field("id", "integer", "of the entry"),
    Field("created", "boolean", "false: the domain had the same content before"),
)

KNOWLEDGE = (
    Method(
        "knowledge/add",
        "Remembers a text; when it is answered, the entry survives a power loss.",
        (
            _CONTENT,
            _DOMAIN._replace(default="general"),
            Param("heading", "string", "a title; its words count twice", minimum=1, maximum=MAX_NAME),
            _SOURCE,
            _METADATA,
        ),
        _ADDED,
    ),
    Method(
        "knowledge/finding",
        "Remembers what an agent found out.",
        (
            _CONTENT,
            _SOURCE,
            Param("confidence", "string", "how sure it is", minimum=1, maximum=MAX_NAME),
            _DOMAIN._replace(default="findings"),
            _METADATA,
        ),
        _ADDED,
    ),
    Method(
        "knowledge/search",
        "The entries that match a query, best first.",
        (
            Param("query", "string", 'words, "phrases", prefix*, -without; empty: the newest', required=True),
            Param("k", "integer", "how many at most", default=5, minimum=1, maximum=100),
            _DOMAIN._replace(doc="only entries of this domain"),
            Param("mode", "string", "by words, by meaning, or both", default="auto", choices=RANKED_MODES),
        ),
        (
            Field("entries", "array", _ENTRY),
            Field("mode", "string", "`keyword`, `semantic` or `hybrid`: the one that was used"),
            Field("warnings", "array", "as in `status`"),
            Field("vectors_pending", "integer", "entries without a vector yet, if vectors counted", optional=True),
        ),
    ),
    Method(
        "knowledge/list",
        "Entries in the order in which they were added.",
        (
            _DOMAIN._replace(doc="only entries of this domain"),
            _KIND,
            Param("limit", "integer", "how many at most", default=100, minimum=1, maximum=1000),
            Param("offset", "integer", "how many to skip", default=0, minimum=0, maximum=MAX_INTEGER),
        ),
        (Field("entries", "array", _ENTRY), Field("total", "integer", "entries in all")),
    ),
    Method(
        "knowledge/hot",
        "The entries used last and most, as one text.",
        (Param("max_chars", "integer", "the longest text", default=HOT_CHARS, minimum=1, maximum=MAX_HOT_CHARS),),
        (Field("text", "string", "never longer than max_chars"),),
    ),
    Method(
        "knowledge/delete",
        "Deletes one entry.",
        (Param("id", "integer", "of the entry", required=True, minimum=1, maximum=MAX_INTEGER),),
        (Field("deleted", "boolean", "false: there is no such entry"),),
    ),
    Method(
        "knowledge/stats",
        "How many entries each domain has.",
        (),
        (
            Field("backend", "string", "sqlite, or a plugin's name"),
            Field("entries", "integer", "entries in all"),
            Field("domains", "object", "{name: entries}"),
            Field("db_bytes", "integer", "size on disk; 0 where a plugin does not say it"),
        ),
    ),
)
