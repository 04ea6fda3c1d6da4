"""``livedex plugins check NAME [FILE…]``: runs the conformance suites on what a plugin provides, without a daemon.

Invariant: what a running daemon uses is not touched: a backend that the configuration names is not checked.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, NotRequired, TypedDict

from livedex_daemon.config import settings as config_settings
from livedex_daemon.config.setting_values import thawed
from livedex_daemon.config.settings import Config
from livedex_daemon.plugin_host.check_process import CheckNotes, run_apart
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process import direct_command
from livedex_daemon.process.locations import locate
from livedex_indexing import conformance
from livedex_indexing.parse.parse_process import Failure, NoParser, Request, convert
from livedex_indexing.plugins import (
    BACKEND,
    BUILT_IN,
    EMBEDDER,
    KNOWLEDGE_STORE,
    PARSER,
    PIPELINE,
    PluginKind,
    registry,
)
from livedex_indexing.plugins.registry import described
from livedex_indexing.plugins.time_limit import within
from livedex_ipc.cli.render.terminal_text import Style, visible
from livedex_ipc.cli.streams import Streams
from livedex_ipc.errors import NotFound
from livedex_ipc.params import nearest
from livedex_ipc.standard_files import open_standard_files

SUITES: dict[str, tuple[PluginKind[object], Callable[[Callable[[], object]], list[str]]]] = {
    kind.name: (kind, suite)  # type: ignore[misc]  # each suite takes factories of its own kind
    for kind, suite in (
        (BACKEND, conformance.check_backend),
        (KNOWLEDGE_STORE, conformance.check_knowledge),
        (EMBEDDER, conformance.check_embedder),
        (PARSER, conformance.check_parser),
        (PIPELINE, conformance.check_pipeline),
    )
}
CHECK_S: Final = 120.0  # for one suite: a model may have to be loaded
_FAULTY = 1


class CheckedPart(TypedDict):
    """``note``: what was not tried, if so."""

    kind: str
    name: str
    faults: list[str]
    note: NotRequired[str]


class CheckedPlugin(TypedDict):
    """``reason``: why nothing of it could be checked, None if it is loaded."""

    name: str
    state: str
    reason: str | None
    checks: list[CheckedPart]


def run(argv: Sequence[str]) -> int:
    """Check the plugin that the words name, with the files after it. Return 0 if it conforms, else 1."""
    words = [word for word in argv if not direct_command.is_form(word)]
    name, samples = words[1] if len(words) > 1 else "", words[2:]
    notes = CheckNotes()

    def run_with(action: Callable[[Streams], int]) -> int:
        return direct_command.run("livedex plugins", {" ".join(words): action}, argv)

    code, end = run_apart(lambda: run_with(partial(_check, name, samples, notes)), notes)
    return code if end is None else run_with(partial(_has_ended, name, notes.plugin, end))


def _check(name: str, samples: list[str], notes: CheckNotes, streams: Streams) -> int:
    config = config_settings.load(locate().config_path)
    host = PluginHost(crashes=notes)
    with _output_apart():
        host.load(config)
        with notes.checking(name):
            checked = _checked(host, config, name, samples)
    return _show(checked, streams)


def _has_ended(name: str, culprit: str, end: str, streams: Streams) -> int:
    """Say that the check's process was ended: by the plugin, or by another one while it was loaded."""
    who = "it" if culprit == name else f"the plugin {culprit}" if culprit else "a plugin"
    return _show({"name": name, "state": "failed", "reason": f"{who} ended the process ({end})", "checks": []}, streams)


def _show(checked: CheckedPlugin, streams: Streams) -> int:
    if streams.json:
        streams.write_json(checked)
    else:
        streams.write("".join(_lines(checked, Style(streams.out_colour))))
    faulty = checked["reason"] is not None or any(part["faults"] for part in checked["checks"])
    return _FAULTY if faulty else 0


def _checked(host: PluginHost, config: Config, name: str, samples: list[str]) -> CheckedPlugin:
    """Check a plugin, or what livedex has of this name. Raises NotFound."""
    plugin = next((one for one in host.found if one.source.name == name), None)
    if plugin is not None:
        parts = _parts(host, config, plugin.provides, samples)
        return {"name": name, "state": plugin.state, "reason": plugin.reason, "checks": parts}
    own = [one for one in host.registry.provided_by(BUILT_IN) if one.name == name]
    if own:
        parts = _parts(host, config, own, samples)
        return {"name": name, "state": "loaded", "reason": None, "checks": parts}
    known = [one.source.name for one in host.found]
    known += [one.name for one in host.registry.provided_by(BUILT_IN)]
    near = nearest(name, known, cutoff=0.7)
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(known)}"
    raise NotFound(f"there is no plugin {name!r}; {hint}", {"nearest": near})


def _parts(
    host: PluginHost, config: Config, provides: Sequence[registry.Provided], samples: list[str]
) -> list[CheckedPart]:
    parts = [_part(host, config, one, samples) for one in provides]
    if samples and parts and not any(one.kind == PARSER.name for one in provides):
        parts[-1]["note"] = f"not tried: {', '.join(samples)}: nothing here is a parser"
    return parts


def _part(host: PluginHost, config: Config, provided: registry.Provided, samples: list[str]) -> CheckedPart:
    kind, suite = SUITES[provided.kind]
    if provided.kind == BACKEND.name and provided.name == config.index.backend:
        fault = "it is in use (index.backend): check it with `LIVEDEX_HOME` set to another folder, and other settings"
        return {"kind": provided.kind, "name": provided.name, "faults": [fault]}
    if provided.kind == PARSER.name:
        return _parser(host, config, provided, samples)
    settings = host.config_for(kind, provided.name)
    factory = partial(host.registry.create, kind, provided.name, settings)
    if provided.kind == BACKEND.name:
        with tempfile.TemporaryDirectory(prefix="livedex-check-", ignore_cleanup_errors=True) as folder:
            faults = _run(lambda: conformance.check_backend(factory, os.path.realpath(folder)))  # type: ignore[arg-type]
    else:
        faults = _run(lambda: suite(factory))
    return {"kind": provided.kind, "name": provided.name, "faults": faults}


def _parser(host: PluginHost, config: Config, provided: registry.Provided, samples: list[str]) -> CheckedPart:
    settings = host.config_for(PARSER, provided.name)
    factory = partial(host.registry.create, PARSER, provided.name, settings)
    suffixes: list[str] = []

    def suite() -> list[str]:
        faults = conformance.check_parser(factory)
        suffixes.extend(() if faults else factory().suffixes)
        return faults

    part: CheckedPart = {"kind": provided.kind, "name": provided.name, "faults": _run(suite)}
    own = [path for path in samples if _suffix(path) in suffixes]
    part["faults"] += [fault for path in own for fault in _convert(path, config, provided, settings)]
    if suffixes and not own:
        part["note"] = f"convert was not tried: name a file after the plugin, with {' or '.join(suffixes)}"
    return part


def _convert(path: str, config: Config, provided: registry.Provided, settings: Mapping[str, object]) -> Iterator[str]:
    """Convert a file as the daemon does: a copy, in a process that may open nothing else. Yield what is wrong."""
    plain = {name: thawed(value) for name, value in settings.items()}
    own = provided.owner, tuple(config.plugins.paths), plain
    try:
        with tempfile.TemporaryDirectory(prefix="livedex-check-") as folder, open(path, "rb") as file:
            place = os.path.realpath(folder)
            found = convert(Request(file.read(), _suffix(path), provided.name, config.parsing.timeout_s, place, *own))
        if isinstance(found, Failure):
            yield f"{path}: {found.message}"
    except OSError as error:
        yield f"{path}: {error.strerror}"
    except NoParser as error:
        yield f"{path}: {error}"


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _run(suite: Callable[[], list[str]]) -> list[str]:
    """Return the faults, on a thread: a plugin that hangs, ends its thread or copies the process ends no more."""
    try:
        return within(CHECK_S, suite, "check")
    except TimeoutError as fault:
        return [str(fault)]
    except Exception as fault:  # a plugin may raise anything
        return [f"it raises {described(fault)}"]


@contextmanager
def _output_apart() -> Iterator[None]:
    """Send what plugins print to stderr, so that stdout has the answer alone, also if they close it."""
    open_standard_files()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        with suppress(Exception):  # a plugin may have put anything in its place
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _lines(checked: CheckedPlugin, style: Style) -> Iterator[str]:
    if checked["reason"] is not None:
        yield f"{visible(checked['name'])}: {style.bad(checked['state'])}: {visible(checked['reason'])}\n"
    for part in checked["checks"]:
        what = f"{part['kind'].replace('_', ' ')} {visible(part['name'])}"
        if not part["faults"]:
            note = f" ({visible(part['note'])})" if "note" in part else ""
            yield f"{what}: {style.good('conforms')}{note}\n"
        for fault in part["faults"]:
            yield f"{what}: {style.bad('fault')}: {visible(fault)}\n"
