"""A path leads to its file, and a place in a program to the definition, not to what mentions them."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import Indexed


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


def test_a_module_is_found_by_its_packages(index: Indexed) -> None:
    index.write("root/uses.py", "import grid.cells.plain\nfrom grid.cells import plain\n" * 5)
    index.write("root/grid/cells/plain.py", f"value = 1  # {'x' * 2000}\n")
    index.write("root/grid/cells/__init__.py", "cells = 1\n")
    index.write("root/cells/plain.py", "grid = 1\n")
    assert index.found("grid.cells.plain")[0] == "grid/cells/plain.py"
    assert index.found("grid.cells")[0] == "grid/cells/__init__.py"
    assert index.found("grid.plain")[0] != "grid/cells/plain.py", "not all of its packages"
    assert "uses.py" in index.found("grid.cells.plain"), "what uses it follows"
    index.write("root/other/grid.cells", "a file of this name\n")
    assert index.found("grid.cells")[0] == "other/grid.cells"


def test_a_path_may_lack_its_suffix(index: Indexed) -> None:
    index.write("root/lib/plain.py", "lib = net.intel.plain\npath = 'lib/net/intel/plain'\n" * 3)
    index.write("root/lib/net/intel/plain.py", "value = 1\n")
    assert index.found("b/lib/net/intel/plain")[0] == "lib/net/intel/plain.py"


def test_a_line_finds_the_file_that_is_so_long(index: Indexed) -> None:
    """Of those with its name, and the shorter one has the better name and place."""
    index.write("root/proxy.py", "proxy = 1\n" * 20)
    index.write("root/some/where/deeper/proxy.py", "value = 1\n" * 45)
    found = index.search("proxy.py:33")[0]
    assert found["relative_path"] == "some/where/deeper/proxy.py"
    assert found["start_line"] <= 33 <= found["end_line"]
    assert index.found("proxy.py:15")[:2] == ["proxy.py", "some/where/deeper/proxy.py"]
    last = index.search("proxy.py:900")[0]
    assert (last["relative_path"], last["end_line"]) == ("proxy.py", 20), "where none is, the end of each"


def test_a_message_tells_which_file_of_that_name_is_meant(index: Indexed) -> None:
    """By the name in it, although the file is one of others."""
    index.write("root/tables.c", "int crane = 1;\n" * 60)
    index.write("root/vendor/arm/tables.c", "int other = 1;\n" * 44 + "int CRANE_LIFT = 2;\n" * 16)
    assert index.found("tables.c:45: undefined: CRANE_LIFT")[0] == "vendor/arm/tables.c"


@pytest.mark.parametrize(
    "query",
    [
        "FAILED tests/test_crane.py::TestCrane::test_lift - AssertionError: assert 1 == 2",
        "tests/test_crane.py::TestCrane::test_lift[a-b-1] PASSED [ 40%]",
        "ERROR tests/test_crane.py::TestCrane::test_lift",
        "python -m pytest tests/test_crane.py::TestCrane::test_lift -x",
    ],
)
def test_what_test_runners_write_leads_to_the_test(index: Indexed, query: str) -> None:
    """Other files define a test of that name, and one lists the files."""
    body = "        assert crane\n" * 12
    for number in range(60):
        index.write(f"root/tests/test_{number}.py", f"class TestCrane:\n{body}    def test_lift(self):\n{body}")
    index.write("root/tests/test_crane.py", f"class TestCrane:\n{body * 3}    def test_lift(self):\n{body}")
    index.write("root/SOURCES.txt", "tests/test_crane.py\ntests/test_1.py\n")
    hit = index.search(query)[0]
    assert (hit["relative_path"], "def test_lift" in hit["snippet"]) == ("tests/test_crane.py", True)


def test_a_frame_of_java_names_the_folders_of_its_file(index: Indexed) -> None:
    for folder in ("java/nio/file", "java/io", "org/crane"):
        index.write(f"root/base/{folder}/Reader.java", "int read;\n" * 30)
    index.write("root/app/org/crane/Lift.java", "int lift;\n" * 30)
    for package, folder in (("java.io", "java/io"), ("java.nio.file", "java/nio/file"), ("org.crane", "org/crane")):
        frame = f"at java.base/{package}.Reader$1.read(Reader.java:12)"
        assert index.found(frame)[0] == f"base/{folder}/Reader.java"
    trace = "Exception in thread\n\tat org.foreign.Reader.read(Reader.java:12)\n\tat org.crane.Lift.up(Lift.java:15)"
    hit = index.search(trace)[0]
    assert hit["relative_path"] == "app/org/crane/Lift.java", "the first whose file is known by its folders"
    assert index.found("at org.foreign.Lift.up(Lift.java:15)")[0] == "app/org/crane/Lift.java", "the only one"
