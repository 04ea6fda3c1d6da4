"""``livedex config show``, ``validate``, ``path`` and ``edit``: the configuration commands, without a daemon.

Invariant: a configuration with a fault never replaces another one, and text that a user typed into an editor is never
lost.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from livedex_daemon.config import config_edit
from livedex_daemon.config import settings as config_settings
from livedex_daemon.config.config_check import FaultFields
from livedex_daemon.config.config_file import MAX_BYTES, ConfigFileError, read
from livedex_daemon.config.config_template import as_toml, template
from livedex_daemon.config.settings_schema import ROOTS, STANDING
from livedex_daemon.process import direct_command
from livedex_daemon.process.locations import locate
from livedex_ipc.cli.render.terminal_text import error_text, table, visible
from livedex_ipc.cli.streams import Streams
from livedex_ipc.errors import ConfigInvalid, LivedexError, Unavailable


def run(argv: Sequence[str]) -> int:
    """Run ``show``, ``validate``, ``path`` or ``edit`` in the form that the words ask for; return the exit code."""
    return direct_command.run("livedex config", {"show": show, "validate": validate, "path": path, "edit": edit}, argv)


def show(streams: Streams) -> int:
    where = locate().config_path
    settings = config_settings.settings(where)
    if streams.json:
        streams.write_json({"settings": settings})
        return 0
    rows = [row for key, setting in settings.items() for row in _rows(where, key, setting)]
    streams.write("\n".join(table(rows)) + "\n")
    return 0


def validate(streams: Streams) -> int:
    """Print whether the file is valid. Return 0, or 2 with every fault printed. A missing file is valid."""
    where = locate().config_path
    faults: list[FaultFields] = []
    fault: ConfigInvalid | None = None
    try:
        if not config_settings.load(where, accepted=()).roots:
            config_settings.load(where, accepted=_roots_of_the_index())
    except ConfigInvalid as error:
        fault = error
        faults = (error.data or {})["faults"]
    if streams.json:
        streams.write_json({"valid": fault is None, "path": where, "faults": faults})
    elif fault is None:
        there = "is valid" if os.path.exists(where) else "does not exist: the defaults apply"
        streams.write(f"{visible(where)} {there}\n")
    else:
        streams.message(error_text(fault, colour=streams.err_colour))
    return 0 if fault is None else fault.exit_code


def _roots_of_the_index() -> list[str]:
    """Return the roots that the index has, as far as it can be read: with them a file without a setting is a fault."""
    import apsw

    from livedex_daemon.process.unchanged_database import open_unchanged

    try:
        with contextlib.closing(open_unchanged(locate().index_db)) as index:
            return [os.fsdecode(path) for (path,) in index.execute("SELECT path FROM roots")]
    except apsw.Error:
        return []


def path(streams: Streams) -> int:
    where = locate().config_path
    if streams.json:
        streams.write_json({"path": where})
    else:
        streams.write((visible(where) if streams.out_is_terminal else where) + "\n")
    return 0


def edit(streams: Streams) -> int:
    """Open the user's editor on a copy, and replace the file with the copy once it is valid."""
    where = locate().config_path
    try:
        old = read(where)
    except ConfigFileError as fault:
        raise Unavailable(str(fault), {"path": where}) from None
    folder = tempfile.mkdtemp(prefix="livedex-")  # 0700
    copy = os.path.join(folder, "config.toml")
    before = template().encode() if old is None else old
    with open(copy, "wb") as file:
        file.write(before)
    try:
        after = _edited(streams, copy, before)
        changed = after != before and config_edit.replace(where, old, after)
    except LivedexError as fault:
        if not _same(copy, before):
            fault.message += f"; your edit is kept in {copy}"
            raise
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    if streams.json:
        streams.write_json({"path": where, "changed": changed})
    else:
        streams.write(f"{visible(where)} {'was changed' if changed else 'is unchanged'}\n")
    return 0


def _edited(streams: Streams, copy: str, before: bytes) -> bytes:
    """Return the edited copy: valid, or unchanged. Raises ConfigInvalid if the user gives up on a faulty one."""
    while True:
        _open_editor(copy)
        after = _content(copy)
        if after == before:
            return after
        try:
            config_settings.parse(after, path=copy, accepted=config_edit.roots_in(before))
        except ConfigInvalid as fault:
            if not _wants_again(streams, fault):
                raise
        else:
            return after


def _open_editor(copy: str) -> None:
    """Run the editor that the environment names, VISUAL before EDITOR, and wait for it."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not named:
        named = next((name for name in ("vi", "nano") if shutil.which(name)), None)
    if not named:
        raise Unavailable("there is no editor: set EDITOR to one, such as `export EDITOR=nano`")
    # While the editor runs, Ctrl-C belongs to it. A handler, unlike SIG_IGN, is not inherited by it.
    interrupted = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        done = subprocess.run([*shlex.split(named), copy], check=False)
    except (OSError, ValueError) as fault:  # ValueError: an unclosed quote in EDITOR
        reason = "there is no such program" if isinstance(fault, FileNotFoundError) else fault
        raise Unavailable(f"the editor {named!r} cannot be run: {reason}; set EDITOR to another") from None
    finally:
        signal.signal(signal.SIGINT, interrupted)
    if done.returncode != 0:
        raise Unavailable(f"the editor {named!r} ended with {done.returncode}: nothing was changed")


def _wants_again(streams: Streams, fault: ConfigInvalid) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    streams.message(error_text(fault, colour=streams.err_colour))
    sys.stderr.write("Edit again? [Y/n] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    return answer != "" and answer.strip().lower() in ("", "y", "yes")  # "" is the end of input


def _content(copy: str) -> bytes:
    try:
        with open(copy, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise Unavailable(f"the edited copy {copy} cannot be read: {fault.strerror}: nothing was changed") from None


def _same(copy: str, before: bytes) -> bool:
    try:
        with open(copy, "rb") as file:
            return file.read(MAX_BYTES + 1) == before
    except OSError:  # the copy is gone: there is nothing to keep
        return True


def _rows(where: str, key: str, setting: config_settings.SettingRow) -> list[list[str]]:
    """Return the table rows of one setting: a single row, or one per root and per standing query."""
    if key in (ROOTS, STANDING) and setting["value"]:
        config = config_settings.load(where)
        lines = [entry.line for entry in (config.roots if key == ROOTS else config.standing)]
        shown = zip(setting["value"], lines, strict=False)  # the file may have been saved again since
        return [[key, visible(as_toml(entry)), f"file, line {line}"] for entry, line in shown]
    line = "" if setting["line"] is None else f", line {setting['line']}"
    return [[key, visible(as_toml(setting["value"])), setting["origin"] + line]]
