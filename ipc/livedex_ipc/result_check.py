"""Says whether an answer has the form that its method promises. A client loads it only after an answer made no sense.

Invariant: what the daemon of this version answers always fits; fields that this version does not know are allowed.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from livedex_ipc import exchange_results, file_results, knowledge_results, memory_entry, wire_results
from livedex_ipc.method_calls import MethodCalls

_TYPES: dict[str, object] = {**vars(memory_entry), **vars(wire_results), **vars(file_results)}
_TYPES |= {**vars(exchange_results), **vars(knowledge_results)}


def is_answer(method: str, result: object) -> bool:
    """Return False if the daemon of this version never answers ``method`` like that; True for an unknown method."""
    call = getattr(MethodCalls, method.replace("/", "_"), None)
    return call is None or _fits(result, get_type_hints(call, _TYPES)["return"], {})


def _fits(value: object, hint: Any, bound: Mapping[Any, Any]) -> bool:
    hint = bound.get(hint, hint) if isinstance(hint, TypeVar) else hint
    origin, inner = get_origin(hint), get_args(hint)
    if is_typeddict(origin or hint):
        return isinstance(value, dict) and _has_fields(value, origin or hint, inner, bound)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each, bound) for each in inner)
    if origin is Literal:
        return isinstance(value, str | int)  # a later version may have more of them
    if origin is list:
        return isinstance(value, list) and all(_fits(each, inner[0], bound) for each in value)
    if origin is tuple:
        return isinstance(value, list)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(_fits(each, inner[1], bound) for each in value.values())
    if hint is Any:  # a class, from Python 3.11 on
        return True
    if hint in (int, float):
        return isinstance(value, int | float)
    return isinstance(value, hint) if isinstance(hint, type) else True


def _has_fields(value: dict[Any, Any], kind: Any, inner: tuple[Any, ...], bound: Mapping[Any, Any]) -> bool:
    known = {**bound, **dict(zip(getattr(kind, "__parameters__", ()), inner, strict=False))}
    for field, hint in get_type_hints(kind, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        if field not in value:
            if not optional:
                return False
        elif not _fits(value[field], get_args(hint)[0] if optional else hint, known):
            return False
    return True
