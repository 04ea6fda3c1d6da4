"""A path leads to its file, and a place in a program to the definition, not to what mentions them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path) as made:
        yield made


@pytest.mark.parametrize("front", ["", "./", "../", "a/", "b/"])
def test_a_path_comes_before_what_mentions_it(index: Indexed, front: str) -> None:
    """Whatever `diff` or a shell puts in front of it: another file mentions it, and has its name and some folders."""
    index.write("root/lib/net/Make", 'include "lib/net/intel/Make"\ninclude "lib/net/other/Make"\n' * 3)
    index.write("root/lib/net/intel/Make", "option = 1\n")
    index.write("root/net/intel/Make", "lib = net\n")
    assert index.found(f"{front}lib/net/intel/Make")[0] == "lib/net/intel/Make"


def test_a_place_in_a_program_finds_the_definition(index: Indexed) -> None:
    """As kernels print it: what calls the function has as many of its words."""
    index.write("root/uses.py", "    crane_set_req_port(port, crane_set, req_port)\n" * 5)
    index.write("root/help.py", f"# {'x' * 2000}\ndef crane_set_req_port(port):\n    pass\n")
    for query in ("crane_set_req_port+0xa75/0x441", "[<ffffffff86eadb0f>] crane_set_req_port+0xa75/0x441"):
        assert index.found(query)[0] == "help.py"
    index.write("root/oops.log", "kernel: crane_set_req_port+0xa75/0x441 [port]\n")
    assert index.found("crane_set_req_port+0xa75/0x441")[0] == "oops.log", "unless a file has it as typed"
