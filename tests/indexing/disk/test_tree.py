"""The user's tree is listed and described without following links or leaving the root, with any names."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.other_user import NOBODY
from helpers.raw_entries import MIB, meanwhile, put
from helpers.support import remove_tree
from livedex_indexing.disk import tree
from livedex_indexing.model import FileState, Stat
from livedex_indexing.path_text import display_path, path_b64

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user to be denied, so root to become one")


def in_child(root: bytes, expression: str, uid: int = NOBODY) -> str:
    """Return the value of an expression with ``tree`` and ``root`` in another user's process, or its error's name."""
    code = f"""
import os
os.setgid({uid}); os.setuid({uid})
from livedex_indexing.disk import tree
root = {root!r}
try: print(repr({expression}))
except tree.TreeError as error: print(type(error).__name__, error.reason)
"""
    # The other user may have no access to the interpreter's folder: its modules are read before the change.
    code = code.replace("import os\n", "import os\nfrom livedex_indexing.disk import tree\n", 1)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_scan_lists_every_entry_and_follows_none(root: bytes, both_ways: str) -> None:
    put(root, b"f", b"12345")
    put(root, b"d/inside")
    os.symlink(b"d", os.path.join(root, b"link"))
    os.symlink(b"nowhere", os.path.join(root, b"dangling"))
    os.mkfifo(os.path.join(root, b"pipe"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.join(root, b"s"))
        entries = tree.scan(root, b"")
    kinds = {name: stat.kind for name, stat in entries}
    assert kinds == {
        **{
            b"d": "folder",
            b"dangling": "symlink",
            b"f": "file",
            b"link": "symlink",
            b"pipe": "special",
            b"s": "special",
        }
    }
    assert [name for name, _ in entries] == sorted(kinds)
    assert dict(entries)[b"f"] == tree.stat(root, b"f")
    assert dict(entries)[b"f"].size == 5
    with pytest.raises(tree.Missing):
        tree.scan(root, b"link")
    with pytest.raises(tree.Missing):
        tree.scan(root, b"f")


def test_a_stat_describes_the_entry_itself(root: bytes, both_ways: str) -> None:
    path = put(root, b"a/b/f", b"123")
    os.symlink(b"f", os.path.join(root, b"a/b/link"))
    found = os.lstat(path)
    described = Stat("file", 3, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev, found.st_mode)
    assert tree.stat(root, b"a/b/f") == described
    assert described.state == FileState(3, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    assert (found_link := tree.stat(root, b"a/b/link")) is not None and found_link.kind == "symlink"
    assert (found_root := tree.stat(root, b"")) is not None and found_root.kind == "folder"
    for gone in (b"a/b/none", b"none/none", b"a/b/f/under", b"n" * 300):
        assert tree.stat(root, gone) is None
    assert tree.stat(root + b"/none", b"") is None
    assert tree.stat_names(root, b"a/b", [b"f", b"none"]) == {b"f": described}


def test_a_time_that_is_too_late_is_the_latest(root: bytes) -> None:
    """After 2262, of what 64 bits of nanoseconds can say: filters and orders by time compare it."""
    path = put(root, b"f")
    before = os.stat(path).st_mtime_ns
    os.utime(path, ns=(before, before + 300 * 365 * 86_400 * 10**9))
    found = tree.stat(root, b"f")
    assert found is not None and before < found.mtime_ns < 1 << 63


def test_nothing_is_reached_through_a_link(
    root: bytes, both_ways: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = os.fsencode(tmp_path_factory.mktemp("outside"))
    put(outside, b"deep/secret", b"outside")
    put(root, b"a/f")
    for link in (b"out", b"a/out"):
        os.symlink(outside, os.path.join(root, link))
    os.symlink(b"..", os.path.join(root, b"a/up"))
    for rel in (b"out/deep/secret", b"a/out/deep/secret", b"a/up/a/f"):
        assert tree.stat(root, rel) is None
        with pytest.raises(tree.Vanished):
            tree.read_file(root, rel, MIB)
        assert tree.read_if_unchanged(root, rel, (0, 0, 0, 0)) is None
    for rel in (b"out", b"out/deep", b"a/out/deep", b"a/up"):
        with pytest.raises(tree.Missing):
            tree.scan(root, rel)
    with pytest.raises(tree.NotRegular) as refused:
        tree.read_file(root, b"out", MIB)
    assert refused.value.kind == "symlink"


@pytest.mark.parametrize(
    "rel", [b"..", b"../x", b"a/../../x", b"/etc/passwd", b"a//b", b"a/", b"./a", b"a\0b", b"a/.", b"/"]
)
def test_a_path_that_is_not_relative_is_refused(root: bytes, rel: bytes) -> None:
    put(root, b"a/b")
    for ask in (tree.stat, tree.scan, lambda root, rel: tree.read_file(root, rel, MIB)):
        with pytest.raises(ValueError, match="not a path relative to a root"):
            ask(root, rel)


def test_a_folder_that_turns_into_a_link_is_never_passed(
    root: bytes, both_ways: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = os.fsencode(tmp_path_factory.mktemp("outside"))
    put(outside, b"sub/f", b"outside")
    put(outside, b"sub/only outside")
    put(root, b"real/sub/f", b"inside")
    link, folder = os.path.join(root, b"link"), os.path.join(root, b"real")
    at = os.path.join(root, b"d")
    os.symlink(outside, link)
    os.rename(folder, at)

    def swap(number: int) -> None:
        os.rename(at, folder if number % 2 == 0 else link)
        os.rename(link if number % 2 == 0 else folder, at)

    seen = 0
    with meanwhile(swap):
        for _ in range(3_000):
            try:
                assert tree.read_file(root, b"d/sub/f", MIB).data == b"inside"
                seen += 1
                assert [name for name, _ in tree.scan(root, b"d/sub")] == [b"f"]
            except (tree.Vanished, tree.Missing):
                pass
            assert tree.stat(root, b"d/sub/only outside") is None
    assert seen > 0


@pytest.mark.parametrize(
    "name", [b"bad\xff.txt", b"new\nline", b"tab\t\"'\\", b"-rf", b" ", b"\xe2\x80\xae", b"n" * 255]
)
def test_any_name_is_a_name(root: bytes, both_ways: str, name: bytes) -> None:
    put(root, name + b"/" + name, b"x")
    assert [found for found, _ in tree.scan(root, b"")] == [name]
    rel = name + b"/" + name
    assert tree.read_file(root, rel, MIB).data == b"x"
    assert display_path(rel).encode("utf-8")
    code = path_b64(rel)
    assert (display_path(rel).encode() if code is None else base64.b64decode(code, validate=True)) == rel
    assert (code is None) == (b"\xff" not in name)


@contextmanager
def nested(root: bytes, name: bytes, depth: int) -> Iterator[int]:
    """Yield a descriptor of the innermost of that many folders; remove all at the end, because pytest cannot."""
    here = os.open(root, os.O_DIRECTORY)
    try:
        for _ in range(depth):
            os.mkdir(name, dir_fd=here)
            below = os.open(name, os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)
        subprocess.run(["rm", "-rf", os.path.join(root, name)], check=True)


def test_a_path_longer_than_the_kernel_takes_is_walked(root: bytes, both_ways: str) -> None:
    name, depth = b"d" * 200, 30  # 6,000 bytes
    with nested(root, name, depth) as innermost:
        fd = os.open(b"f", os.O_CREAT | os.O_WRONLY, dir_fd=innermost)
        os.write(fd, b"deep")
        os.close(fd)
        rel = b"/".join([name] * depth)
        assert [found for found, _ in tree.scan(root, rel)] == [b"f"]
        assert tree.read_file(root, rel + b"/f", MIB).data == b"deep"
        found = tree.stat(root, rel + b"/f")
        assert found is not None and found.size == 4


def test_a_thousand_folders_deep(root: bytes, both_ways: str) -> None:
    depth = 0
    with nested(root, b"d", 1_200):
        folder = b""
        while entries := tree.scan(root, folder):
            folder = folder + b"/" + entries[0][0] if folder else entries[0][0]
            depth += 1
    assert depth == 1_200


def test_no_descriptor_is_left_open(root: bytes, both_ways: str) -> None:
    """An open descriptor would keep a filesystem from being unmounted."""
    put(root, b"a/b/f")
    os.mkfifo(os.path.join(root, b"pipe"))
    before = os.listdir("/dev/fd")
    tree.scan(root, b"a/b")
    tree.read_file(root, b"a/b/f", MIB)
    assert tree.stat(root, b"a/none/f") is None
    with pytest.raises(tree.NotRegular):
        tree.read_file(root, b"pipe", MIB)
    with pytest.raises(tree.Missing):
        tree.scan(root, b"a/b/f/g")
    assert len(os.listdir("/dev/fd")) == len(before)


@pytest.fixture
def common_root() -> Iterator[bytes]:
    """An empty folder that every user may enter. Each run of pytest closes the parent of ``tmp_path`` to others."""
    path = Path(tempfile.mkdtemp(dir=os.path.realpath("/tmp")))
    path.chmod(0o755)
    yield os.fsencode(path)
    remove_tree(path)


@as_root
def test_what_may_not_be_read_is_denied(common_root: bytes, both_ways: str) -> None:
    root = common_root
    os.chmod(put(root, b"shut"), 0o000)
    put(root, b"closed/f")
    os.chmod(os.path.join(root, b"closed"), 0o000)
    put(root, b"unlistable/f")
    os.chmod(os.path.join(root, b"unlistable"), 0o711)
    put(root, b"impassable/f")
    os.chmod(os.path.join(root, b"impassable"), 0o744)
    put(root, b"open", b"fine")
    assert in_child(root, "tree.read_file(root, b'open', 99).data") == "b'fine'"
    for denied in (
        "tree.read_file(root, b'shut', 99)",
        "tree.read_file(root, b'closed/f', 99)",
        "tree.stat(root, b'closed/f')",
        "tree.scan(root, b'closed')",
        "tree.scan(root, b'unlistable')",
        "tree.scan(root, b'impassable')",
        "tree.read_file(root, b'impassable/f', 99)",
    ):
        assert in_child(root, denied) == "Denied denied", denied
    assert in_child(root, "tree.read_file(root, b'unlistable/f', 99).data") == "b'text'"
    assert in_child(root, "tree.stat(root, b'shut').size") == "4"
    assert in_child(root, "tree.read_if_unchanged(root, b'shut', (0, 0, 0, 0))") == "None"


def test_an_entry_that_goes_while_the_folder_is_listed_is_left_out(root: bytes) -> None:
    for number in range(200):
        put(root, b"%d" % number)

    def churn(number: int) -> None:
        path = put(root, b"x%d" % (number % 7))
        os.unlink(path)

    with meanwhile(churn):
        for _ in range(200):
            names = {name for name, _ in tree.scan(root, b"")}
            assert {b"%d" % number for number in range(200)} <= names
