"""Makes calls of the daemon's own process fail or take long, as a test orders: inside it, over a socket, without root.

Invariant: nothing fails without an order, and the calls that carry the orders never fail.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from helpers.fault_injection import with_code
from helpers.support import wait_until

CALLS: Final = ("open", "read", "stat", "getdents", "inotify_add_watch", "write", "rename", "fsync", "exec", "pipe",
                "accept", "connect", "thread")  # fmt: skip

# Runs inside the daemon before anything else. The import system has its own functions, which do not fail.
SEAM = """
import sys
if "livedex_daemon" in sys.orig_argv:
    import errno, json, os, socket, subprocess, threading, time
    plan, lock, local = {}, threading.Lock(), threading.local()
    counts = {"seen": 0, "failed": 0}

    def strike(call, args):
        order = plan.get(call)
        if order is None or getattr(local, "exempt", False):
            return
        path = args[0] if args and isinstance(args[0], (str, bytes)) else ""
        if not os.fsdecode(path).endswith(order["name"]):
            return
        thread = threading.current_thread()
        if order["thread"] and thread.name != order["thread"]:
            return
        if type(thread).__name__ == "InotifyReader":
            return  # the kernel's queue of events lies on no disk
        with lock:
            counts["seen"] += 1
            order["seen"] = seen = order.get("seen", 0) + 1
            first, step, most = order["first"], order["step"], order["most"]
            hit = seen >= first and (seen - first) % step == 0 and order.get("done", 0) < most
            if hit:
                order["done"] = order.get("done", 0) + 1
                counts["failed"] += 1
        if hit and order["delay_s"]:
            time.sleep(order["delay_s"])
        elif hit:
            raise OSError(order["errno"], os.strerror(order["errno"]))

    def failing(call, real):
        def called(*args, **kwargs):
            strike(call, args)
            return real(*args, **kwargs)
        called.real = real
        return called

    for call, names in {
        "open": ("open",), "read": ("read", "pread"), "stat": ("stat", "lstat", "fstat"), "getdents": ("scandir",),
        "write": ("write", "pwrite"), "rename": ("rename", "replace"), "fsync": ("fsync", "fdatasync"),
        "pipe": ("pipe",),
    }.items():
        for name in names:
            setattr(os, name, failing(call, getattr(os, name)))
    subprocess._fork_exec = failing("exec", subprocess._fork_exec)
    def failing_start(real):
        def called(*args, **kwargs):
            try:
                strike("thread", ())
            except OSError:
                raise RuntimeError("can't start new thread") from None
            return real(*args, **kwargs)
        return called

    for name in ("_start_new_thread", "_start_joinable_thread"):
        if hasattr(threading, name):
            setattr(threading, name, failing_start(getattr(threading, name)))
    accept = socket.socket.accept
    socket.socket.accept = failing("accept", accept)
    socket.socket.connect = failing("connect", socket.socket.connect)

    def patch_later():
        from livedex_daemon.watch.inotify_reader import InotifyReader
        from livedex_indexing.disk import beneath
        beneath.has_openat2()
        InotifyReader.watch = failing("inotify_add_watch", InotifyReader.watch)
        beneath.openat2 = failing("open", beneath.openat2)

    def serve(door):
        local.exempt = True
        while True:
            peer, _ = accept(door)
            with peer, peer.makefile("rw") as words:
                for line in words:
                    asked = json.loads(line)
                    if "InotifyReader" not in globals():
                        patch_later()
                        globals()["InotifyReader"] = True
                    with lock:
                        answer = dict(counts)
                        counts.update(seen=0, failed=0)
                        plan.clear()
                        plan.update(asked)
                    words.write(json.dumps(answer) + "\\n")
                    words.flush()

    door = socket.socket(socket.AF_UNIX)
    door.bind(os.environ["FAULTS_SOCKET"])
    door.listen()
    threading.Thread(target=serve, args=(door,), daemon=True).start()
"""


def with_faults(folder: Path, where: Path) -> dict[str, str]:
    """Return the environment of a daemon that takes orders at ``where``, a short path."""
    return {**with_code(folder, SEAM), "FAULTS_SOCKET": str(where)}


class Order:
    """The calls to fail: from the ``first`` call on each ``step``-th one, at most ``most``.

    ``name``: only calls whose first argument is a path that ends so. ``thread``: only calls of the thread of that name.
    """

    def __init__(
        self,
        code: int,
        *,
        first: int = 1,
        step: int = 1,
        most: int = 1 << 30,
        delay_s: float = 0.0,
        name: str = "",
        thread: str = "",
    ) -> None:
        self.plan: dict[str, Any] = {
            "errno": code,
            "first": first,
            "step": step,
            "most": most,
            "delay_s": delay_s,
            "name": name,
            "thread": thread,
        }


class Faults:
    """The orders to one daemon."""

    def __init__(self, where: Path) -> None:
        self._peer = socket.socket(socket.AF_UNIX)
        wait_until(where.exists, what="the seam")
        self._peer.connect(str(where))
        self._words = self._peer.makefile("rw")
        self._say({})

    def close(self) -> None:
        self._words.close()
        self._peer.close()

    def _say(self, plan: dict[str, Any]) -> dict[str, int]:
        self._words.write(json.dumps(plan) + "\n")
        self._words.flush()
        answer: dict[str, int] = json.loads(self._words.readline())
        return answer

    @contextmanager
    def on(self, **orders: Order) -> Iterator[None]:
        """Make calls of these names fail until the end of the block; ``failed`` is then how many did."""
        self._say({call: order.plan for call, order in orders.items()})
        try:
            yield
        finally:
            self.failed = self._say({})["failed"]


def faulty_socket(home: Path) -> Path:
    """Return the path at which a daemon of this home takes orders."""
    return home / f"faults{os.getpid()}"
