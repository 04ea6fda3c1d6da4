"""Converts the words of a command line to the values that the daemon's methods take.

A path keeps its exact bytes; any other text must be UTF-8, since JSON cannot express other bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any


def convert(kind: str, text: str) -> Any:
    """Convert ``text`` to ``kind``: ``text``, ``integer``, ``seconds`` (milliseconds), ``object``, ``time``, ``path``.

    Raises ValueError with a message for people.
    """
    return _CONVERTERS[kind](text)


def _text(text: str) -> str:
    try:
        return os.fsencode(text).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"must be UTF-8 text: {error}") from None


def _integer(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise ValueError(f"{text!r} is not a whole number of at most 18 digits")
    return int(text)


def _seconds(text: str) -> int:
    number = text.replace(".", "", 1)
    if not (number.isascii() and number.isdecimal() and len(number) <= 15):
        raise ValueError(f"{text!r} is not a number of seconds, such as 5 or 0.5")
    return -int(-float(text) * 1000 // 1)


def _object(text: str) -> Any:
    from livedex_ipc.errors import ParseError
    from livedex_ipc.framing import parse
    from livedex_ipc.params import is_too_deep, shown

    try:
        found = parse(_text(text).encode())  # as strictly as the daemon will
    except ParseError:
        found = None
    if not isinstance(found, dict) or is_too_deep(found):
        raise ValueError(f'{shown(text)} is not a JSON object, such as {{"key": 1}}')
    return found


def _time(text: str) -> str:
    import time

    from livedex_ipc.cli.times import parse_time

    return parse_time(text, time.time())


def absolute_path(text: str) -> bytes:
    """Return ``text``, as the shell passed it, as an absolute path from the working folder. Raises ValueError.

    Links are kept (``why LINK`` explains the link), but the part before a ``..`` is resolved: removing it by name alone
    would be wrong after a link to a folder.
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
    """Return a path as params of a method: as ``name``, and also as ``name_b64`` (base64) if it is not UTF-8."""
    try:
        return {name: path.decode()}
    except UnicodeDecodeError:
        return {name: path.decode("utf-8", "replace"), name + "_b64": _base64(path)}


def wire_paths(paths: list[bytes], name: str = "paths") -> dict[str, list[str]]:
    """Return paths as params of a method: each in the list ``name``, or in ``name_b64`` (base64) if it is not UTF-8."""
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
    "object": _object,
    "time": _time,
    "path": absolute_path,
}
