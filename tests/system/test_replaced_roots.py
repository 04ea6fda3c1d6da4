"""A root whose place was taken by a link while no daemon ran: the next start serves the others, and it returns."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fault_injection import TICKS_OFTEN, in_namespaces, inside, needs_namespaces, with_code
from helpers.support import SHARE, Daemon, Home, Tree, add_root, codes, found, wait_ready, wait_until
from livedex_ipc.client import Client

RETURN_S = 10.0  # the promise
# Root may do everything: without these two capabilities the permission bits apply to it too.
HUMBLE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
needs_permissions = pytest.mark.skipif(
    bool(HUMBLE) and shutil.which("setpriv") is None, reason="root may do everything, and setpriv is not here"
)


def config(*roots: object) -> str:
    return "".join(f'[[roots]]\npath = "{root}"\nignore = ["*.{Path(str(root)).name}"]\n' for root in roots)


def states(client: Client) -> dict[str, str]:
    return {root["path"]: root["state"] for root in client.call("roots/list")["roots"]}


class Folders:
    """Two folders of which ``notes`` may be moved away; each is a root that ignores files named after it."""

    def __init__(self, where: Path) -> None:
        self.notes, self.other, self.away = Tree(where / "notes"), Tree(where / "other"), where / "away"
        self.notes.write_all({"a.txt": "alpha one", "x.other": "alpha two", "x.notes": "alpha three"})
        self.other.write_all({"b.txt": "alpha four", "sub/c.txt": "alpha five", "y.notes": "alpha six"})

    def link(self, target: Path) -> None:
        self.notes.path.rename(self.away)
        self.notes.path.symlink_to(target)

    def restore(self) -> None:
        self.notes.path.unlink()
        self.away.rename(self.notes.path)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path.resolve())


@pytest.fixture(params=[False, True], ids=["first", "second"])
def stopped(
    request: pytest.FixtureRequest,
    folders: Folders,
    start_daemon: Callable[..., Daemon],
    tmp_path_factory: pytest.TempPathFactory,
) -> Daemon:
    """A daemon that indexed both and was killed; ``notes`` is the first root in the file, or the second.

    It looks at its roots often: the tests without it, and test_roots, hold the promised time.
    """
    roots = [folders.notes, folders.other]
    often = with_code(tmp_path_factory.mktemp("often") / "code", TICKS_OFTEN)
    daemon = start_daemon(config(*(reversed(roots) if request.param else roots)), **often)
    with daemon.client() as client:
        wait_ready(client)
        assert len(found(client, "alpha")) == 5
    daemon.kill()
    return daemon


def returns(client: Client, folders: Folders) -> None:
    folders.restore()
    online = {str(folders.notes): "online", str(folders.other): "online"}
    wait_until(lambda: states(client) == online, 2 * RETURN_S, what="the root")
    assert sorted(found(client, "alpha")) == ["a.txt", "b.txt", "sub/c.txt", "x.other", "y.notes"]


def test_a_link_to_another_root(stopped: Daemon, folders: Folders, home: Home, tmp_path: Path) -> None:
    folders.link(folders.other.path)
    with stopped.start().client() as client:
        wait_ready(client)
        assert states(client) == {str(folders.notes): "missing", str(folders.other): "online"}
        assert sorted(found(client, "alpha")) == ["b.txt", "sub/c.txt", "y.notes"], "once, by the rules of its own root"
        (missing,) = client.call("status")["warnings"]
        assert (missing["code"], str(folders.notes) in missing["message"]) == ("root_missing", True)
        assert "link" in missing["message"]
        assert f"livedex roots remove {folders.notes}" in missing["remedy"]
        refused = home.run("config", "validate")
        assert (refused.returncode, "is the same folder as the root in line" in refused.stderr) == (2, True)
        doctor = [check for check in home.run_json("doctor")["checks"] if check["name"] == "root"]
        assert sorted((check["state"], "a link is in its place" in check["message"]) for check in doctor) == [
            ("ok", False),
            ("warning", True),
        ]
        add_root(client, Tree(tmp_path / "third"))  # the link hinders no other edit
        client.call("server/reload")
        assert states(client)[str(folders.notes)] == "missing"
        client.call("roots/remove", {"path": str(tmp_path.resolve() / "third")})
        returns(client, folders)
        assert client.call("status")["work"]["files_chunked"] == 0


def test_the_root_with_the_link_can_be_removed(stopped: Daemon, folders: Folders) -> None:
    folders.link(folders.other.path)
    with stopped.start().client() as client:
        wait_ready(client)
        client.call("roots/add", {"path": str(folders.notes)})  # it is a root already
        client.call("roots/remove", {"path": str(folders.notes)})
        assert states(client) == {str(folders.other): "online"}
        assert client.call("status")["state"] == "ready"
        client.call("roots/add", {"path": str(folders.notes)})
        assert states(client) == {str(folders.other): "online"}


def test_a_link_to_where_no_root_may_be(
    request: pytest.FixtureRequest, stopped: Daemon, folders: Folders, home: Home
) -> None:
    """In `make test` every second target for each order of the roots: each start costs half a second."""
    loop = folders.away.parent / "loop"
    loop.symlink_to(folders.notes.path)
    itself, below, nothing = folders.notes.path, folders.notes / "x", folders.away.parent / "nothing"
    targets = (loop, itself, below, Path("/"), home.data, nothing)
    for target in targets if SHARE >= 1 else targets[request.node.callspec.params["stopped"] :: 2]:
        folders.link(target)
        with stopped.start().client() as client:
            wait_ready(client)
            assert sorted(states(client).values()) == ["missing", "online"], target
            assert sorted(found(client, "alpha")) == ["b.txt", "sub/c.txt", "y.notes"], target
            client.call("server/reload")
            returns(client, folders)
        stopped.kill()


@pytest.mark.parametrize("target", ["other/sub", ""])
def test_a_link_to_a_folder_in_another_root_or_above_it(stopped: Daemon, folders: Folders, target: str) -> None:
    """It is that folder: the innermost root has each file, and no file is found twice."""
    folders.away.parent.joinpath("d.txt").write_text("alpha seven")
    folders.link(folders.away.parent / target)
    with stopped.start().client() as client:
        wait_ready(client)
        assert set(states(client).values()) == {"online"}
        paths = [hit["path"] for hit in client.call("search", {"query": "alpha", "limit": 100})["hits"]]
        assert len(set(paths)) == len(paths)
        assert {Path(path).name for path in paths} >= {"b.txt", "c.txt", "y.notes"}
        assert any(path.endswith("d.txt") for path in paths) == (target == "")


def test_a_folder_above_is_a_link(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    """The root's own name is that of a folder, though its path leads to another root."""
    where = tmp_path.resolve()
    first, second = Tree(where / "first/project"), Tree(where / "second/project")
    first.write("a.txt", "alpha one")
    second.write("b.txt", "alpha two")
    daemon = start_daemon(config(first, second))
    with daemon.client() as client:
        wait_ready(client)
    daemon.kill()
    (where / "first").rename(where / "away")
    (where / "first").symlink_to("second")
    with daemon.start().client() as client:
        wait_ready(client)
        assert states(client) == {str(first): "missing", str(second): "online"}
        assert found(client, "alpha") == ["b.txt"]
        (where / "first").unlink()
        (where / "away").rename(where / "first")
        wait_until(lambda: set(states(client).values()) == {"online"}, 2 * RETURN_S, what="the root")
        assert sorted(found(client, "alpha")) == ["a.txt", "b.txt"]


def test_a_configured_link_that_led_nowhere_is_followed(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    """As a link to the current release: it leads to another folder now, and the former one is removed."""
    where = tmp_path.resolve()
    link, first, second = where / "current", Tree(where / "first"), Tree(where / "second")
    first.write("a.txt", "alpha one")
    second.write("b.txt", "alpha two")
    link.symlink_to("first")
    with start_daemon(f'[[roots]]\npath = "{link}"\n').client() as client:
        wait_ready(client)
        assert found(client, "alpha") == ["a.txt"]
        client.call("server/reload")
        link.unlink()
        link.symlink_to("second")
        shutil.rmtree(first.path)
        wait_until(lambda: states(client) == {str(second): "online"}, 2 * RETURN_S, what="the other folder")
        assert found(client, "alpha") == ["b.txt"]


@pytest.mark.ticks_often
def test_a_configured_link_is_followed_to_another_folder(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    """The former folder is still there, as the former release is; at last a folder takes the place of the link."""
    where = tmp_path.resolve()
    link, first, second = where / "current", Tree(where / "first"), Tree(where / "second")
    first.write("a.txt", "alpha one")
    second.write("b.txt", "alpha two")
    link.symlink_to("first")
    with start_daemon(f'[[roots]]\npath = "{link}"\n').client() as client:
        wait_ready(client)
        (where / "next").symlink_to("second")
        (where / "next").rename(link)
        wait_until(lambda: states(client) == {str(second): "online"}, 2 * RETURN_S, what="the other folder")
        assert found(client, "alpha") == ["b.txt"]
        link.unlink()
        Tree(link).write("c.txt", "alpha three")
        wait_until(lambda: states(client) == {str(link): "online"}, 2 * RETURN_S, what="the folder itself")
        assert found(client, "alpha") == ["c.txt"]


@needs_namespaces
@pytest.mark.skipif(sys.platform != "linux", reason="proc is Linux's")
def test_proc_in_the_place_of_a_root(start_daemon: Callable[..., Daemon], folders: Folders) -> None:
    daemon = start_daemon(config(folders.notes, folders.other), wrap=in_namespaces(":"))
    with daemon.client() as client:
        wait_ready(client)
        inside(daemon, 'mount --bind /proc/sys/kernel "$1"', folders.notes)
        wait_until(lambda: states(client)[str(folders.notes)] == "missing", what="the report")
        assert sorted(found(client, "alpha")) == ["b.txt", "sub/c.txt", "y.notes"]
    daemon.kill()
    daemon.wrap = in_namespaces('mount --bind /proc/sys/kernel "$1"', str(folders.notes))
    with daemon.start().client() as client:
        wait_ready(client)
        assert states(client) == {str(folders.notes): "missing", str(folders.other): "online"}
        inside(daemon, 'umount "$1"', folders.notes)
        wait_until(lambda: set(states(client).values()) == {"online"}, 2 * RETURN_S, what="the root")
        assert len(found(client, "alpha")) == 5


def test_one_path_written_twice_is_a_fault_at_the_start_too(home: Home, folders: Folders) -> None:
    home.config.write_text(config(folders.other, f"{folders.other}/"))
    done = subprocess.run(
        [sys.executable, "-m", "livedex_daemon", "daemon"], env=home.env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "is the same folder as the root in line 1" in done.stderr) == (2, False)
    assert "is the same folder as the root in line 2" in done.stderr


@needs_permissions
def test_a_root_that_may_not_be_read_at_the_start(stopped: Daemon, folders: Folders) -> None:
    folders.notes.path.chmod(0)
    stopped.wrap = HUMBLE
    try:
        with stopped.start().client() as client:
            wait_ready(client)
            assert states(client) == {str(folders.notes): "denied", str(folders.other): "online"}
            assert "root_denied" in codes(client)
            assert sorted(found(client, "alpha")) == ["b.txt", "sub/c.txt", "y.notes"]
            folders.notes.path.chmod(0o755)
            wait_until(lambda: set(states(client).values()) == {"online"}, 2 * RETURN_S, what="the root")
            assert len(found(client, "alpha")) == 5
    finally:
        folders.notes.path.chmod(0o755)
