"""The table of planted defects is true: each can be planted, its test exists, and a few are tried each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.support import CHECKOUT, Tree, temporary_home
from planted.copies import copied, environment, source_of, try_defect
from planted.defect import Defect, Moved, has_test
from planted.table import DEFECTS, document

# Fast ones, one of each part; `make planted` tries all.
SAMPLE = ("answered-before-the-cookie", "second-look-skipped", "delete-and-insert-apart", "hit-not-checked")
BY_NAME = {defect.name: defect for defect in DEFECTS}


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_it_can_be_planted(defect: Defect) -> None:
    """If this fails the code has changed: update the defect so that it breaks the same promise."""
    for module in defect.modules():
        defect.planted(module, source_of(module).read_text())
    assert has_test(defect.test), f"{defect.test} is not there"


def test_each_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(DEFECTS)


def test_the_page_is_made_of_the_table() -> None:
    page = (CHECKOUT / "docs" / "planted-defects.md").read_text()
    assert page == document(), "PYTHONPATH=tests python -m planted --document > docs/planted-defects.md"


@pytest.mark.parametrize("name", SAMPLE)
def test_it_is_caught(name: str) -> None:
    verdict = try_defect(BY_NAME[name])
    assert verdict.outcome == "caught", verdict.reported


def test_one_that_no_test_notices_is_reported() -> None:
    harmless = BY_NAME["hit-not-checked"]._replace(
        module="livedex_ipc/peers.py", edits=(("uid: int = _UCRED", "uid : int = _UCRED"),)
    )
    assert try_defect(harmless).outcome == "missed"


def test_code_that_moved_on_is_reported() -> None:
    gone = BY_NAME["hit-not-checked"]._replace(edits=(("what stands nowhere", ""),))
    with pytest.raises(Moved, match="stands 0 times"), copied(gone):
        pass


@pytest.mark.parametrize(
    "module", ["livedex_ipc/peers.py", "editors/vscode/hits.js", "editors/nvim/lua/livedex/list.lua"]
)
def test_a_defect_that_is_no_code_is_reported(module: str) -> None:
    """Any test notices a file that cannot be read, whatever it guards."""
    broken = BY_NAME["hit-not-checked"]._replace(module=module, edits=(("return", "return ("),))
    source = "function f(one) {\n  return one\n}\n" if module.endswith(".js") else "def f(one):\n    return one\n"
    with pytest.raises(SyntaxError):
        broken.planted(module, source)


def test_the_command_the_daemon_and_its_children_run_the_copy(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("a.txt", "firstword\n")
    with copied() as copy:
        marks = []
        for module in (
            "livedex_ipc/cli/main.py",
            "livedex_daemon/__main__.py",
            "livedex_indexing/chunk/chunk_child.py",
        ):
            marks.append(copy / Path(module).stem)
            first, future, rest = (copy / module).read_text().partition("from __future__ import annotations\n")
            (copy / module).write_text(f"{first}{future}open({str(marks[-1])!r}, 'w').close()\n{rest}")
        for name, value in environment(copy).items():
            monkeypatch.setenv(name, value)
        with temporary_home() as home:
            home.run_json("up", str(tree))
            assert [mark.exists() for mark in marks] == [True] * 3
            clients = [editor["path"] for editor in home.run_json("editor")["editors"]]
            assert all(path.startswith(f"{copy}/") for path in clients), "editors get the copy, too"
