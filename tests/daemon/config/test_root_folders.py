"""Roots as a user configures them: what they mean, and which of them can never be watched."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from livedex_daemon.config import settings
from livedex_ipc.errors import ConfigInvalid


def fault_of(text: str, *, accepted: Collection[str] | None = ()) -> dict[str, Any]:
    with pytest.raises(ConfigInvalid) as raised:
        settings.parse(text, accepted=accepted)
    assert raised.value.data is not None
    (fault,) = raised.value.data["faults"]
    assert isinstance(fault, dict)
    return fault


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "empty"),
        ("notes", "absolute"),
        ("./notes", "absolute"),
        ("$HOME/notes", "$HOME"),
        ("/data/${USER}/notes", "${USER}"),
        ("~nobody-of-that-name/x", "~nobody-of-that-name"),
        ("/", "whole file system"),
        ("/usr/..", "whole file system"),
        ("/a\\u0000b", "NUL"),
    ],
)
def test_roots_that_mean_nothing_definite(path: str, says: str) -> None:
    fault = fault_of(f'[[roots]]\npath = "{path}"')
    assert says in fault["message"]
    assert (fault["key"], fault["line"], fault["column"]) == ("roots[0].path", 2, 8)


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="there is no /proc here")
def test_a_root_that_the_kernel_makes_up() -> None:
    assert "never enters" in fault_of('[[roots]]\npath = "/proc/sys"')["message"]


def test_a_root_with_a_dollar_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "$HOME").mkdir()
    (root,) = settings.parse(f'[[roots]]\npath = "{tmp_path}/$HOME"').roots
    assert root.path.endswith("/$HOME")


def test_a_root_must_be_a_folder_but_need_not_be_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "fifo")
    assert "is a file" in fault_of(f'[[roots]]\npath = "{tmp_path}/file"')["message"]
    assert "not a folder" in fault_of(f'[[roots]]\npath = "{tmp_path}/fifo"')["message"]
    assert settings.parse(f'[[roots]]\npath = "{tmp_path}/later"').roots[0].path == f"{tmp_path.resolve()}/later"
    assert settings.parse(f'[[roots]]\npath = "{tmp_path}/file/below"').roots  # whatever: it is not there


def test_a_file_in_the_place_of_a_root_that_was_accepted_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    text = f'[[roots]]\npath = "{tmp_path}/file"\n[[roots]]\npath = "{tmp_path}"\n'
    for accepted in (None, {f"{tmp_path}/file"}):
        assert [root.path for root in settings.parse(text, accepted=accepted).roots] == [
            f"{tmp_path.resolve()}/file",
            str(tmp_path.resolve()),
        ]
    with pytest.raises(ConfigInvalid, match="is a file"):
        settings.parse(text, accepted={str(tmp_path)})


def test_the_same_root_twice(tmp_path: Path, user: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    for second in (f"{tmp_path}/a/", f"{tmp_path}/x/../a", f"{tmp_path}/b"):
        fault = fault_of(f'[[roots]]\npath = "{tmp_path}/a"\n[[roots]]\npath = "{second}"')
        assert (fault["key"], fault["line"]) == ("roots[1].path", 4)
        assert "line 2" in fault["message"]
    assert fault_of(f'[[roots]]\npath = "~"\n[[roots]]\npath = "{user}"')["line"] == 4
    gone = '[[roots]]\npath = "/nowhere/a"\n[[roots]]\npath = "/nowhere/b/../a"'
    assert "line 2" in fault_of(gone)["message"]
    nested = settings.parse(f'[[roots]]\npath = "{tmp_path}/a/b"\n[[roots]]\npath = "{tmp_path}/a"')
    assert len(nested.roots) == 2


def test_a_link_to_another_root_is_a_root_of_its_own_where_it_was_accepted(tmp_path: Path) -> None:
    """It is missing, and the other one keeps its own settings, wherever the two are in the file."""
    where = tmp_path.resolve()
    (where / "a").mkdir()
    (where / "b").symlink_to("a")
    linked, real = f'[[roots]]\npath = "{where}//b/"\nignore = ["x"]\n', f'[[roots]]\npath = "{where}/a"\n'
    wanted = {(f"{where}/a", (), False), (f"{where}/b", ("x",), True)}
    for text in (linked + real, real + linked):
        for accepted in (None, {f"{where}/a", f"{where}//b/"}):
            roots = settings.parse(text, accepted=accepted).roots
            assert {(root.path, root.ignore, root.is_link) for root in roots} == wanted
        for new in (f"{where}/a", f"{where}//b/"):
            accepted = {f"{where}/a", f"{where}//b/"} - {new}
            fault = fault_of(text, accepted=accepted)
            assert text.split("\n")[fault["line"] - 1] == f'path = "{new}"'
    for twice in (real + real, linked + linked):
        assert "line 2" in fault_of(twice, accepted=None)["message"]


def test_two_links_to_one_folder(tmp_path: Path) -> None:
    where = tmp_path.resolve()
    (where / "a").mkdir()
    (where / "b").symlink_to("a")
    (where / "c").symlink_to("b")
    roots = settings.parse("".join(f'[[roots]]\npath = "{where}/{name}"\n' for name in "bc")).roots
    assert [root.path for root in roots] == [f"{where}/a", f"{where}/c"]


@pytest.mark.parametrize("target", ["/", "livedex/data", "b", "b/below", "/proc/self"])
def test_a_link_to_where_no_root_may_be(tmp_path: Path, target: str) -> None:
    where = tmp_path.resolve()
    (where / "livedex/data").mkdir(parents=True)
    (where / "b").symlink_to(target)
    (root,) = settings.parse(f'[[roots]]\npath = "{where}/b"').roots
    assert (root.path, root.is_link) == (f"{where}/b", True)


def test_livedexs_own_folders_are_no_roots(tmp_path: Path) -> None:
    text = f'[[roots]]\npath = "{tmp_path}/livedex/data/below"'
    assert "own folder" in fault_of(text)["message"]
    assert settings.parse(f'[[roots]]\npath = "{tmp_path}/livedex"').roots


def test_a_tilde_is_the_home_folder(user: Path) -> None:
    (root,) = settings.parse('[[roots]]\npath = "~/x"').roots
    assert root.path == f"{user}/x"
