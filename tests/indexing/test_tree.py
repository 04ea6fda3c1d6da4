"""The user's files, read without blocking, without following, without leaving the root, one state at a time."""

from __future__ import annotations

import os
import socket
import stat as modes
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from livedex_indexing import beneath, mounts, tree
from livedex_indexing.backend import FileState, Stat
from livedex_indexing.paths_text import display_path, from_b64, path_b64
from support import wait_until

MIB = 1 << 20
NOBODY = 65_534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user to be denied, so root to become one")


@pytest.fixture
def root(tmp_path: Path) -> bytes:
    return os.fsencode(tmp_path.resolve())


@pytest.fixture(params=["openat2", "by components"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs with the kernel's call and with the way around it, which every other system takes."""
    way = str(request.param)
    if way == "openat2" and not beneath.has_openat2():
        pytest.skip("this kernel has no openat2")
    monkeypatch.setattr(beneath, "has_openat2", lambda: way == "openat2")
    return way


def put(root: bytes, name: bytes, data: bytes = b"text") -> bytes:
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(os.fsdecode(path)).write_bytes(data)
    return path


@contextmanager
def meanwhile(step: Callable[[int], None]) -> Iterator[None]:
    """Runs the step over and over in a thread for as long as the block lasts."""
    ending = threading.Event()
    failures: list[BaseException] = []

    def run() -> None:
        number = 0
        try:
            while not ending.is_set():
                step(number)
                number += 1
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
    assert failures == []


def in_child(root: bytes, expression: str, uid: int = NOBODY) -> str:
    """The value of an expression about ``tree`` and ``root`` in a process of another user, or its error's name."""
    code = f"""
import os
os.setgid({uid}); os.setuid({uid})
from livedex_indexing import tree
root = {root!r}
try: print(repr({expression}))
except tree.TreeError as error: print(type(error).__name__, error.reason)
"""
    # The interpreter may lie in a folder that the other user may not pass: its modules are read before the change.
    code = code.replace("import os\n", "import os\nfrom livedex_indexing import tree\n", 1)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_scan_tells_every_entry_and_follows_none(root: bytes, both_ways: str) -> None:
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


@pytest.mark.parametrize(
    ("path", "rel"),
    [
        (b"/r/a", b"a"),
        (b"/r", b""),
        (b"/r/", b""),
        (b"/r/a/../b//c/.", b"b/c"),
        (b"//r/a", b"a"),
        (b"/r-evil/a", None),
        (b"/r/../x", None),
        (b"/r/a\0", None),
        (b"r/a", None),
        (b"/", None),
        (b"", None),
        (b"/r/\xff\n", b"\xff\n"),
    ],
)
def test_what_lies_below_a_root_is_told_by_whole_names(path: bytes, rel: bytes | None) -> None:
    assert tree.below(b"/r", path) == rel
    if path == b"/r/a":
        assert tree.below(b"/", path) == b"r/a"
        assert tree.below(b"/", b"/") == b""


def test_a_pipe_or_a_device_is_never_read(root: bytes, both_ways: str) -> None:
    os.mkfifo(os.path.join(root, b"pipe"))
    with pytest.raises(tree.NotRegular) as refused:
        tree.read_file(root, b"pipe", MIB)
    assert (refused.value.kind, refused.value.reason) == ("special", "special")
    assert tree.read_if_unchanged(root, b"pipe", (0, 0, 0, 0)) is None
    with pytest.raises(tree.NotRegular):
        tree.read_head(b"/dev", b"zero", 10)
    with pytest.raises(tree.NotRegular):
        tree.read_file(root, b"", MIB)


def test_a_pipe_that_is_passed_by_is_not_opened(root: bytes, both_ways: str) -> None:
    """A writer that waits for a reader must not be woken by us: opening a pipe is something its owner sees."""
    path = os.path.join(root, b"pipe")
    os.mkfifo(path)
    for _ in range(50):
        with pytest.raises(tree.NotRegular):
            tree.read_file(root, b"pipe", MIB)
        with pytest.raises(OSError, match="No such device"):  # ENXIO: nobody reads
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def test_a_file_that_turns_into_a_pipe_or_a_link_is_never_followed(
    root: bytes, both_ways: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = put(os.fsencode(tmp_path_factory.mktemp("outside")), b"x", b"outside")
    path, beside = put(root, b"d/f", b"inside"), os.path.join(root, b"beside")

    def swap(number: int) -> None:
        match number % 3:
            case 0:
                os.mkfifo(beside)
            case 1:
                os.symlink(outside, beside)
            case 2:
                put(root, b"beside", b"inside")
        os.rename(beside, path)

    with meanwhile(swap):
        for _ in range(3_000):
            with suppress(tree.NotRegular, tree.Vanished, tree.Unsettled):
                assert tree.read_file(root, b"d/f", MIB).data == b"inside"


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_swap_between_the_look_and_the_opening(
    root: bytes, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The moment that the race above may miss, made to happen: it neither blocks nor follows."""
    path = put(root, b"f", b"inside")
    outside = put(os.fsencode(tmp_path_factory.mktemp("outside")), b"x", b"outside")
    real = os.stat

    def swap_after(*args: Any, **options: Any) -> os.stat_result:
        found = real(*args, **options)
        os.unlink(path)
        os.mkfifo(path) if kind == "pipe" else os.symlink(outside, path)
        return found

    monkeypatch.setattr(os, "stat", swap_after)
    with pytest.raises(tree.NotRegular if kind == "pipe" else tree.Vanished):
        tree.read_file(root, b"f", MIB)


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


def test_a_file_over_the_limit_is_not_read(root: bytes) -> None:
    path = put(root, b"sparse", b"")
    os.truncate(path, 100 << 30)
    with pytest.raises(tree.TooLarge) as refused:
        tree.read_file(root, b"sparse", 8 * MIB)
    assert refused.value.stat.size == 100 << 30
    put(root, b"exact", b"12345678")
    assert tree.read_file(root, b"exact", 8).data == b"12345678"
    assert tree.read_head(root, b"exact", 3).data == b"123"
    assert tree.read_head(root, b"exact", 99).data == b"12345678"
    put(root, b"empty", b"")
    assert tree.read_file(root, b"empty", 0).data == b""


def test_a_snapshot_is_never_a_mixture(root: bytes, both_ways: str) -> None:
    """A writer flips the whole file between all A and all B as fast as it can, in place and at the same size."""
    size = 256 * 1024
    versions = [letter * size for letter in (b"A", b"B")]
    put(root, b"f", versions[0])
    fd = os.open(os.path.join(root, b"f"), os.O_WRONLY)
    pure = unsettled = 0

    def read() -> bool:
        nonlocal pure, unsettled
        for _ in range(100):
            try:
                assert tree.read_file(root, b"f", MIB).data in versions
                pure += 1
            except tree.Unsettled:
                unsettled += 1
        return pure > 100 and unsettled > 100

    try:
        with meanwhile(lambda number: [os.pwrite(fd, versions[number % 2], 0)].clear()):
            wait_until(read)
    finally:
        os.close(fd)


def test_a_write_between_two_looks_is_noticed(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size kept and the time put back: only what the kernel keeps by itself can tell."""
    path = put(root, b"f", b"A" * 100)
    monkeypatch.setattr(tree, "YOUNG_NS", 0)  # so that a second read is no help
    real = os.pread

    def tampered(fd: int, length: int, offset: int) -> bytes:
        data = real(fd, length, offset)
        before = os.stat(path)
        put(root, b"f", b"B" * 100) if data.startswith(b"A") else put(root, b"f", b"A" * 100)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return data

    monkeypatch.setattr(os, "pread", tampered)
    with pytest.raises(tree.Unsettled):
        tree.read_file(root, b"f", MIB)


def test_a_young_file_is_read_twice(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two writes in one tick of the filesystem's clock leave the same state behind: only the bytes tell them apart."""
    put(root, b"f", b"A" * 100)
    reads: list[bytes] = [b"A" * 100, b"B" * 100]
    monkeypatch.setattr(os, "pread", lambda fd, length, offset: reads.pop(0))
    with pytest.raises(tree.Unsettled):
        tree.read_file(root, b"f", MIB)
    assert reads == []


def test_a_log_that_grows_is_taken_up_to_its_first_size(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(root, b"log", b"one\n")
    before = tree.stat(root, b"log")
    real = os.pread

    def growing(fd: int, length: int, offset: int) -> bytes:
        with Path(os.fsdecode(path)).open("ab") as log:
            log.write(b"more\n")
        return real(fd, length, offset)

    monkeypatch.setattr(os, "pread", growing)
    snapshot = tree.read_file(root, b"log", MIB)
    assert snapshot.data == b"one\n"
    assert snapshot.stat == before  # the state of the first look, so that the rest is noticed as a change
    assert before is not None
    assert tree.read_if_unchanged(root, b"log", before.state) is None


def test_a_file_cut_short_while_read_is_unsettled(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(root, b"f", b"A" * 100)
    real = os.pread

    def cut(fd: int, length: int, offset: int) -> bytes:
        os.truncate(path, 10)
        return real(fd, length, offset)

    monkeypatch.setattr(os, "pread", cut)
    with pytest.raises(tree.Unsettled):
        tree.read_file(root, b"f", MIB)


def test_the_bytes_are_given_only_for_the_state_asked_for(root: bytes) -> None:
    path = put(root, b"f", b"one")
    state = tree.read_file(root, b"f", MIB).stat.state
    assert tree.read_if_unchanged(root, b"f", state) == b"one"
    assert tree.read_if_unchanged(root, b"f", (*state,)) == b"one"
    times = os.stat(path)
    put(root, b"f", b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # same size, same mtime
    assert tree.read_if_unchanged(root, b"f", state) is None
    os.unlink(path)
    assert tree.read_if_unchanged(root, b"f", state) is None


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
    assert (display_path(rel).encode() if code is None else from_b64(code)) == rel
    assert (code is None) == (b"\xff" not in name)


def test_what_is_not_base64_is_refused() -> None:
    for text in ("a", "===", "é", "YQ==\n", "Y Q=="):
        with pytest.raises(ValueError, match="base64"):
            from_b64(text)


@contextmanager
def nested(root: bytes, name: bytes, depth: int) -> Iterator[int]:
    """A descriptor of the innermost of so many folders; all are gone at the end, for pytest could not remove them."""
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
    """One that stayed open would keep a filesystem from being unmounted."""
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


@as_root
def test_what_may_not_be_read_is_denied(root: bytes, both_ways: str) -> None:
    for folder in Path(os.fsdecode(root)).parents:
        if folder != Path("/") and folder.stat().st_uid == os.geteuid() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | modes.S_IXOTH)
    os.chmod(root, 0o755)
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


MOUNTINFO = b"""\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:21 / /proc rw shared:13 - proc proc rw
24 22 0:22 / /sys rw - sysfs sysfs rw
25 22 0:5 / /dev rw - devtmpfs udev rw
26 22 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
30 22 0:40 / /mnt/my\\040share rw - nfs4 server:/x rw
31 22 0:41 / /mnt/phone rw - fuse.sshfs host:/ rw
32 22 8:2 / /mnt/disk rw - fuseblk /dev/sdb1 rw
33 22 0:43 / /mnt/disk/over rw - cifs //x/y rw
34 33 0:44 / /mnt/disk/over rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (b"/home/x", "local"),
        (b"/", "local"),
        (b"/proc", "pseudo"),
        (b"/proc/self/x", "pseudo"),
        (b"/process", "local"),
        (b"/sys/fs/cgroup/a", "pseudo"),
        (b"/dev/shm", "pseudo"),
        (b"/mnt/my share/doc", "network"),
        (b"/mnt/my", "local"),
        (b"/mnt/phone", "network"),
        (b"/mnt/disk/a", "local"),
        (b"/mnt/disk/over/a", "local"),  # the last of two on one point hides the first
    ],
)
def test_a_mount_tells_its_kind(path: bytes, kind: str) -> None:
    assert mounts.kind_of_type(mounts.linux_type(path, MOUNTINFO)) == kind


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these filesystems are Linux's")
def test_the_kernels_own_filesystems_are_known_here() -> None:
    assert mounts.mount_kind(b"/proc/self") == "pseudo"
    assert mounts.mount_kind(b"/sys") == "pseudo"


def test_a_writer_is_not_held_up(root: bytes) -> None:
    """Reading takes no lock or lease that a writer would feel."""
    path = put(root, b"f", b"0" * MIB)
    writes = []

    def write(number: int) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        writes.append(os.pwrite(fd, b"%d" % (number % 10), 0))
        os.close(fd)

    with meanwhile(write):
        for _ in range(50):
            tree.read_head(root, b"f", MIB)
        wait_until(lambda: len(writes) > 50)
