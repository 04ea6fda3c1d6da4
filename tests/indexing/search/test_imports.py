"""A typed or pasted import leads to what it imports; to its line where one file alone has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step = {number}\n" for number in range(3 * LINES))
HOIST = f"{FILLER}def hoist(load):\n    pass\n{FILLER}"
LIFTING = "    hoist(load)  # hoist, lift and haul a crane of a yard by net\n" * 3
LINES_OF_MANY = (
    "from lib.crane import hoist",
    "from lib import crane",
    "import lib.crane",
    "import lib.crane as lift",
    "import winch",
    "from lib.crane import SLINGS",
    "from yard import heave",
    "from .derrick import boom",
    "#include <net/cable.h>",
    'import "pulley"',
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("imports")) as made:
        for name in ("lib/crane.py", "lib/winch.py", "other/crane.py", "lift.py"):
            made.write(f"root/{name}", f"{HOIST}# {name}\n")  # no copies of one file
        made.write("root/lib/crane.py", f"{HOIST}SLINGS = 4\n")
        made.write("root/winch.py", f"{HOIST}# winch\n")
        made.write("root/yard/inner/deep.py", HOIST.replace("hoist", "heave"))
        made.write("root/yard/__init__.py", "from yard.inner.deep import heave\n")
        made.write("root/other/heave.py", HOIST.replace("hoist", "heave") + "# other\n")
        made.write("root/include/net/cable.h", FILLER)
        made.write("root/include/cable.h", f"{FILLER}#\n")
        made.write("root/port/net.c", f"{FILLER}# net\n")
        for folder in ("a", "b"):
            made.write(f"root/{folder}/derrick.py", HOIST.replace("hoist", "boom") + f"# {folder}\n")
        for number in range(6):
            text = "\n".join(LINES_OF_MANY if number else (*LINES_OF_MANY, "from lift import hoist as alone"))
            made.write(f"root/a/user{number}.py", f"{text}\n{LIFTING}# {number}\n")
            made.write(f"root/notes{number}.md", "# Import\n\nImport data, and from lib import a crane.\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path", "shown"),
    [
        ("from lib.crane import hoist", "lib/crane.py", "def hoist"),
        ("from lib.crane import hoist as lift", "lib/crane.py", "def hoist"),  # nobody has this line
        ("from lib.crane import SLINGS", "lib/crane.py", "SLINGS = 4"),
        ("from lib import crane", "lib/crane.py", ""),
        ("import lib.crane", "lib/crane.py", ""),
        ("import winch", "winch.py", ""),  # not that of a package
        ("from yard import heave", "yard/inner/deep.py", "def heave"),  # defined further below
        ("from .derrick import boom", "a/derrick.py", "def boom"),  # beside the files with the line
        ("use lib::crane::hoist;", "lib/crane.py", "def hoist"),
        ("use App\\lib\\crane;", "lib/crane.py", ""),
        ("const { hoist } = require('lib/crane');", "lib/crane.py", "def hoist"),
    ],
)
def test_an_import_leads_to_what_it_imports(index: Indexed, query: str, path: str, shown: str) -> None:
    hit = index.search(query)[0]
    assert (hit["relative_path"], shown in hit["snippet"]) == (path, True)


def test_a_header_is_found_by_its_folder_and_not_by_its_words(index: Indexed) -> None:
    assert index.found("#include <net/cable.h>")[0] == "include/net/cable.h"


def test_those_who_import_it_come_next(index: Indexed) -> None:
    assert set(index.found("from lib.crane import hoist")[1:7]) == {f"a/user{number}.py" for number in range(6)}


def test_a_line_of_one_file_alone_comes_before_what_it_imports(index: Indexed) -> None:
    found = index.found("from lift import hoist as alone")
    assert found[0] == "a/user0.py"
    assert found.index("lift.py") < min(found.index("other/crane.py"), found.index("winch.py"))


def test_a_module_that_is_not_indexed_leaves_the_lines(index: Indexed) -> None:
    assert index.found('import "pulley"')[0].startswith("a/user")


def test_two_words_that_no_file_has_as_a_line_are_words(index: Indexed) -> None:
    assert index.found("import data")[0].startswith("notes")
