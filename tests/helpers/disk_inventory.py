"""What lies in a folder, held against what livedex says lies there: every entry is accounted for, or named.

Invariant: the disk is read here by plain means (a walk, a stat, a look for NULs), never by livedex's own code.
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
HEAD = 8 << 10  # bytes that are looked at for a NUL
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32-LE begins as UTF-16-LE does

Record = dict[str, Any]


class Account(NamedTuple):
    """A root's entries. ``unexplained`` lines name an entry and what is wrong; ``ignored`` counts by rule."""

    entries: int
    listed: dict[bytes, Record]
    ignored: Counter[str]
    unexplained: list[str]


def raw_path(answer: Record) -> bytes:
    """The path of a record or a hit, byte for byte."""
    encoded = answer.get("path_b64")
    return os.fsencode(answer["path"]) if encoded is None else base64.b64decode(encoded)


def path_params(path: bytes) -> dict[str, str]:
    """The params that name a path which need not be UTF-8."""
    try:
        return {"path": path.decode()}
    except UnicodeDecodeError:
        return {"path_b64": base64.b64encode(path).decode()}


def listed(client: Client, root: Path) -> dict[bytes, Record]:
    """All pages of a root's files by relative path; an AssertionError when a page repeats what another held."""
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
    """Every entry below a folder that is not itself a folder, whatever any rule says; ``.git`` is not entered."""
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
    """The status and the reason that a file must have which the rules let through."""
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
    """Holds the list of a root against the disk: each entry has the status it must have, or a rule that shut it out."""
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
    """What git lists of a work tree, less what is tracked though ignored and what is not there."""
    tracked_though_ignored = _git(root, "-ci", "--exclude-standard")
    top = os.fsencode(root) + b"/"
    names = _git(root, "-co", "--exclude-standard") - tracked_though_ignored
    return {name for name in names if os.path.lexists(top + name)}


def _git(root: Path, *words: str) -> set[bytes]:
    command = ["git", "-C", str(root), "ls-files", "-z", *words]
    done = subprocess.run(command, env={**os.environ, **GIT_ENVIRONMENT}, capture_output=True, check=True)
    return set(done.stdout.split(b"\0")) - {b""}


def is_own_rule(name: bytes, answer: Record) -> bool:
    """Whether what `why` says of a path that git lists is a rule of livedex's own."""
    if name.rpartition(b"/")[2] in IGNORE_FILES:
        return True
    return answer["status"] == "ignored" and answer["rule"] is not None and answer["rule"]["file"] == "built-in"
