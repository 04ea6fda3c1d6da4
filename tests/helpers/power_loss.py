"""The possible contents of a disk after a power loss, from a record of a process's writes and syncs.

A file keeps everything that was synced and any part of the rest, torn at sectors of 512 bytes. Names (of new files,
renames, removals) keep their order, as journals do: all up to a synced one, and any number of those after it. A sync of
a file makes its name durable, a sync of a folder every name in it. The method is that of ALICE (Pillai et al., OSDI
2014), applied to the output of strace.

Invariant: every image made here is one that Linux' journaling file systems permit; nothing that was synced is lost.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

CALLS = "write,pwrite64,ftruncate,fsync,fdatasync,sendto,?open,openat"
NAME_CALLS = "?rename,?renameat,?renameat2,?link,?linkat,?unlink,?unlinkat"
SECTOR = 512

Style = Literal["least", "most", "names", "some", "torn"]
STYLES: tuple[Style, ...] = ("least", "most", "names", "some", "torn")

_CALL = re.compile(r"(\w+)\((.*)\)\s+= (\d+)", re.DOTALL)
_UNFINISHED = " <unfinished ...>"
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)", re.DOTALL)
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"|<((?:\\x[0-9a-f]{2})+)>')


def tracing(record: Path) -> list[str]:
    """Return the words before a command that record everything it writes."""
    options = ["-D", "-f", "-q", "-xx", "-y", "-s", str(1 << 26), "-o", str(record)]
    return ["strace", *options, "-e", f"trace={CALLS},{NAME_CALLS}"]


class Op(NamedTuple):
    """One system call that succeeded.

    ``began`` and ``ended`` are places in the record. ``data`` of a rename or a link is the new name.
    """

    kind: Literal["write", "truncate", "sync", "create", "rename", "link", "unlink", "sent"]
    path: bytes
    data: bytes
    offset: int
    began: int
    ended: int


def read_record(*records: Path) -> list[Op]:
    """Return the operations of one or more runs, one run after the other, in the order in which they ended."""
    ops: list[Op] = []
    place = 0
    for record in records:
        begun: dict[str, tuple[str, int]] = {}
        appended: dict[bytes, int] = {}
        for line in record.read_text("ascii").splitlines():
            place += 1
            thread, _, call = line.partition(" ")
            call, began = call.strip(), place
            resumed = _RESUMED.match(call)
            if call.endswith(_UNFINISHED):
                begun[thread] = call.removesuffix(_UNFINISHED), place
                continue
            if resumed is not None and thread in begun:
                head, began = begun.pop(thread)
                call = head + resumed[1]
            found = _CALL.match(call)
            if found is not None:
                ops += _op(found[1], found[2], int(found[3]), appended, began, place)
    return ops


def _op(call: str, words: str, result: int, appended: dict[bytes, int], began: int, ended: int) -> Iterator[Op]:
    found = list(_TEXT.finditer(words))
    texts = [_bytes(match) for match in found]  # in quotes, or in <> the file of a descriptor
    names = [_bytes(match) for match in found if match[1] is not None]
    if not texts:
        return
    match call:
        case "pwrite64":
            yield Op("write", texts[0], texts[1][:result], int(words.rpartition(",")[2]), began, ended)
        case "write":
            at = appended.get(texts[0], 0)
            appended[texts[0]] = at + result
            yield Op("write", texts[0], texts[1][:result], at, began, ended)
        case "ftruncate":
            yield Op("truncate", texts[0], b"", int(words.rpartition(",")[2]), began, ended)
        case "fsync" | "fdatasync":
            yield Op("sync", texts[0], b"", 0, began, ended)
        case "sendto":
            yield Op("sent", texts[0], names[0][:result], 0, began, ended)
        case "open" | "openat" if "O_CREAT" in words:
            appended.pop(names[0], None)
            yield Op("create", names[0], b"", 0, began, ended)
        case "rename" | "renameat" | "renameat2":
            yield Op("rename", names[0], names[1], 0, began, ended)
        case "link" | "linkat":
            yield Op("link", names[0], names[1], 0, began, ended)
        case "unlink" | "unlinkat":
            yield Op("unlink", names[0], b"", 0, began, ended)


def _bytes(text: re.Match[str]) -> bytes:
    return bytes.fromhex((text[1] or text[2] or "").replace("\\x", ""))


class _File:
    """The operations on one file, under any name; the first ``synced`` of them are durable."""

    def __init__(self) -> None:
        self.done: list[Op] = []
        self.synced = 0


class _Disk:
    """Everything that was written until the power loss."""

    def __init__(self) -> None:
        self.names: dict[bytes, _File] = {}
        self.renaming: list[tuple[Op, _File | None]] = []
        self.lasting = 0  # how many of ``renaming`` are durable

    def carry_out(self, op: Op) -> None:
        file = self.names.get(op.path)
        if op.kind == "create":
            if file is None:
                self._rename(op, _File())
        elif op.kind in ("rename", "link", "unlink"):
            self._rename(op, file)
        elif op.kind == "sync":
            self._sync(op, file)
        elif file is not None:
            file.done.append(op)

    def _rename(self, op: Op, file: _File | None) -> None:
        self.renaming.append((op, file))
        _apply(self.names, op, file)

    def _sync(self, op: Op, file: _File | None) -> None:
        if file is not None:
            file.synced = max(file.synced, sum(1 for done in file.done if done.ended < op.began))
        for number, (renamed, what) in enumerate(self.renaming):
            is_own = file is not None and what is file and renamed.kind == "create"
            in_folder = op.path in (_folder(renamed.path), _folder(renamed.data))
            if renamed.ended < op.began and (is_own or in_folder):
                self.lasting = max(self.lasting, number + 1)


def _folder(path: bytes) -> bytes:
    return path.rpartition(b"/")[0]


def _apply(names: dict[bytes, _File], op: Op, file: _File | None) -> None:
    if op.kind in ("rename", "unlink"):
        names.pop(op.path, None)
    if op.kind in ("rename", "link") and file is not None:
        names[op.data] = file
    elif op.kind == "create" and file is not None:
        names[op.path] = file


def image(ops: Iterable[Op], cut: int, style: Style, chance: random.Random) -> dict[bytes, bytes]:
    """Return the files by path as a disk may contain them after a power loss at the place ``cut`` of the record."""
    disk = _Disk()
    for op in ops:
        if op.ended <= cut and op.kind != "sent":
            disk.carry_out(op)
    last = len(disk.renaming)
    kept = {"least": disk.lasting, "most": last, "names": last}.get(style, chance.randint(disk.lasting, last))
    names: dict[bytes, _File] = {}
    for op, file in disk.renaming[:kept]:
        _apply(names, op, file)
    return {path: _content(file, style, chance) for path, file in names.items()}


def _content(file: _File, style: Style, chance: random.Random) -> bytes:
    content = bytearray()
    for number, op in enumerate(file.done):
        lasting = number < file.synced or style == "most"
        if not lasting and (style in ("least", "names") or chance.random() < 0.5):
            continue
        if op.kind == "truncate":
            del content[op.offset :]
            content.extend(bytes(op.offset - len(content)))
        else:
            for at, piece in _sectors(op):
                if lasting or style != "torn" or chance.random() < 0.7:
                    content.extend(bytes(max(0, at + len(piece) - len(content))))
                    content[at : at + len(piece)] = piece
    return bytes(content)


def _sectors(op: Op) -> Iterator[tuple[int, bytes]]:
    at, end = op.offset, op.offset + len(op.data)
    while at < end:
        until = min(end, (at // SECTOR + 1) * SECTOR)
        yield at, op.data[at - op.offset : until - op.offset]
        at = until
