"""Checks that a file's chunks cover it: their texts, their bytes (without gaps) and their lines, as ``rg -n`` counts.

Invariant: text and lines are determined without livedex's code: the text by Python's codecs, the lines by ripgrep.
"""

from __future__ import annotations

import codecs
import os
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from encodings.aliases import aliases
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helpers.disk_inventory import WAIT_MS, path_params

if TYPE_CHECKING:
    from livedex_ipc.client import Client

# UTF-32 first: its little-endian byte order mark begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
# For `shutil.copytree`: no caches, and no documents, whose text in the index is not that of the file.
TEXTS_ONLY = shutil.ignore_patterns("__pycache__", ".mypy_cache", "*.html")
# Encodings of text that is neither UTF-8 nor marked: any that decodes it to the text is right.
OTHERS = sorted(set(aliases.values()))


# Unusual files, all of them text.
ODD_FILES: dict[str, bytes] = {
    "empty.txt": b"",
    "mark-alone.txt": codecs.BOM_UTF8,
    "wide-mark-alone.txt": codecs.BOM_UTF16_LE,
    "newlines.txt": b"\n" * 5000,
    "one-char.md": b"x",
    "crlf.py": b"def f():\r\n    return 1\r\n\r\n" * 400,
    "crlf.md": b"# Title\r\n\r\ntext\r\n\r\n```c\r\nint x;\r\n```\r\n\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n" * 60,
    "old-mac.txt": b"one\rtwo\rthree" * 1000,
    "mixed.txt": b"one\r\ntwo\nthree\rfour\n\rfive" * 500,
    "marked.md": codecs.BOM_UTF8 + b"---\ntitle: x\n---\n\n# A\n\ntext ![alt](x.png)\n" * 50,
    "utf16.txt": "één \U0001f600 line\nand more\n".encode("utf-16") * 1 + "tail".encode("utf-16-le") * 3000,
    "utf16-be.py": codecs.BOM_UTF16_BE + "def ü():\n    return '\U0001f600'\n".encode("utf-16-be") * 300,
    "utf16-crlf.c": codecs.BOM_UTF16_LE + "int é;\r\nint x(void) { return 0; }\r\n".encode("utf-16-le") * 300,
    "utf16-cut.txt": codecs.BOM_UTF16_LE + "text\n".encode("utf-16-le") * 900 + b"\x41",
    "utf32.txt": codecs.BOM_UTF32_LE + "één \U0001f600\n".encode("utf-32-le") * 900,
    "emoji.txt": "\U0001f600\U0001f1f3\U0001f1f1 e\u0301 \u200d\U0001f469\n".encode() * 700,
    "emoji-line.md": ("\U0001f600" * 9000).encode(),
    "form-feeds.el": b";; page\n\x0c\n(defun f () nil)\n\x0b\x1c\x1d\x1e" * 300,
    "separators.txt": "one\u2028two\u2029three\u0085four\n".encode() * 400,
    "latin-1.txt": "Café à la crème, garçon naïf; déjà vu, où êtes-vous?\n".encode("latin-1") * 200,
    "latin-1.c": "/* Größe für Köln */\nint x;\n".encode("latin-1") * 200,
    "cyrillic.txt": "Это обычный русский текст, написанный давно.\n".encode("cp1251") * 200,
    "japanese.txt": "これは日本語の文章です。漢字も仮名もあります。\n".encode("shift_jis") * 200,
    "lossy.txt": b"some words \x81\x8d\x8f\x90\x9d and others\n" * 300,
    "broken-utf8.md": "# één\n\ntext ".encode() * 300 + b"\xc3",
    "no-end.rs": b"fn main() {}\n" * 300 + b"// the end",
    "no-end.md": b"# A\n\ntext\n\n```py\nx = 1" * 100,
    "long-line.js": b"var a=function(b){return b+1};" * 3000,
    "long-word.txt": b"x" * 30_000,
    "deep.json": b"[" * 4000 + b"]" * 4000,
    "nul-late.txt": b"word " * 4000 + b"\x00" + b" more\n" * 100,
    "broken.c": b"int main( { /* never \n" * 200,
    "tabs.mk": b"all:\n\t@echo 'x'\n" * 300,
    "table.md": b"| a | b |\n|---|---|\n" + b"| 1 | two words |\n" * 900,
    "shebang": b"#!/usr/bin/env python3\nimport os\n\n\nprint(os.name)\n" * 100,
    "a name with blanks \udcff.txt": b"the name of this file is no UTF-8\n" * 10,
}


def write_odd_files(folder: Path) -> int:
    """Write all of them into a folder; return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in ODD_FILES.items():
        (folder / name).write_bytes(data)
    return len(ODD_FILES)


class Coverage(NamedTuple):
    """What was checked, and the faults found, each with its file. ``by_rg``: files whose lines ripgrep counted."""

    files: int
    chunks: int
    by_rg: int
    faults: list[str]


def lines_by_ripgrep(root: Path) -> Iterator[tuple[bytes, list[int]]]:
    """Return the offsets of each file's lines in its text as UTF-8, which ripgrep converts it to."""
    command = ["rg", "-n", "-b", "-o", "--null", "--no-heading", "-a", "--no-ignore", "--hidden", "--no-config"]
    with subprocess.Popen([*command, "-j1", "^", "."], cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        current, starts = b"", [0]
        for printed in process.stdout:
            name, _, rest = printed.partition(b"\0")
            number, offset, _ = rest.split(b":", 2)
            if name != current:
                if current:
                    yield current.removeprefix(b"./"), starts
                current, starts = name, []
            starts.append(int(offset))
            assert len(starts) == int(number), f"ripgrep's line {number!r} of {name!r}"
        if current:
            yield current.removeprefix(b"./"), starts


def check(client: Client, root: Path, names: Iterable[bytes]) -> Coverage:
    """Check the chunks of every named file that is indexed."""
    wanted = set(names)
    faults: list[str] = []
    chunks = by_rg = 0
    for name, starts in lines_by_ripgrep(root):
        if name in wanted:
            wanted.discard(name)
            by_rg += 1
            chunks += _check(client, root, name, starts, faults)
    files = by_rg + len(wanted)
    for name in wanted:
        chunks += _check(client, root, name, None, faults)
    return Coverage(files, chunks, by_rg, faults)


def _check(client: Client, root: Path, name: bytes, starts: list[int] | None, faults: list[str]) -> int:
    path = os.path.join(os.fsencode(root), name)
    answer = client.call("files/retrieve", {**path_params(path), "timeout_ms": WAIT_MS})
    data = Path(os.fsdecode(path)).read_bytes()
    chunks = answer["chunks"]
    text = "".join(chunk["text"] for chunk in chunks)
    lossy = any(chunk["metadata"].get("lossy") for chunk in chunks)
    reported = [f"{name!r}: {fault}" for fault in _faults(data, text, chunks, starts, lossy=lossy)]
    faults += reported[:3]
    return len(chunks)


def _faults(
    data: bytes, text: str, chunks: list[dict[str, object]], starts: list[int] | None, *, lossy: bool
) -> Iterator[str]:
    mark = next((mark for mark, _ in MARKS if data.startswith(mark)), b"")
    if not is_text_of(data, text, lossy=lossy):
        yield "its chunks are not its text"
    at = len(mark)
    if not text:
        if len(data) > at or chunks:
            yield "it has no text"
        return
    utf16_or_8 = starts is not None and mark not in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
    wide = mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if starts is None or not utf16_or_8:
        starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
    place = 0
    for number, chunk in enumerate(chunks):
        piece = str(chunk["text"])
        if chunk["ordinal"] != number or chunk["start_byte"] != at or not piece:
            yield f"chunk {number} does not follow the one before: {chunk['start_byte']} is not {at}"
            return
        at = int(str(chunk["end_byte"]))
        if not utf16_or_8:
            first, place = place, place + len(piece)
            last = place - 1
        elif wide:
            first, place = place, place + len(piece.encode())
            last = place - 1
        else:
            first, last = int(str(chunk["start_byte"])) - len(mark), at - len(mark) - 1
        lines = (bisect_right(starts, first), bisect_right(starts, last))
        if lines != (chunk["start_line"], chunk["end_line"]):
            yield f"chunk {number} is on lines {chunk['start_line']}-{chunk['end_line']}, not {lines}"
            return
    if at != len(data):
        yield f"its chunks end at byte {at} of {len(data)}"


def is_text_of(data: bytes, text: str, *, lossy: bool) -> bool:
    """Return whether the bytes are that text in the encoding of their mark, in UTF-8, or in one that fits."""
    for mark, encoding in MARKS:
        if data.startswith(mark) and data[len(mark) :].decode(encoding, "replace") == text:
            return True
    try:
        return data.decode("utf-8") == text
    except UnicodeDecodeError:
        pass
    if lossy:
        return data.decode("cp1252", "replace") == text
    for encoding in OTHERS:
        try:
            if data.decode(encoding) == text:
                return True
        except (UnicodeDecodeError, LookupError):  # some are not encodings of text
            continue
    return False
