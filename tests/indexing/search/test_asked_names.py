"""A name is found in the question that asks for it, an option or a reference as it is written, and stop words alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.indexed_folder import LINES, Indexed
from livedex_indexing.rank import name_places

FILLER = "".join(f"    step = {number}\n" for number in range(3 * LINES))
HEADER = "To parse a header, parse header lines. Quilt.\n"
METER = "class Meter {\n  length() {\n    return queue;  // queue length, queue length\n  }\n}\n"
MORE = 170  # files: more than are ranked
MANY = 20  # files: more than are read for lines that words do not lead to


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("asked")) as made:
        made.write("root/options.py", f'{FILLER}    parser.add("--quiet")\n{FILLER}')
        for number in range(MANY):
            made.write(f"root/night{number}.py", f"# quiet: a quiet night {number}, quiet --quieter\n")
            made.write(f"root/calls{number}.py", f"runTask(runTask)  # runTask is defined where {number}\n")
            made.write(f"root/header{number}.md", f"# Parse header {number}\n\n{HEADER}")
            made.write(f"root/meters/meter{number}.js", METER)
            made.write(f"root/more/step{number}.py", f"step({number})\n")
            made.write(f"root/more/turn{number}.py", f"turn({number})\n")
        for number in range(MORE):
            made.write(f"root/be/be{number}.py", f"# {number}: be it or not. It is to be so, or not.\n" * 2)
        made.write("root/loop.py", f"{FILLER}    while not runTask():\n        pass\n{FILLER}")
        made.write("root/runner.py", f"{FILLER}def runTask(task):\n    pass\n")
        made.write("root/mail.py", f"{FILLER}def parse_header(line):\n    pass\n")
        made.write("root/attributes.c", f"{FILLER}static int ext4_xattr_user_set(int v8)\n{{\n}}\n")
        made.write("root/session.js", f"{FILLER}class Http2ServerSession {{\n}}\n")
        made.write("root/waiting.js", f"{'step();' * 3}\n" * 3 * LINES + "if (queue.length) go();\n")
        made.write("root/hamlet.md", f"{'Words, words. ' * 30}\n\nTo be or not to be.\n")
        made.write("root/sewing.py", f"{FILLER}    quilt = 1\n")
        made.write("root/snakes.py", "# py py, a py\n" * 9)
        made.write("root/ship.toml", f"anchor = 1\n{FILLER}mast = 2\n")
        made.write("root/harbour/plan.py", f"{FILLER}    anchor = 1\n{FILLER}")
        made.write(
            "root/lamps.md", f"{'Words, words. ' * 90}A relay dims the lantern when it flickers. {'Words. ' * 90}\n"
        )
        made.write("root/formats.md", "toml\n")
        made.write("root/walker.py", f"{FILLER}def rove(tree):\n    pass\n")
        for number in range(MANY):
            made.write(f"root/roving{number}.md", f"A dog may rove. They rove {number}.\n")
        for number in range(MANY):
            made.write(f"root/anchor{number}.py", "# An anchor, the anchor of a mast in a harbour\n" * 2)
            made.write(f"root/lanterns{number}.md", "Lanterns, flickered lanterns.\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("--quiet", "options.py"),
        ("where is runTask defined?", "runner.py"),
        ("def runTask", "runner.py"),
        ("parseHeader", "mail.py"),
        ("ext4XattrUserSet", "attributes.c"),
        ("http2_server_session", "session.js"),
        ("queue.length", "waiting.js"),
        ("to be or not to be", "hamlet.md"),
        ("quilt py", "sewing.py"),
        ("anchor mast toml", "ship.toml"),
        ("dimming lanterns relays", "lamps.md"),
    ],
)
def test_what_is_asked_for_comes_first(app: Indexed, query: str, path: str) -> None:
    assert app.search(query)[0]["relative_path"] == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("parseHe", "mail.py"),
        ("parseHeader", "mail.py"),
        ("ext4XattrUserSe", "attributes.c"),
        ("ext4XattrUserSet", "attributes.c"),
    ],
)
def test_a_name_in_another_convention_is_found_while_it_is_typed(app: Indexed, query: str, path: str) -> None:
    assert path in app.found(query, typing=True)


def test_an_option_whose_word_hundreds_of_files_have(tmp_path: Path) -> None:
    with Indexed(tmp_path) as made:
        for number in range(300):
            made.write(f"root/verbose{number}.py", f"verbose = {number}  # verbose\n")
        made.write("root/options.py", f'{FILLER}    parser.add("--verbose")\n{FILLER}')
        assert made.search("--verbose")[0]["relative_path"] == "options.py"


def test_the_whole_text_comes_before_the_name_in_it(app: Indexed) -> None:
    assert app.search("while not runTask()")[0]["relative_path"] == "loop.py"


@pytest.mark.parametrize(
    "query", ["how does rove work?", "show me the implementation of rove", "the function rove is called twice"]
)
def test_a_plain_name_in_a_question(app: Indexed, query: str) -> None:
    hit = app.search(query)[0]
    assert (hit["relative_path"], "def rove" in hit["snippet"]) == ("walker.py", True)


def test_a_frequent_word_in_a_question_is_no_name(app: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for the definitions of a common word costs as much as all else, and most of them are not meant."""
    monkeypatch.setattr(name_places, "SELDOM", MANY)  # one more has it
    assert app.search("how does rove work?")[0]["relative_path"] != "walker.py"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("crane.hoist", "lib/crane.py"),
        ("crane.hoist()", "lib/crane.py"),
        ("crane.hoist(load, 7)", "lib/crane.py"),
        ("where is crane.hoist defined", "lib/crane.py"),
        ("yard::hoist", "yard-1.2.3/src/lift.py"),  # a file of the folder, as of a crate or a package
        ("harbour.hoist", "harbour/__init__.py"),
        ("lib.crane.hoist", "lib/crane.py"),
        ("lib.crane:hoist", "lib/crane.py"),  # an entry point of Python
    ],
)
def test_a_name_with_its_module_leads_to_the_definition_there(index: Indexed, query: str, path: str) -> None:
    """Others define it, too, and many call it as it was typed."""
    for folder in ("lib/crane", "yard-1.2.3/src/lift", "harbour/__init__", "harbour/tools", "hoists", "ship/hoist"):
        index.write(f"root/{folder}.py", f"# {folder}\n{FILLER}def hoist(load):\n    pass\n{FILLER}")
    for number in range(MANY):
        index.write(
            f"root/use{number}.py",
            "crane.hoist(other)\nyard::hoist\nharbour.hoist()\nlib.crane.hoist\nlib.crane:hoist\n" * 3,
        )
    hit = index.search(query)[0]
    assert (hit["relative_path"], "def hoist" in hit["snippet"]) == (path, True)


def test_a_member_with_its_package_leads_to_the_file_of_that_name(index: Indexed) -> None:
    """Other files define a class and a member of these names."""
    for number, name in enumerate(("crane", "crane_hoist", "lift", "hoist")):
        index.write(
            f"root/{name}.py", f"# {number}\n{FILLER}class Crane:\n    def hoist(self):\n        pass\n{FILLER}"
        )
    for query in ("yard.lift.Crane.hoist", "lift::Crane::hoist", "yard.lift:Crane.hoist"):
        assert index.search(query)[0]["relative_path"] == "lift.py"
