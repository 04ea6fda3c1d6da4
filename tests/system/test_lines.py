"""Exact and regex searches through a real daemon answer as `rg -S --crlf` does, at the socket and at a terminal."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from helpers import ripgrep_lines
from helpers.chunk_coverage import TEXTS_ONLY
from helpers.disk_inventory import WAIT_MS, listed
from helpers.support import CHECKOUT, Home, Tree, add_root, wait_converted
from livedex_ipc.errors import InvalidParams

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon

PATTERNS = int(os.environ.get("LIVEDEX_PATTERNS", "20"))
MOST = 1000 if PATTERNS <= 150 else ripgrep_lines.WINDOW  # lines compared of one pattern
SEED = 7
ODD = {
    "crlf.txt": b"int main(void)\r\n\r\n\treturn 0;\r\n",
    "cr.txt": b"one\rtwo\r\nthree\n",
    "mark.txt": b"\xef\xbb\xbf#include <a.h>\nint x;\n",
    "wide-le.txt": "\ufeffint größe;\r\nÉCOLE école e\u0301cole\n".encode("utf-16-le"),
    "wide-be.md": "\ufeff# größe\n\nint x = 0xff;\n".encode("utf-16-be"),
    "latin.txt": b"caf\xe9 int x;\nfoo_bar\n" * 4,
    "nul.txt": b"a line of text\n" * 600 + b"int\0x foo_bar\n" + b"after\n",
    "folding.txt": "Kelvin K \u212a\nso \u017fo SO\nstra\u00dfe STRASSE stra\u1e9ee\n\u0130stanbul \u0131\n".encode(),
    "letters.txt": "Привет привет ᲀ\n日本語\n".encode(),
    "long.txt": b"x" * 3000 + b" foo_bar " + b"y" * 70_000 + b" int z\n",
    "marks.txt": "e\u0301cole \u0345\u03b9\ufb01\n".encode(),
    "invalid.txt": b"int \xff\xfe x\nfoo_ok\n",
    "end.txt": b"   \nlast int",
    "blank.txt": b"\n\n \t \n",
}  # fmt: skip


@pytest.mark.needs("rg")
def test_lines_are_those_that_ripgrep_finds(client: Client, tree: Tree) -> None:
    (tree / "odd").mkdir()
    for name, data in ODD.items():
        (tree / "odd" / name).write_bytes(data)
    for folder in ("docs", "ipc"):
        shutil.copytree(CHECKOUT / folder, tree / folder, ignore=TEXTS_ONLY)
    shutil.copytree(tree / "docs", tree / "docs-again")
    add_root(client, tree)
    wait_converted(client)  # a document among them is a failure always, not now and then
    names = {name for name, record in listed(client, tree.path).items() if record["status"] == "indexed"}
    files = ripgrep_lines.Files(tree.path, names.__contains__)
    lines = [line.decode() for name in sorted(names) for line in files.lines(name) or () if len(line) < 300]
    different: list[str] = []

    def search(params: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = client.call("search", {**params, "timeout_ms": WAIT_MS})
        return answer

    sizes: Counter[str] = Counter()
    for pattern in (*ripgrep_lines.patterns(lines, PATTERNS, SEED), *ripgrep_lines.FLAGGED):
        theirs = ripgrep_lines.by_ripgrep(tree.path, pattern)
        ours = ripgrep_lines.by_livedex(search, tree.path, pattern, MOST)
        different += ripgrep_lines.differences(pattern, ours, theirs, files)
        sizes["none" if not theirs else "some" if len(theirs) < 1000 else "many"] += 1
    assert different == []
    assert min(sizes["none"], sizes["some"], sizes["many"]) > 0, sizes


def test_at_a_terminal(client: Client, home: Home, tree: Tree) -> None:
    tree.write_all({"a.c": "int main(void)\n{\n\treturn  0;\n}\n", "b.c": "/* int main(void) */\n"})
    add_root(client, tree)
    asked = home.run("search", "-F", "main(void)", "--vimgrep").stdout
    assert asked == f"{tree}/a.c:1:5:int main(void)\n{tree}/b.c:1:8:/* int main(void) */\n"
    assert home.run("search", "-e", "^$|^}", "--vimgrep").stdout == f"{tree}/a.c:4:1:}}\n"
    assert home.run("search", "-F", "return  0", "--files").stdout == f"{tree}/a.c\n"
    assert home.run_json("search", "--mode", "regex", "^int")["mode"] == "regex"
    assert home.run("search", "-F", "nothing of it").returncode == 1
    assert home.run("search", "-F", "-e", "x").returncode == 2
    assert home.run("search", "-e", "(").returncode == 2
    assert home.run("search", "-F", "MAIN", "--vimgrep").returncode == 1
    assert home.run("search", "-Fil", "MAIN").stdout == f"{tree}/a.c\n{tree}/b.c\n"
    assert home.run("search", "-Fwc", "in").returncode == 1
    assert home.run("search", "-Fwc", "int").stdout == f"{tree}/a.c:1\n{tree}/b.c:1\n"
    refused = home.run("search", "-s", "main")
    assert (refused.returncode, "--case-sensitive needs -F or -e" in refused.stderr) == (2, True)
    assert home.run("search", "-i", "main", "-l").returncode == 0
    os.utime(tree / "b.c", (2e9, 2e9))
    assert home.run("search", "-Fl", "int", "--sort", "modified").stdout == f"{tree}/b.c\n{tree}/a.c\n"
    assert home.run("search", "int", "-l", "--sort", "path").stdout == f"{tree}/a.c\n{tree}/b.c\n"


def test_all_lines_are_printed_however_many(client: Client, home: Home, tree: Tree) -> None:
    tree.write_all({f"{name}.txt": "a needle\n" * 6_000 for name in "abc"})
    add_root(client, tree)
    done = home.run("search", "-F", "needle")
    expected = [f"{tree}/{name}.txt:{number}:a needle" for name in "abc" for number in range(1, 6_001)]
    assert done.stdout.splitlines() == expected
    assert home.run("search", "-Fc", "needle").stdout == "".join(f"{tree}/{name}.txt:6000\n" for name in "abc")


def test_a_line_just_written_is_found(client: Client, tree: Tree) -> None:
    tree.write_all({"a.txt": "one\n"})
    add_root(client, tree)
    for number in range(20):
        (tree / "a.txt").write_text(f"say(number_{number});\n")
        [hit] = client.call("search", {"query": f"mber_{number})", "mode": "exact", "timeout_ms": WAIT_MS})["hits"]
        assert hit["snippet"] == f"say(number_{number});"


@pytest.mark.parametrize("pattern", ["", "(", "a{1001}", "a\nb", "x" * 5000, "\\C"])
def test_a_bad_pattern_names_the_query(client: Client, pattern: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        client.call("search", {"query": pattern, "mode": "regex"})
    assert caught.value.data == {"field": "query"}
