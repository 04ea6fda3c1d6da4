"""Clocks that jump: no decision about changes depends on the time of day."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.support import Daemon, Tree, add_root, found, wait_until

if sys.platform != "linux":
    pytest.skip("the shim is for Linux's libraries", allow_module_level=True)

DAY = 86_400
# Adds the seconds in the file $SKEW to the wall clock, at every call. The monotonic clock is unchanged.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long skew(void) {
    char text[32] = {0};
    const char *path = getenv("SKEW");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
    close(file);
    return atol(text);
}

int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, at);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += skew();
    return result;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""


@pytest.fixture
def shim(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a process whose wall clock follows the file ``skew``."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler to build the clock with")
    (tmp_path / "shim.c").write_text(SHIM)
    built, source = str(tmp_path / "shim.so"), str(tmp_path / "shim.c")
    command = [compiler, "-shared", "-fPIC", "-o", built, source, "-ldl"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("the clock cannot be built here")
    (tmp_path / "skew").write_text("0")
    return {"LD_PRELOAD": str(tmp_path / "shim.so"), "SKEW": str(tmp_path / "skew")}


def test_the_clock_jumps_under_a_running_daemon(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path, shim: dict[str, str]
) -> None:
    tree.write_all({f"f{number}.txt": f"stayword{number}x\n" for number in range(30)})
    daemon = start_daemon('[watch]\nreconcile_every = "1s"\n', **shim)
    with daemon.client() as client:
        add_root(client, tree)
        chunked = client.call("status")["work"]["files_chunked"]
        for number, skew in enumerate((0, -DAY, 3650 * DAY, -20 * 365 * DAY, 0)):
            (tmp_path / "skew").write_text(str(skew))
            (root,) = client.call("roots/list")["roots"]
            for turn in range(5):
                word = f"clockword{number}a{turn}a"
                path = tree.write("a.txt", word)
                assert found(client, word) == ["a.txt"]
                before = path.stat()
                other = word.replace("clock", "watch")
                path.write_text(other)
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
                assert found(client, other) == ["a.txt"]
                assert found(client, word) == []
                path.write_text("")
                assert found(client, other) == []
                path.unlink()
            assert found(client, "stayword7x") == ["f7.txt"]
            assert root["state"] == "online"
        assert client.call("sync")["synced"]
        changed = client.call("status")["work"]["files_chunked"] - chunked
        assert changed <= 5 * 5 * 2, "what did not change is not chunked again"
        assert client.call("index/audit", {})["differences"] == []
        assert client.call("status")["state"] == "ready"


def test_another_time_at_the_next_start(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path, shim: dict[str, str]
) -> None:
    """The entries of a present root are kept, however old they seem."""
    tree.write_all({f"f{number}.txt": f"stayword{number}x\n" for number in range(30)})
    daemon = start_daemon(**shim)
    with daemon.client() as client:
        add_root(client, tree)
    for number, skew in ((3, -DAY), (4, 3650 * DAY)):
        daemon.stop()
        path = tree / f"f{number}.txt"
        before = path.stat()
        path.write_text(f"movdword{number}x\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        (tmp_path / "skew").write_text(str(skew))
        daemon.start()
        with daemon.client() as client:
            assert found(client, f"movdword{number}x") == [f"f{number}.txt"]
            assert found(client, f"stayword{number}x") == []
            assert found(client, "stayword8x") == ["f8.txt"]
            assert client.call("status")["work"]["files_chunked"] == 1


def test_a_machine_that_slept_compares_its_roots(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path, shim: dict[str, str]
) -> None:
    """After sleep the wall clock is ahead of the monotonic one, which stopped meanwhile."""
    tree.write("a.txt", "one")
    daemon = start_daemon('[watch]\nreconcile_every = "10h"\n', **shim)
    with daemon.client() as client:
        add_root(client, tree)
        (before,) = client.call("roots/list")["roots"]
        (tmp_path / "skew").write_text("3600")
        wait_until(lambda: client.call("roots/list")["roots"][0]["last_reconciled"] != before["last_reconciled"])
