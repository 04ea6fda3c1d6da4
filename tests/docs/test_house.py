"""The rules of the house that a machine can check: sizes, first lines, nothing left undone, no sleeping tests."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from helpers.support import CHECKOUT

MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_PARAMETERS = 6  # without self
# Those that take more, each with the reason.
MANY_PARAMETERS = {
    "ipc/livedex_ipc/cli/argument_types.py: __init__": "a row of the table of options, each field by keyword",
    "ipc/livedex_ipc/method_types.py: __init__": "a row of the table of methods, each field by keyword",
}
DICTS_OF_ANY = 43  # in the product; fewer is better, and this number only falls
ROOMS = ("daemon", "indexing", "ipc", "service")
FOLDERS = (*ROOMS, "tests", "bench")
UNDONE = ("TODO", "FIXME", "XXX", "HACK")


# Names that begin with an underscore and are nobody's secret.
OPEN_NAMES = {
    "subprocess._fork_exec": "the one call by which a daemon starts a program, to make it fail",
    "os._exit": "documented",
}
PRIVATE_NAME = re.compile(r"livedex_[a-z_.:A-Z]*[.:]_[A-Za-z]\w*|(?<!self)\b\w+\._[A-Za-z]\w*")


class Facts(NamedTuple):
    """What the tests need to know of one source file; each file is parsed once."""

    name: str  # relative to the checkout
    text: str
    docstring: str | None
    functions: list[tuple[str, int, int]]  # name, lines, parameters without self
    attributes: set[str]
    sleeps: list[int]  # lines
    private: set[str]  # names that a text of a test mentions

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@cache
def facts(path: Path) -> Facts:
    text = path.read_text()
    tree = ast.parse(text)
    found = Facts(str(path.relative_to(CHECKOUT)), text, ast.get_docstring(tree), [], set(), [], set())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            found.functions.append((node.name, lines, len(parameters(node))))
        elif isinstance(node, ast.Attribute):
            found.attributes.add(node.attr)
        elif isinstance(node, ast.Call):
            if sleeps(node):
                found.sleeps.append(node.lineno)
            found.private.update(names_in_call(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "livedex_" in node.value:
            found.private.update(PRIVATE_NAME.findall(node.value))
    return found


def sources(*folders: str) -> list[Facts]:
    return [facts(path) for folder in folders for path in sorted((CHECKOUT / folder).rglob("*.py"))]


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    spec = node.args
    return [arg.arg for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if arg.arg not in ("self", "cls")]


def sleeps(node: ast.Call) -> bool:
    """Whether the call sleeps for more than the scheduler's turn (0 seconds)."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "sleep"):
        return False
    delay = node.args[0] if node.args else None
    return not (isinstance(delay, ast.Constant) and delay.value == 0)


def names_in_call(node: ast.Call) -> Iterator[str]:
    """The private name that a call replaces or reads by its text. Attributes are ruff's (SLF001)."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called in ("setattr", "getattr", "delattr"):
        for word in node.args[1:2]:
            if isinstance(word, ast.Constant) and re.match("_[A-Za-z]", str(word.value)):
                yield str(word.value)


def test_a_file_is_one_idea() -> None:
    assert not {file.name: file.lines for file in sources(*FOLDERS) if file.lines > MOST_LINES_OF_A_FILE}


def test_a_function_is_one_step() -> None:
    lengths = {(file.name, name): lines for file in sources(*FOLDERS) for name, lines, _ in file.functions}
    assert not {function: lines for function, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION}


def test_a_function_takes_few_parameters() -> None:
    many = {
        f"{file.name}: {name}"
        for file in sources(*ROOMS)
        for name, _, count in file.functions
        if count > MOST_PARAMETERS
    }
    assert many == set(MANY_PARAMETERS), "an exception that is none any more goes out of the list"


def test_nothing_in_the_daemon_knows_the_app() -> None:
    assert not [file.name for file in sources("daemon") if "_app" in file.attributes]


def test_what_flows_is_typed() -> None:
    assert sum(file.text.count("dict[str, Any]") for file in sources(*ROOMS)) <= DICTS_OF_ANY


def test_a_module_says_what_it_does() -> None:
    assert not [file.name for file in sources(*ROOMS) if not file.docstring]


def comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_nothing_is_left_undone() -> None:
    suspects = [file for file in sources(*FOLDERS) if any(word in file.text for word in UNDONE)]
    found = [(file.name, line, text) for file in suspects for line, text in comments(file.text)]
    assert not [comment for comment in found if any(word in comment[2] for word in UNDONE)]


def test_tests_wait_on_conditions() -> None:
    """A bare sleep is too short here and too long there; ``support.wait_until`` has the only one."""
    tests = [file for file in sources("tests") if not file.name.endswith("/support.py")]
    assert not [(file.name, line) for file in tests for line in file.sleeps]


def test_tests_use_public_names() -> None:
    """A private member may change with every commit; a test of it fails where nothing is wrong."""
    tests = [file for file in sources("tests") if "/planted/" not in file.name]  # those are texts of the source
    found = {(file.name, used) for file in tests for used in file.private}
    assert not {(path, used) for path, used in found if used not in OPEN_NAMES}
    assert {used for _, used in found} == set(OPEN_NAMES), "an exception that is none any more goes out of the list"


def test_the_top_level_is_as_agreed() -> None:
    hidden = {path.name for path in CHECKOUT.iterdir() if path.name.startswith(".")}
    made = {"build", "dist"}
    seen = {path.name for path in CHECKOUT.iterdir()} - hidden - made
    files = {"pyproject.toml", "README.md", "LICENSE", "Makefile", "constraints.txt", "CHANGELOG.md", "CONTRIBUTING.md"}
    assert seen == {*files, *FOLDERS, "docs", "editors"}


def test_constraints_pin_by_name_and_version_alone() -> None:
    for line in (CHECKOUT / "constraints.txt").read_text().splitlines():
        package, equals, version = line.partition("==")
        assert equals and package.replace("-", "").replace("_", "").isalnum() and version[0].isdigit(), line


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"], *groups["dev"], *groups["docs"]]
    names = {re.split(r"[^A-Za-z0-9_-]", requirement)[0].lower() for requirement in wanted}
    pinned = {line.partition("==")[0].lower() for line in (CHECKOUT / "constraints.txt").read_text().splitlines()}
    assert names <= pinned
