"""Shut this process in before it reads foreign bytes: limits, no network, no other process, one file to read.

Invariant: it only takes away. What the system has no means for is left out, and ``available`` says so beforehand.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from livedex_ipc import resource_limits

ADDRESS_SPACE: Final = 1 << 30  # bytes
FILES: Final = 64
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_FILTER: Final = 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ_FILE, _READ_DIR, _EXECUTE, _WRITE_FILE = 1 << 2, 1 << 3, 1 << 0, 1 << 1
_FS_BITS: Final = {1: 13, 2: 14, 3: 15, 5: 16}  # of each version of landlock: so many kinds of access can be refused
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD: Final = 0x10000
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


class _Calls(NamedTuple):
    """The numbers of system calls on one architecture. ``refused``: sockets, tracing, mounts, signals and the like."""

    arch: int
    refused: tuple[int, ...]
    execute: tuple[int, ...]
    clone: int
    clone3: int
    foreign_from: int | None  # numbers from here on are those of another kind of call


_CALLS: Final = {
    "x86_64": _Calls(
        0xC000003E,
        (41, 42, 43, 44, 49, 50, 53, 57, 58, 62, 101, 155, 161, 165, 166, 200, 248, 249, 250, 272, 288, 298, 308, 310,
         311, 321, 323, 425, 426, 427, 428, 429, 430, 431, 432, 434, 438, 442),
        (59, 322), 56, 435, 0x40000000,
    ),
    "aarch64": _Calls(
        0xC00000B7,
        (39, 40, 41, 51, 97, 117, 129, 130, 198, 199, 200, 201, 202, 203, 206, 217, 218, 219, 241, 242, 268, 270, 271,
         280, 282, 425, 426, 427, 428, 429, 430, 431, 432, 434, 438, 442),
        (221, 281), 220, 435, None,
    ),
}  # fmt: skip


class Means(NamedTuple):
    """What the system has. ``landlock``: its version, 0 without; ``filters``: system calls can be refused.

    ``limits``: what a process uses up can be limited.
    """

    landlock: int
    filters: bool
    limits: bool

    @property
    def missing(self) -> list[str]:
        """Return in words what is not kept from a parser here."""
        found = [] if self.landlock else ["other files of this user (no landlock)"]
        found += [] if self.filters else ["the network and other processes (no seccomp)"]
        return found + ([] if self.limits else ["using up memory and processors (no setrlimit)"])


def available() -> Means:
    """Say what ``enter`` can do here. Changes nothing."""
    limits = resource_limits.can_be_set()
    if sys.platform != "linux":
        return Means(0, False, limits)
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    # A filter without an address: EFAULT where filters are built in, EINVAL where not.
    libc.prctl(_PR_SET_SECCOMP, _FILTER, None, 0, 0)
    return Means(max(0, version), ctypes.get_errno() == 14 and platform.machine() in _CALLS, limits)


def limit(cpu_s: int) -> None:
    """Limit memory, time, files and the size of files that it writes (none)."""
    limits = [
        (resource.RLIMIT_AS, ADDRESS_SPACE),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_FSIZE, 0),
    ]
    for which, most in limits:
        resource_limits.limit(which, most)


def enter(document: str, libraries: Iterable[str], *, may_execute: bool = False) -> None:
    """Keep this process from the network, from other processes, and from all files but ``document`` and ``libraries``.

    It cannot be undone, and what it executes stays inside. ``may_execute``: only files below ``libraries``.
    """
    means = available()
    libc = ctypes.CDLL(None, use_errno=True)
    if means.landlock or means.filters:
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if means.landlock:
        _lock_files(libc, means.landlock, document, libraries)
    if means.filters:
        _filter_calls(libc, _CALLS[platform.machine()], may_execute)


def library_folders() -> list[str]:
    """Return the folders that the interpreter, its packages and programs need, and no user's file lies in."""
    found = {"/usr", "/lib", "/lib64", "/bin", "/nix/store", "/opt", sys.prefix, sys.base_prefix, *sys.path}
    return sorted(path for path in found if path and os.path.exists(path))


def _lock_files(libc: ctypes.CDLL, version: int, document: str, libraries: Iterable[str]) -> None:
    bits = next(count for least, count in sorted(_FS_BITS.items(), reverse=True) if version >= least)
    handled = (1 << bits) - 1
    network = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0  # signals and abstract sockets
    attributes = struct.pack("=QQQ", handled, network, scoped)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock refused its rules")
    _admit(libc, ruleset, document, _READ_FILE)
    for folder in libraries:
        _admit(libc, ruleset, folder, _READ_FILE | _READ_DIR | _EXECUTE if os.path.isdir(folder) else _READ_FILE)
    for path, access in (("/dev/null", _READ_FILE | _WRITE_FILE), ("/dev/urandom", _READ_FILE),
                         ("/etc/ld.so.cache", _READ_FILE), ("/etc/localtime", _READ_FILE)):  # fmt: skip
        _admit(libc, ruleset, path, access)
    if libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) < 0:
        raise OSError(ctypes.get_errno(), "landlock cannot be entered")
    os.close(ruleset)


def _admit(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no leave
    try:
        rule = struct.pack("=Qi", access, handle)
        libc.syscall(_ADD_RULE, ruleset, 1, rule, ctypes.c_uint32(0))
    finally:
        os.close(handle)


def _filter_calls(libc: ctypes.CDLL, calls: _Calls, may_execute: bool) -> None:
    program = b"".join(_program(calls, may_execute))
    buffer = ctypes.create_string_buffer(program, len(program))

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    described = Filter(len(program) // 8, ctypes.cast(buffer, ctypes.c_char_p))
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(described), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the system calls cannot be filtered")


def _program(calls: _Calls, may_execute: bool) -> list[bytes]:
    """Return the filter: an instruction that matches jumps over the next one, or to it."""
    refused: Sequence[int] = calls.refused if may_execute else (*calls.refused, *calls.execute)
    steps = [_step(_LOAD, 4), _step(_EQUAL, calls.arch, 1, 0), _step(_RETURN, _KILL), _step(_LOAD, 0)]
    if calls.foreign_from is not None:
        steps += [_step(_AT_LEAST, calls.foreign_from, 0, 1), _step(_RETURN, _KILL)]
    for number in refused:
        steps += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _ERRNO | _EPERM)]
    steps += [_step(_EQUAL, calls.clone3, 0, 1), _step(_RETURN, _ERRNO | _ENOSYS)]  # glibc then uses clone
    steps += [_step(_EQUAL, calls.clone, 0, 3), _step(_LOAD, 16), _step(_ANY_BIT, _CLONE_THREAD, 1, 0),
              _step(_RETURN, _ERRNO | _EPERM)]  # fmt: skip
    return [*steps, _step(_RETURN, _ALLOW)]


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
