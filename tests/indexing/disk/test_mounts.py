"""The kind of the filesystem of a path, from the mount table alone."""

from __future__ import annotations

import sys

import pytest

from livedex_indexing.disk import mounts

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
def test_a_mount_has_a_kind(path: bytes, kind: str) -> None:
    assert mounts.kind_of_type(mounts.linux_type(path, MOUNTINFO)) == kind


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these filesystems are Linux's")
def test_the_kernels_own_filesystems_are_known_here() -> None:
    assert mounts.mount_kind(b"/proc/self") == "pseudo"
    assert mounts.mount_kind(b"/sys") == "pseudo"


def test_a_mount_that_comes_and_one_that_goes_differ_in_the_table() -> None:
    before = mounts.mount_table(MOUNTINFO)
    line = rb"99 20 0:50 / /home/me/with\040space rw,relatime - tmpfs tmpfs rw" + b"\n"
    assert {mount.point for mount in before ^ mounts.mount_table(MOUNTINFO + line)} == {b"/home/me/with space"}
    assert {mount.point for mount in before ^ mounts.mount_table(MOUNTINFO.replace(b"relatime", b"noatime"))} == set()
