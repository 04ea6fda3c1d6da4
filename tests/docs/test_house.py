"""The rules of the house that a machine can check: sizes, first lines, nothing left undone, no sleeping tests."""

from __future__ import annotations

import ast
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

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


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (CHECKOUT / folder).rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


def test_a_file_is_one_idea() -> None:
    lengths = {name(path): len(path.read_text().splitlines()) for path in sources(*FOLDERS)}
    assert not {path: lines for path, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE}


def test_a_function_is_one_step() -> None:
    lengths = {
        f"{name(path)}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in sources(*FOLDERS)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not {function: lines for function, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION}


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    spec = node.args
    return [arg.arg for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if arg.arg not in ("self", "cls")]


def test_a_function_takes_few_parameters() -> None:
    many = {
        f"{name(path)}: {node.name}"
        for path in sources(*ROOMS)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(parameters(node)) > MOST_PARAMETERS
    }
    assert many == set(MANY_PARAMETERS), "an exception that is none any more goes out of the list"


def test_nothing_in_the_daemon_knows_the_app() -> None:
    for path in sources("daemon"):
        tree = ast.parse(path.read_text())
        known = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert "_app" not in known, name(path)


def test_what_flows_is_typed() -> None:
    assert sum(path.read_text().count("dict[str, Any]") for path in sources(*ROOMS)) <= DICTS_OF_ANY


def test_a_module_says_what_it_does() -> None:
    assert not [name(path) for path in sources(*ROOMS) if not ast.get_docstring(ast.parse(path.read_text()))]


def comments(path: Path) -> Iterator[tuple[int, str]]:
    with tokenize.open(path) as source:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def test_nothing_is_left_undone() -> None:
    found = [(name(path), line, text) for path in sources(*FOLDERS) for line, text in comments(path)]
    assert not [comment for comment in found if any(word in comment[2] for word in UNDONE)]


def sleeps(path: Path) -> Iterator[int]:
    """The lines that sleep for more than the scheduler's turn (0 seconds)."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sleep":
            delay = node.args[0] if node.args else None
            if not (isinstance(delay, ast.Constant) and delay.value == 0):
                yield node.lineno


def test_tests_wait_on_conditions() -> None:
    """A bare sleep is too short here and too long there; ``support.wait_until`` holds the only one."""
    tests = [path for path in sources("tests") if path.name != "support.py"]
    assert not [(name(path), line) for path in tests for line in sleeps(path)]


# Names that begin with an underscore and are nobody's secret.
OPEN_NAMES = {
    "subprocess._fork_exec": "the one call by which a daemon starts a program, to make it fail",
    "os._exit": "documented",
}
PRIVATE_NAME = re.compile(r"livedex_[a-z_.:A-Z]*[.:]_[A-Za-z]\w*|(?<!self)\b\w+\._[A-Za-z]\w*")


def names_in_text(node: ast.AST) -> Iterator[str]:
    """What a text of a test names: a thing to replace, or code for another process. Attributes are ruff's (SLF001)."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("setattr", "getattr", "delattr"):
        for word in node.args[1:2]:
            if isinstance(word, ast.Constant) and re.match("_[A-Za-z]", str(word.value)):
                yield str(word.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "livedex_" in node.value:
        yield from PRIVATE_NAME.findall(node.value)


def test_tests_use_public_names() -> None:
    """A private member may change with every commit; a test of it fails where nothing is wrong."""
    tests = [path for path in sources("tests") if path.parent.name != "planted"]  # those are texts of the source
    found = {
        (name(path), used)
        for path in tests
        for node in ast.walk(ast.parse(path.read_text()))
        for used in names_in_text(node)
    }
    assert not {(path, used) for path, used in found if used not in OPEN_NAMES}
    assert {used for _, used in found} == set(OPEN_NAMES), "an exception that is none any more goes out of the list"


def test_the_top_level_is_as_agreed() -> None:
    hidden = {path.name for path in CHECKOUT.iterdir() if path.name.startswith(".")}
    made = {"build", "dist"}
    seen = {path.name for path in CHECKOUT.iterdir()} - hidden - made
    files = {"pyproject.toml", "README.md", "LICENSE", "Makefile", "constraints.txt", "CHANGELOG.md", "CONTRIBUTING.md"}
    assert seen == {*files, *FOLDERS, "docs"}


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
