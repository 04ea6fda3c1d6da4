"""Checks the params of a request against those of its method, and describes a fault in one sentence.

Invariant: checked params are exactly the method's, each of its type and in its range, with text that can be encoded as
UTF-8, and a value (the default, or None) for each that was not sent; anything else is InvalidParams naming one field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from livedex_ipc.errors import InvalidParams

MAX_ITEMS = 1000  # entries of one list param
MAX_PATH_BYTES = 16_384
MAX_OBJECT_BYTES = 64 * 1024  # of one object param, as JSON
MAX_OBJECT_LEVELS = 100  # of one inside the other: how many can be written and read depends on who does it
MAX_INTEGER = 2**53 - 1  # the largest integer that every JSON parser reads exactly
B64 = "_b64"  # `path_b64` is a `path` that is not UTF-8, as base64; it takes precedence over `path`

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)


class Param(NamedTuple):
    """One named param. ``minimum`` and ``maximum`` bound an integer, or the length of a string in characters."""

    name: str
    type: str  # a key of _CHECKS
    doc: str
    required: bool = False
    default: Any = None
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] | None = None  # of the string, or of each string of the list


def path_params(
    name: str, doc: str, *, required: bool = False, many: bool = False, default: list[str] | None = None
) -> tuple[Param, Param]:
    """Return a param that takes a path (or a list of paths), and its ``…_b64`` twin."""
    kind = "paths" if many else "path"
    twin = f"`{name}` as base64, where its bytes are not UTF-8; ranks above it"
    return (
        Param(name, kind, doc, required=required, default=default),
        Param(name + B64, kind + B64, twin, default=default),
    )


def path_bytes(params: Mapping[str, Any], name: str = "path") -> bytes | None:
    """Return the absolute path in checked params, from ``name`` or its ``_b64`` twin; None if neither was sent."""
    encoded = params.get(name + B64)
    if encoded is not None:
        return _from_base64(encoded)
    text = params.get(name)
    return None if text is None else text.encode()


def required_path(params: Mapping[str, Any]) -> bytes:
    """Return the absolute path in checked params. Raise InvalidParams if none was sent."""
    path = path_bytes(params)
    if path is None:
        raise InvalidParams("the param 'path' is missing: give an absolute path", {"field": "path"})
    return path


def paths_bytes(params: Mapping[str, Any], name: str = "paths") -> list[bytes] | None:
    """Return the absolute paths in checked params, from ``name`` and its ``_b64`` twin; None if neither was sent."""
    plain, encoded = params.get(name), params.get(name + B64)
    if plain is None and encoded is None:
        return None
    return [text.encode() for text in plain or ()] + [_from_base64(text) for text in encoded or ()]


def check(method: str, known: Mapping[str, Param], params: Any) -> dict[str, Any]:
    """Check ``params`` of a request to ``method`` and return them with defaults, in new lists. Raises InvalidParams."""
    given = {} if params is None else params
    if not isinstance(given, dict):
        raise InvalidParams(f"params of {method} are named: send an object, not {describe(given)}", {"field": "params"})
    for name in given:
        if name not in known:
            raise _unknown(method, name, known)
    checked: dict[str, Any] = {}
    for name, param in known.items():
        if name in given:
            value = given[name]
            _CHECKS[param.type](param, value)
            checked[name] = value
        elif param.required and name + B64 not in given:
            raise InvalidParams(f"{method} needs the param {name!r}: {param.doc}", {"field": name})
        else:
            checked[name] = list(param.default) if isinstance(param.default, list) else param.default
    return checked


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known word most like ``word``, or None if no similarity reaches ``cutoff`` (0 to 1)."""
    if len(word) > 100:  # difflib is quadratic, and nobody mistypes by that much
        return None
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return found[0] if found else None


def shown(text: str) -> str:
    """Return ``text`` quoted for a message: short, on one line, and ASCII whatever it contains."""
    return ascii(text if len(text) <= 100 else text[:100] + "…")


def is_too_deep(value: Any) -> bool:
    """Whether a JSON value has more than ``MAX_OBJECT_LEVELS`` objects and lists, one inside the other."""
    level = [value]
    for _ in range(MAX_OBJECT_LEVELS + 1):
        level = [each for each in level if isinstance(each, dict | list)]
        if not level:
            return False
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return True


def describe(value: Any) -> str:
    """Describe a JSON value in a message: the value itself if short, else its type and length."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return shown(value) if len(value) <= 60 else f"a string of {len(value)}"
    if isinstance(value, int):
        # Printing an integer of thousands of digits raises ValueError.
        return str(value) if abs(value) <= MAX_INTEGER else "an integer out of range"
    if isinstance(value, float):
        return repr(value)
    return "a list" if isinstance(value, list) else "an object"


def parse_time(text: str) -> int:
    """Return an RFC 3339 time with a zone as nanoseconds since the epoch: further digits do not count. Raises
    ValueError for any other text."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError("not an RFC 3339 time")
    from datetime import datetime, timedelta, timezone

    *parts, fraction, sign, hours, minutes = found.groups()
    year, month, day, hour, minute, second = map(int, parts)
    offset = timedelta(hours=int(hours), minutes=int(minutes)) if sign else timedelta()
    zone = timezone(-offset if sign == "-" else offset)
    leap = second == 60  # allowed by the standard, unknown to datetime
    moment = datetime(year, month, day, hour, minute, 59 if leap else second, tzinfo=zone)
    return (int(moment.timestamp()) + leap) * 10**9 + int((fraction or "").ljust(9, "0"))


def _unknown(method: str, name: str, known: Iterable[str]) -> InvalidParams:
    like = nearest(name, known)
    hint = f"; did you mean {like!r}?" if like else ""
    field = name.encode("utf-8", "replace").decode()[:200]
    return InvalidParams(f"{method} has no param {shown(name)}{hint}", {"field": field, "nearest": like})


def _fault(param: Param, value: Any, expected: str, field: str | None = None) -> InvalidParams:
    where = field or param.name
    return InvalidParams(f"{where} must be {expected}, not {describe(value)}", {"field": where})


def _check_integer(param: Param, value: Any) -> None:
    low = -MAX_INTEGER if param.minimum is None else param.minimum
    high = MAX_INTEGER if param.maximum is None else param.maximum
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise _fault(param, value, f"an integer from {low} to {high}")


def _check_boolean(param: Param, value: Any) -> None:
    if not isinstance(value, bool):
        raise _fault(param, value, "true or false")


def _check_string(param: Param, value: Any, field: str | None = None) -> None:
    if not isinstance(value, str):
        raise _fault(param, value, "a string", field)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _fault(param, value, "text: it contains half of a surrogate pair", field) from None
    if param.choices is not None and value not in param.choices:
        like = nearest(value, param.choices)
        error = _fault(param, value, f"one of {', '.join(param.choices)}", field)
        error.data = {"field": field or param.name, "nearest": like}
        raise error
    low, high = param.minimum or 0, param.maximum
    if len(value) < low or (high is not None and len(value) > high):
        most = "or more" if high is None else f"to {high}"
        raise _fault(param, value, f"a string of {low} {most} characters", field)


def _check_strings(param: Param, value: Any) -> None:
    for index, item in enumerate(_items(param, value)):
        _check_string(param, item, f"{param.name}[{index}]")


def _check_path(param: Param, value: Any, field: str | None = None) -> None:
    _check_string(param, value, field)
    if not value.startswith("/") or "\0" in value:
        raise _fault(param, value, "an absolute path", field)
    _check_length(param, value.encode(), field)


def _check_paths(param: Param, value: Any) -> None:
    for index, item in enumerate(_items(param, value)):
        _check_path(param, item, f"{param.name}[{index}]")


def _check_path_b64(param: Param, value: Any, field: str | None = None) -> None:
    _check_string(param, value, field)
    try:
        raw = _from_base64(value)
    except ValueError:
        raise _fault(param, value, "an absolute path in base64", field) from None
    if not raw.startswith(b"/") or b"\0" in raw:
        raise _fault(param, value, "an absolute path in base64", field)
    _check_length(param, raw, field)


def _check_length(param: Param, path: bytes, field: str | None) -> None:
    """Raise InvalidParams for a path of so many folders that to look at each would take too long."""
    if len(path) > MAX_PATH_BYTES:
        message = f"{field or param.name} has {len(path):,} bytes; a path has at most {MAX_PATH_BYTES:,} bytes"
        raise InvalidParams(message, {"field": field or param.name})


def _check_paths_b64(param: Param, value: Any) -> None:
    for index, item in enumerate(_items(param, value)):
        _check_path_b64(param, item, f"{param.name}[{index}]")


def _check_time(param: Param, value: Any) -> None:
    _check_string(param, value)
    try:
        parse_time(value)
    except (ValueError, OverflowError):
        raise _fault(param, value, "an RFC 3339 time with a zone, like 2026-01-31T12:00:00Z") from None


def _check_token(param: Param, value: Any) -> None:
    if isinstance(value, str):
        _check_string(param, value)
    elif isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_INTEGER:
        raise _fault(param, value, "a string or an integer")


def _check_object(param: Param, value: Any, field: str | None = None) -> None:
    if not isinstance(value, dict):
        raise _fault(param, value, "an object", field)
    if is_too_deep(value):
        raise _fault(param, value, f"an object of at most {MAX_OBJECT_LEVELS} levels", field)
    import json

    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        raise _fault(param, value, "text: it contains half of a surrogate pair", field) from None
    if size > MAX_OBJECT_BYTES:
        where = field or param.name
        raise InvalidParams(f"{where} has {size} bytes; at most {MAX_OBJECT_BYTES} are taken", {"field": where})


def _check_follow_up(param: Param, value: Any) -> None:
    if not isinstance(value, dict):
        raise _fault(param, value, "an object")
    for name in ("topic", "body"):
        _check_string(param, value.get(name), f"{param.name}.{name}")
    if value.get("metadata") is not None:
        _check_object(param, value["metadata"], f"{param.name}.metadata")
    unknown = value.keys() - {"topic", "body", "metadata"}
    if unknown:
        field = f"{param.name}.{shown(min(unknown))}"
        raise InvalidParams(f"{param.name} has no {shown(min(unknown))}", {"field": field})


def _items(param: Param, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _fault(param, value, "a list of strings")
    if len(value) > MAX_ITEMS:
        raise InvalidParams(
            f"{param.name} has {len(value)} entries; at most {MAX_ITEMS} are taken", {"field": param.name}
        )
    return value


def _from_base64(text: str) -> bytes:
    from binascii import a2b_base64

    return a2b_base64(text.encode("ascii"), strict_mode=True)


_CHECKS: dict[str, Callable[[Param, Any], None]] = {
    "integer": _check_integer,
    "boolean": _check_boolean,
    "string": _check_string,
    "strings": _check_strings,
    "path": _check_path,
    "paths": _check_paths,
    "path_b64": _check_path_b64,
    "paths_b64": _check_paths_b64,
    "time": _check_time,
    "token": _check_token,
    "object": _check_object,
    "follow_up": _check_follow_up,
}
