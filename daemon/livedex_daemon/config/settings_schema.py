"""The one list of settings: every key of the configuration with its default and its accepted values.

Invariant: a default is in the form a user would write and passes its own reader, so that ``config show``, the template
and a run without a file agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from livedex_daemon.config import setting_values as values


class Setting(NamedTuple):
    """One ``key = value``. ``default`` is as written in TOML; ``read`` turns it into what the daemon uses."""

    default: Any
    read: values.Reader
    doc: str


SETTINGS: dict[str, Setting] = {
    "index.backend": Setting("sqlite", values.part_name, "what ranks: sqlite is built in"),
    "index.max_file_size": Setting("8MiB", values.size(1 << 10, 1 << 30), "larger files are skipped"),
    "index.encodings": Setting({}, values.encodings, 'glob to encoding of what is not UTF-8: { "*.pas" = "cp850" }'),
    "chunking.tokenizer": Setting("character", values.choice("character"), "what chunk_size and overlap count"),
    "chunking.chunk_size": Setting(2048, values.whole_number(64, 32768, "characters"), "characters"),
    "chunking.overlap": Setting(128, values.whole_number(0, 32767), "characters of the chunk before, searchable too"),
    "chunking.pipelines": Setting({}, values.pipelines, 'suffix to pipeline: { ".org" = "markdown" }'),
    "parsing.default": Setting("markitdown", values.part_name, "converts documents; PDFs: pypdfium2"),
    "parsing.overrides": Setting({}, values.parsers, 'suffix to parser: { ".docx" = "pandoc" }'),
    "parsing.timeout": Setting(20, values.whole_number(1, 3600, "seconds"), "seconds for one document"),
    "watch.observer": Setting("auto", values.choice("auto", "native", "polling"), "auto, native or polling"),
    "watch.poll_every": Setting("2s", values.duration(0.1, 3600.0), "where the system reports no changes"),
    "watch.reconcile_every": Setting("10m", values.duration(1.0, 30 * 86400.0), "the whole tree is compared again"),
    "exchange.max_attempts": Setting(5, values.whole_number(1, 1000), "lost workers of a message, until it is dead"),
    "exchange.retention": Setting("30d", values.duration(60.0, 3650 * 86400.0), "of finished conversations"),
    "exchange.max_body": Setting("4MiB", values.size(1 << 10, 64 << 20), "of one message"),
    "exchange.max_waiting": Setting(1_000_000, values.whole_number(1, 10**9), "messages in a topic; more are refused"),
    "exchange.max_hops": Setting(32, values.whole_number(1, 10_000), "length of a chain of follow-ups"),
    "plugins.paths": Setting([], values.folders, "folders with plugin modules, besides installed packages"),
    "knowledge.backend": Setting("", values.plugin_name, "of agent memory; empty: livedex's own store"),
    "embedding.embedder": Setting(
        "", values.plugin_name, "makes the vectors of meaning; empty: searches compare words"
    ),
    "embedding.model": Setting("", values.text, "a name, or a folder; for static empty: the installed package"),
    "embedding.api_base": Setting("", values.http_address, "of the gateway; empty: its usual address"),
    "embedding.api_key_env": Setting("", values.variable_name, "the environment variable that holds the key"),
    "embedding.batch": Setting(32, values.whole_number(1, 2048), "texts in one request"),
    "embedding.timeout": Setting(30, values.whole_number(1, 3600, "seconds"), "seconds for one request"),
    "embedding.weight": Setting(0.8, values.number(0.0, 100.0), "of a cosine, in units of the score of words"),
    "embedding.fusion": Setting("score", values.choice("score", "rrf"), "score adds both, rrf counts places alone"),
    "power.wait_on_battery": Setting(True, values.flag, "on battery, bulk work that nobody asked for waits"),
    "power.yield_to_load": Setting(True, values.flag, "bulk work yields to other programs under load"),
    "log.level": Setting("info", values.choice("debug", "info", "warning", "error"), "debug, info, warning or error"),
}

ROOTS = "roots"
ROOT_KEYS = ("path", "ignore", "encoding")
STANDING = "standing"  # [[standing]]: a query whose new matches become messages
STANDING_KEYS = ("query", "topic")
PLUGIN = "plugin"  # [plugin.NAME]: the settings of one plugin, which livedex does not know

TABLES: dict[str, tuple[str, ...]] = {}
for _key in SETTINGS:
    _table, _name = _key.split(".")
    TABLES[_table] = (*TABLES.get(_table, ()), _name)


def known_keys() -> tuple[str, ...]:
    """Return every key that a file may contain, dotted; a root's as ``roots.path``."""
    of_lists = [f"{table}.{name}" for table, names in ((ROOTS, ROOT_KEYS), (STANDING, STANDING_KEYS)) for name in names]
    return (*of_lists, *SETTINGS)
