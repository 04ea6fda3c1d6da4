"""Compares the entries of a folder with what livedex lists: every entry is accounted for, or named.

Invariant: the disk is read by plain means (a walk, a stat, a search for NULs), never by livedex's own code.
"""

from __future__ import annotations

import base64
import codecs
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.support import GIT_ENVIRONMENT

if TYPE_CHECKING:
    from livedex_ipc.client import Client

PAGE = 5000
WAIT_MS = 60_000
LARGEST = 8 << 20  # bytes: `index.max_file_size` of the default configuration
IGNORE_FILES = (b".gitignore", b".livedexignore")
HEAD = 8 << 10  # bytes that are searched for a NUL
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32-LE begins as UTF-16-LE does

Record = dict[str, Any]


class Account(NamedTuple):
    """The entries of a root. Each ``unexplained`` line names an entry and its fault; ``ignored`` counts by rule."""

    entries: int
    listed: dict[bytes, Record]
    ignored: Counter[str]
    unexplained: list[str]


def raw_path(answer: Record) -> bytes:
    """Return the path of a record or a hit, byte for byte."""
    encoded = answer.get("path_b64")
    return os.fsencode(answer["path"]) if encoded is None else base64.b64decode(encoded)


def path_params(path: bytes) -> dict[str, str]:
    """Return the params for a path that need not be UTF-8."""
    try:
        return {"path": path.decode()}
    except UnicodeDecodeError:
        return {"path_b64": base64.b64encode(path).decode()}


def listed(client: Client, root: Path) -> dict[bytes, Record]:
    """Return a root's files, all pages, by relative path; an AssertionError if a page repeats an entry of another."""
    top = os.fsencode(root) + b"/"
    records: dict[bytes, Record] = {}
    while True:
        params = {"root": str(root), "limit": PAGE, "offset": len(records), "timeout_ms": WAIT_MS}
        page = client.call("files/list", params)
        before = len(records)
        records.update((raw_path(record).removeprefix(top), record) for record in page["files"])
        assert len(records) - before == len(page["files"]), "two pages overlap"
        if len(records) >= page["total"] or not page["files"]:
            assert len(records) == page["total"], "the pages are not the total"
            return records


def entries(root: Path) -> Iterator[tuple[bytes, os.stat_result]]:
    """Yield every entry below a folder that is not itself a folder, ignored or not; ``.git`` is not entered."""
    folders = [os.fsencode(root)]
    while folders:
        with os.scandir(folders.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != b".git":
                        folders.append(entry.path)
                else:
                    yield entry.path, entry.stat(follow_symlinks=False)


def outcome(path: bytes, stat: os.stat_result) -> tuple[str, str | None]:
    """Return the status and the reason that a file must have if no rule excludes it."""
    kind = stat.st_mode & 0o170000
    if kind == 0o120000:
        return "skipped", "symlink"
    if kind != 0o100000:
        return "skipped", "special"
    if stat.st_size > LARGEST:
        return "skipped", "too_large"
    with open(path, "rb") as file:
        head = file.read(HEAD)
    return ("skipped", "binary") if b"\0" in head and not head.startswith(WIDE) else ("indexed", None)


def account(client: Client, root: Path) -> Account:
    """Compare the list of a root with the disk: each entry has the right status, or a rule that excludes it."""
    found = listed(client, root)
    top = len(os.fsencode(root)) + 1
    ignored: Counter[str] = Counter()
    wrong: list[str] = []
    seen: set[bytes] = set()
    for path, stat in entries(root):
        rel = path[top:]
        seen.add(rel)
        record = found.get(rel)
        if record is None:
            answer = client.call("files/explain", path_params(path))
            if answer["rule"] is None or answer["status"] != "ignored":
                wrong.append(f"{rel!r}: not listed, and `why` says {answer}")
            else:
                ignored["{file}: {pattern}".format(**answer["rule"])] += 1
        elif (record["status"], record.get("reason")) != outcome(path, stat):
            wrong.append(f"{rel!r}: {record['status']} {record.get('reason')}, not {outcome(path, stat)}")
    wrong += [f"{rel!r}: listed and not there" for rel in found.keys() - seen]
    return Account(len(seen), found, ignored, wrong)


def by_git(root: Path) -> set[bytes]:
    """Return git's list of a work tree, without files that are tracked but ignored, or missing."""
    tracked_though_ignored = _git(root, "-ci", "--exclude-standard")
    top = os.fsencode(root) + b"/"
    names = _git(root, "-co", "--exclude-standard") - tracked_though_ignored
    return {name for name in names if os.path.lexists(top + name)}


def _git(root: Path, *words: str) -> set[bytes]:
    command = ["git", "-C", str(root), "ls-files", "-z", *words]
    done = subprocess.run(command, env={**os.environ, **GIT_ENVIRONMENT}, capture_output=True, check=True)
    return set(done.stdout.split(b"\0")) - {b""}


def is_own_rule(name: bytes, answer: Record) -> bool:
    """Return whether `why` names one of livedex's own rules for a path that git lists."""
    if name.rpartition(b"/")[2] in IGNORE_FILES:
        return True
    return answer["status"] == "ignored" and answer["rule"] is not None and answer["rule"]["file"] == "built-in"
