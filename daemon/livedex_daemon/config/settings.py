"""The configuration: the user's file combined with the defaults, typed and checked as a whole.

Invariant: every ``Config`` is valid and immutable. A reload creates a new one; a file with a fault creates none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypedDict

from livedex_daemon.config import config_file, root_folders
from livedex_daemon.config.config_check import Document, Fault, RootEntry, check, read_toml
from livedex_daemon.config.root_folders import RealRoot
from livedex_daemon.config.setting_values import plugin_table, thawed
from livedex_daemon.config.settings_schema import PLUGIN, ROOTS, SETTINGS, STANDING, TABLES
from livedex_daemon.process.locations import locate
from livedex_ipc.errors import ConfigInvalid, Unavailable

ResolvedEntry = tuple[RootEntry, RealRoot]

EMPTIED: Final = "it contains no setting, but there are roots"
RESTORE: Final = "restore the file, or write `roots = []` into it to have none"


@dataclass(frozen=True, slots=True)
class RootConfig:
    """One watched folder. ``path`` is absolute and real, ``configured`` as written in the file at ``line``.

    ``is_real`` is False while a mount on the way does not answer: then ``path`` may still contain links. ``is_link`` is
    True if links led to ``path`` from what is configured, or lead from ``path`` to where this root may not be.

    ``ignore`` contains gitignore patterns that override every ignore file, ``ignore_lines`` the line of each.
    ``encoding`` is Python's name of that of text which is neither UTF-8 nor marked, "" if it is to be found out. The
    position of a root in the file has no effect, so comparisons of configurations ignore ``line``.
    """

    path: str
    configured: str
    ignore: tuple[str, ...]
    line: int = field(compare=False)
    ignore_lines: tuple[int, ...] = ()
    is_real: bool = True
    encoding: str = ""
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """``max_file_size`` is in bytes, 1 KiB to 1 GiB. ``encodings`` maps globs to names of encodings, the last that
    matches counts."""

    backend: str
    max_file_size: int
    encodings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """``chunk_size`` (64 to 32,768) and ``overlap`` (less than that) count characters; ``pipelines`` maps a suffix
    with its dot to ``markdown``, ``code``, ``plain`` or the pipeline of a plugin."""

    tokenizer: str
    chunk_size: int
    overlap: int
    pipelines: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ParsingConfig:
    """``default`` and the values of ``overrides`` are names of parsers, the keys suffixes with their dot; ``timeout_s``
    is for one document."""

    default: str
    overrides: Mapping[str, str]
    timeout_s: int


@dataclass(frozen=True, slots=True)
class WatchConfig:
    """``observer`` is ``auto``, ``native`` or ``polling``; the intervals are seconds."""

    observer: str
    poll_every_s: float
    reconcile_every_s: float


@dataclass(frozen=True, slots=True)
class ExchangeConfig:
    """``retention_s`` is in seconds, ``max_body`` in bytes of UTF-8; the others are numbers of attempts, of messages
    and of follow-ups."""

    max_attempts: int = 5
    retention_s: float = 30 * 86_400.0
    max_body: int = 4 << 20
    max_waiting: int = 1_000_000
    max_hops: int = 32


@dataclass(frozen=True, slots=True)
class StandingConfig:
    """A query whose new matches become messages of ``topic``. Comparisons ignore ``line``, that of the query."""

    query: str
    topic: str
    line: int = field(compare=False, default=0)


@dataclass(frozen=True, slots=True)
class PluginsConfig:
    """``paths`` are folders as written, perhaps with ``~``; ``tables`` has the settings of each plugin by its name."""

    paths: tuple[str, ...] = ()
    tables: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnowledgeConfig:
    """``backend`` is the name of a plugin's store, empty for the built-in one."""

    backend: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """``embedder`` is a name, empty for none; ``timeout`` is in seconds; ``fusion`` is ``score`` or ``rrf``. No key is
    here: ``api_key_env`` is the variable that holds it."""

    embedder: str = ""
    model: str = ""
    api_base: str = ""
    api_key_env: str = ""
    batch: int = 32
    timeout: float = 30.0
    weight: float = 0.8
    fusion: str = "score"


@dataclass(frozen=True, slots=True)
class PowerConfig:
    wait_on_battery: bool
    yield_to_load: bool


@dataclass(frozen=True, slots=True)
class LogConfig:
    """``level`` is ``debug``, ``info``, ``warning`` or ``error``."""

    level: str


@dataclass(frozen=True, slots=True)
class Config:
    roots: tuple[RootConfig, ...]
    index: IndexConfig
    chunking: ChunkingConfig
    parsing: ParsingConfig
    watch: WatchConfig
    exchange: ExchangeConfig
    knowledge: KnowledgeConfig
    power: PowerConfig
    log: LogConfig
    plugins: PluginsConfig = PluginsConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    standing: tuple[StandingConfig, ...] = ()
    effective: Mapping[str, object] = field(default_factory=dict, compare=False)
    """What a plugin's factory gets: ``{"index": {"backend": "sqlite", …}, …}``; ``roots`` is a tuple of paths."""


class SettingRow(TypedDict):
    """A setting in effect. ``value`` is as written in TOML, ``line`` None for a default."""

    value: Any
    origin: Literal["default", "file"]
    line: int | None


def load(
    path: str,
    *,
    accepted: Collection[str] | None = None,
) -> Config:
    """Read and check the file; a missing one means the defaults.

    ``accepted``: roots as written (None: all) that were accepted before: one is missing, and no fault, if a file or a
    link to another root is now in its place. If there are any, a file without a setting is a fault: it is being saved,
    or damaged. Raises ConfigInvalid with all faults at once; Unavailable if the system cannot read the file.
    """
    content = _content(path)
    return parse(b"", path=path) if content is None else parse(content, path=path, accepted=accepted)


def parse(
    text: str | bytes,
    *,
    path: str = "config.toml",
    accepted: Collection[str] | None = None,
) -> Config:
    """Check a configuration's text as ``load`` does; ``path`` is only for messages."""
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    document = document_of(content, path)
    if accepted and not document.data:
        raise invalid([Fault(None, None, None, f"{EMPTIED}: {RESTORE}")], path)
    return _config(document, path, accepted)


def is_emptied(path: str) -> bool:
    """Return whether the file is there without a setting. Raises ConfigInvalid if it is no TOML."""
    content = _content(path)
    return content is not None and not document_of(content, path).data


def settings(path: str) -> dict[str, SettingRow]:
    """Return every setting in effect by its dotted key. Raises ConfigInvalid as ``load`` does."""
    document = document_of(_content(path) or b"", path)
    _config(document, path, None)
    found = {key: _shown(document, key, document.data.get(key), []) for key in (ROOTS, STANDING)}
    for key, setting in SETTINGS.items():
        group, name = key.split(".")
        found[key] = _shown(document, key, document.data.get(group, {}).get(name), setting.default)
    for name, table in document.data.get(PLUGIN, {}).items():
        found[f"{PLUGIN}.{name}"] = _shown(document, f"{PLUGIN}.{name}", thawed(plugin_table(table)), None)
    return found


def document_of(content: bytes, path: str) -> Document:
    """Parse the text. Raises ConfigInvalid if it is not TOML; nothing else is checked."""
    document = read_toml(content)
    if isinstance(document, Fault):
        raise invalid([document], path)
    return document


def invalid(faults: list[Fault], path: str) -> ConfigInvalid:
    """Return the error for these faults, each in ``data["faults"]`` in the form of the contract."""
    first = faults[0]
    count = "a fault" if len(faults) == 1 else f"{len(faults)} faults, the first"
    place = f" in line {first.line}" if first.line is not None else ""
    key = f"{first.key}: " if first.key is not None else ""
    meant = f" (did you mean {first.nearest}?)" if first.nearest else ""
    message = f"the configuration {path} has {count}{place}: {key}{first.message}{meant}"
    return ConfigInvalid(message, {"path": path, "faults": [fault.fields() for fault in faults]})


def _roots(
    entries: list[RootEntry], own_folders: Sequence[str], accepted: Collection[str] | None
) -> tuple[list[RootConfig], list[Fault]]:
    """Return the roots, and the faults of those that cannot be one. A path that was accepted before is no fault if it
    now leads to another root's folder: it is a missing root of its own."""
    found: list[ResolvedEntry] = []
    faults: list[Fault] = []
    for entry in entries:
        may_be_taken = accepted is None or entry.path in accepted
        try:
            found.append((entry, root_folders.resolve(entry.path, own_folders, may_be_taken=may_be_taken)))
        except ValueError as error:
            faults.append(_root_fault(entry, str(error)))
    roots: list[RootConfig] = []
    for each, owner in zip(found, root_folders.owners([real for _, real in found]), strict=True):
        fault = None if each is found[owner] else _shared_folder(each, found[owner], accepted)
        if fault is not None:
            faults.append(fault)
            continue
        entry, real = each if each is found[owner] else (each[0], each[1].taken())
        rules = (entry.ignore, entry.place.line, entry.ignore_lines)
        roots.append(RootConfig(real.path, entry.path, *rules, real.is_real, entry.encoding, real.is_link))
    return roots, faults


def _shared_folder(root: ResolvedEntry, owner: ResolvedEntry, accepted: Collection[str] | None) -> Fault | None:
    """Return the fault of two roots that have one folder: that of the new one, if one of them is; None if none is."""
    both = sorted((root[0], owner[0]), key=lambda entry: entry.number)
    is_twice = root[1].written == owner[1].written
    new = both if is_twice else [each for each in both if accepted is not None and each.path not in accepted]
    if not new:
        return None
    other = both[0] if new[-1] is both[1] else both[1]
    return _root_fault(new[-1], f"is the same folder as the root in line {other.place.line}")


def _root_fault(entry: RootEntry, message: str) -> Fault:
    return Fault(f"{ROOTS}[{entry.number}].path", *entry.place, message)


def _content(path: str) -> bytes | None:
    try:
        return config_file.read(path)
    except config_file.ConfigFileUnread as fault:
        raise Unavailable(str(fault), {"path": path}) from None
    except config_file.ConfigFileError as fault:
        raise invalid([Fault(None, None, None, str(fault))], path) from None


def _config(
    document: Document,
    path: str,
    accepted: Collection[str] | None,
) -> Config:
    checked = check(document)
    roots, root_faults = _roots(checked.roots, locate().own_folders, accepted)
    faults = [*checked.faults, *root_faults]
    if faults:
        raise invalid(sorted(faults, key=lambda fault: (fault.line or 0, fault.column or 0)), path)

    def of(key: str) -> Any:
        return checked.values[key] if key in checked.values else SETTINGS[key].read(SETTINGS[key].default)

    return Config(
        roots=tuple(roots),
        index=IndexConfig(of("index.backend"), of("index.max_file_size"), of("index.encodings")),
        chunking=ChunkingConfig(
            of("chunking.tokenizer"), of("chunking.chunk_size"), of("chunking.overlap"), of("chunking.pipelines")
        ),
        parsing=ParsingConfig(of("parsing.default"), of("parsing.overrides"), of("parsing.timeout")),
        watch=WatchConfig(of("watch.observer"), of("watch.poll_every"), of("watch.reconcile_every")),
        exchange=ExchangeConfig(
            of("exchange.max_attempts"),
            of("exchange.retention"),
            of("exchange.max_body"),
            of("exchange.max_waiting"),
            of("exchange.max_hops"),
        ),
        knowledge=KnowledgeConfig(of("knowledge.backend")),
        power=PowerConfig(of("power.wait_on_battery"), of("power.yield_to_load")),
        log=LogConfig(of("log.level")),
        plugins=PluginsConfig(of("plugins.paths"), MappingProxyType(checked.plugins)),
        embedding=EmbeddingConfig(**{name: of(f"embedding.{name}") for name in TABLES["embedding"]}),
        standing=tuple(StandingConfig(*entry) for entry in checked.standing),
        effective=_effective(of, tuple(root.path for root in roots)),
    )


def _effective(of: Callable[[str], object], roots: tuple[str, ...]) -> Mapping[str, object]:
    tables: dict[str, object] = {
        table: MappingProxyType({name: of(f"{table}.{name}") for name in names}) for table, names in TABLES.items()
    }
    return MappingProxyType({**tables, ROOTS: roots})


def _shown(document: Document, key: str, value: Any, default: Any) -> SettingRow:
    if value is None:
        return {"value": default, "origin": "default", "line": None}
    place = document.layout.key(tuple(key.split(".", 1)))
    return {"value": value, "origin": "file", "line": place.line if place else None}
