"""Turns the texts of a command line into the values the socket's methods take.

A path keeps its bytes, whatever they are; a text that is not UTF-8 has its broken bytes replaced, since JSON holds
none.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def convert(kind: str, text: str) -> Any:
    """`text` as a value of `kind`: `text`, `integer`, `seconds` (milliseconds come back), `time` or `path`.

    Raises ValueError, with a text for people.
    """
    return _CONVERTERS[kind](text)


def _text(text: str) -> str:
    return os.fsencode(text).decode("utf-8", "replace")


def _integer(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def _seconds(text: str) -> int:
    number = text.replace(".", "", 1)
    if not (number.isascii() and number.isdecimal() and len(number) <= 15):
        raise ValueError(f"{text!r} is no number of seconds, such as 5 or 0.5")
    return -int(-float(text) * 1000 // 1)


def _time(text: str) -> str:
    import time

    from livedex_ipc.cli.times import parse_time

    return parse_time(text, time.time())


def absolute_path(text: str) -> bytes:
    """`text`, as the shell gave it, as an absolute path from the working folder. Raises ValueError.

    Links stay as they are (`why LINK` speaks of the link), but what stands before a `..` is resolved: cutting it off
    by name alone would go wrong behind a link to a folder.
    """
    path = os.fsencode(text)
    if not path:
        raise ValueError("a path is empty")
    try:
        path = os.path.join(os.getcwdb(), path) if not path.startswith(b"/") else path
    except OSError as error:
        raise ValueError(f"{text!r} is relative, and the working folder is gone") from error
    *parents, last = path.rstrip(b"/").split(b"/")
    if last == b"..":
        return os.path.realpath(path)
    if b".." in parents:
        return os.path.join(os.path.realpath(b"/".join(parents)), last)
    return os.path.normpath(b"/" + path.lstrip(b"/"))


def wire_path(path: bytes, name: str = "path") -> dict[str, str]:
    """A path as a method takes it: under `name`, and where it is not UTF-8 its bytes under `name`_b64 too."""
    try:
        return {name: path.decode()}
    except UnicodeDecodeError:
        return {name: path.decode("utf-8", "replace"), name + "_b64": _base64(path)}


def wire_paths(paths: list[bytes], name: str = "paths") -> dict[str, list[str]]:
    """Paths as a method takes a list of them: each under `name`, or where it is not UTF-8 under `name`_b64 instead."""
    params: dict[str, list[str]] = {}
    for path in paths:
        try:
            params.setdefault(name, []).append(path.decode())
        except UnicodeDecodeError:
            params.setdefault(name + "_b64", []).append(_base64(path))
    return {key: values for key, values in params.items() if values}


def _base64(path: bytes) -> str:
    from binascii import b2a_base64

    return b2a_base64(path, newline=False).decode()


_CONVERTERS: dict[str, Callable[[str], Any]] = {
    "text": _text,
    "integer": _integer,
    "seconds": _seconds,
    "time": _time,
    "path": absolute_path,
}
