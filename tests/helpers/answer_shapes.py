"""Compares an answer with the fields and types of the contract, and reports each difference with its place.

Invariant: a field that the contract does not name is a fault, like one that is missing or of another type.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

TIME = "a time"  # RFC 3339 in UTC with at least milliseconds
ANY = "anything"
Shape = Any  # a type, None, TIME, ANY, a tuple of alternatives, [shape of each element] or {name: shape}

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z")


def faults(value: Any, shape: Shape, at: str = "") -> list[str]:
    """Return the differences, each with its place. A ``?`` after a field's name: it may be absent."""
    if isinstance(shape, tuple):
        found = [faults(value, alternative, at) for alternative in shape]
        return [] if [] in found else found[0]
    if isinstance(shape, dict):
        return _faults_of_object(value, shape, at)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{at} is no list: {value!r}"]
        return [fault for number, item in enumerate(value) for fault in faults(item, shape[0], f"{at}[{number}]")]
    return [] if _fits(value, shape) else [f"{at} is {value!r}, not {shape}"]


def _faults_of_object(value: Any, shape: dict[str, Shape], at: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{at} is no object: {value!r}"]
    fields = {name.removesuffix("?"): inner for name, inner in shape.items()}
    found = [f"{at}.{name} is not documented" for name in value if name not in fields]
    found += [f"{at}.{name} is missing" for name in shape if not name.endswith("?") and name not in value]
    for name, inner in fields.items():
        if name in value:
            found += faults(value[name], inner, f"{at}.{name}")
    return found


def _fits(value: Any, shape: Shape) -> bool:
    if shape == ANY:
        return True
    if shape == TIME:
        return isinstance(value, str) and bool(_TIME.fullmatch(value)) and bool(datetime.fromisoformat(value))
    if shape is None:
        return value is None
    if shape is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if shape is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(shape, type):
        return isinstance(value, shape)
    return bool(value == shape)
