"""What the terminal UI sends to the daemon and to the user's editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.support import Daemon, Tree, add_root
from livedex_ipc.cli.live.editor_command import column_in, editor_command
from livedex_ipc.cli.live.live_requests import search_params, why_page
from livedex_ipc.cli.live.live_state import Query
from livedex_ipc.file_results import ExplainResult, RuleFields


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, ["vi", "+7", "/a b"]),
        ({"EDITOR": "nvim -R"}, ["nvim", "-R", "+7", "/a b"]),
        ({"EDITOR": "vi", "VISUAL": "'/opt/my editor'"}, ["/opt/my editor", "+7", "/a b"]),
        ({"EDITOR": "nano"}, ["nano", "+7,3", "/a b"]),
        ({"EDITOR": "emacsclient -nw"}, ["emacsclient", "-nw", "+7:3", "/a b"]),
        ({"EDITOR": "code --wait"}, ["code", "--wait", "--goto", "/a b:7:3"]),
        ({"EDITOR": "/usr/bin/hx"}, ["/usr/bin/hx", "/a b:7:3"]),
    ],
)
def test_the_editor_opens_the_line(environ: dict[str, str], words: list[str]) -> None:
    assert editor_command(environ, "/a b", 7, 3) == words


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [("a lease", 3, 3), ("Żółw: lease", 10, 7), ("東京 lease", 8, 4), ("é" * 9, 25, 16), ("", 1, 1), ("é", 2, 2)],
)
def test_an_editor_counts_characters(text: str, column: int, expected: int) -> None:
    assert column_in(text, column) == expected


@pytest.mark.parametrize("setting", ["'", " "])
def test_a_setting_that_is_no_command_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match=r"VISUAL|quotation"):
        editor_command({"VISUAL": setting}, "/a", 1, 1)


@pytest.mark.shares_daemon
@pytest.mark.parametrize("mode", ["words", "exact", "regex"])
def test_a_path_filter_means_the_same_in_every_mode(daemon: Daemon, tree: Tree, mode: str) -> None:
    for name in ("docs/a.md", "src/docs.py", "src/deep/docs/b.md", "src/lease.py", "my docs/x [1].md"):
        tree.write(name, f"a lease of {name}\n")  # of copies only one is a hit
    with daemon.client() as client:
        add_root(client, tree)

        def found(*paths: str) -> set[str]:
            params = search_params(Query("lease", mode, paths), 0)  # type: ignore[arg-type]
            return {hit["relative_path"] for hit in client.call("search", params)["hits"]}

        assert found("docs") == {"docs/a.md", "src/docs.py", "src/deep/docs/b.md", "my docs/x [1].md"}
        assert found("src/deep") == {"src/deep/docs/b.md"}
        assert found("src/") == {"src/docs.py", "src/deep/docs/b.md", "src/lease.py"}
        assert found("*.py") == {"src/docs.py", "src/lease.py"}
        assert found("lease", "deep") == {"src/lease.py", "src/deep/docs/b.md"}
        assert found(f"{tree.path}/docs") == {"docs/a.md"}


def test_a_folder_is_found_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    params = search_params(Query("x", paths=("./notes", "~/src", "docs")), 0)
    assert params["paths"] == [f"{tmp_path}/notes", "/home/ada/src"]
    assert "globs" in params


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="never"):
        search_params(Query("x", since="never"), 0)


def test_an_explanation_that_is_not_fresh_says_so() -> None:
    rule: RuleFields = {"file": "/r/.gitignore", "line": 2, "pattern": "!keep.log"}
    why: ExplainResult = {"path": "/r/keep.log", "status": "indexed", "reason": None, "rule": rule, "fresh": True}
    lines = ("/r/keep.log", "", "indexed", "/r/.gitignore:2: !keep.log")
    assert why_page(why).lines == lines
    assert why_page({**why, "fresh": False}).lines == (*lines, "", "not fresh: it may have changed since")
