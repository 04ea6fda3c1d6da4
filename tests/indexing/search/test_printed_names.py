"""What a program printed about a name leads to its definition, unless a file has that line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step = {number}\n" for number in range(3 * LINES))
NM = "ffffffff81a0b2c0 t haul_net"
LOGGED = "ffffffff81a0b2d0 t haul_net"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("printed")) as made:
        made.write("root/deck.py", f"{FILLER}def haul_net(load):\n    pass\n{FILLER}")
        for number in range(8):
            made.write(f"root/crew{number}.py", f"    haul_net(haul_net)  # t: 1 in lib of main, step {number}\n" * 4)
        made.write("root/boot.log", f"{LOGGED}\n")
        made.write("root/manual.md", "Call :func:`haul_net` to haul a net, :func:`haul_net`, :func:`haul_net`.\n")
        yield made


@pytest.mark.parametrize(
    "query",
    [
        NM,
        "ffffffff81a0b2c0 <haul_net>:",
        "     3.21%  swapper  [kernel.kallsyms]  [k] haul_net",
        "#3  0x00007ffff7e5 in haul_net () from /lib/libfoo.so.1",
        "foo.c:(.text+0x1a): undefined reference to `haul_net'",
        "  12: deck::haul_net",
        "deck.haul_net.func1",
        "_ZN4deck8haul_net17h8f2a1c3d4e5f6a7bE",
        "<function haul_net at 0x7f2a1c3d4e50>",
        ":func:`haul_net`",
    ],
)
def test_the_definition_of_a_printed_name_comes_first(index: Indexed, query: str) -> None:
    answer = index.ask(query)
    assert (answer.hits[0]["relative_path"], "def haul_net" in answer.hits[0]["snippet"]) == ("deck.py", True)
    assert "did_you_mean" in answer.extras


def test_a_file_with_the_line_comes_first(index: Indexed) -> None:
    assert index.found(LOGGED)[0] == "boot.log"


def test_a_name_that_nothing_defines_leaves_the_text(index: Indexed) -> None:
    assert "did_you_mean" not in index.ask("ffffffff81a0b2c0 t load").extras
