"""The types of params and results agree with the table of methods."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable
from typing import Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints

import pytest

from helpers.wire_types import PARAMS, RESULTS
from livedex_ipc import file_results, request_params, wire_results
from livedex_ipc.memory_entry import JsonObject
from livedex_ipc.method_types import Field
from livedex_ipc.methods import HIT, METHODS, NOTIFICATIONS
from livedex_ipc.params import B64, Param

CHANGES: dict[str, Any] = {"search/changed": wire_results.SearchChanged, "$/progress": wire_results.Progress}
# The meaning of ``F`` in a result.
ELEMENTS: dict[str, Any] = {
    "hits": wire_results.HitFields,
    "added": wire_results.HitFields,
    "files": file_results.FileFields,
    "search/files: files": file_results.MatchingFile,
    "files/find: files": file_results.FoundFileFields,
    "chunks": file_results.ChunkFields,
}
TYPES: dict[str, Any] = {"integer": int, "number": float, "string": str, "boolean": bool, "array": list, "hits": list}
PARAM_TYPES: dict[str, Any] = {
    "integer": int,
    "boolean": bool,
    "string": str,
    "strings": list[str],
    "path": str,
    "path_b64": str,
    "paths": list[str],
    "paths_b64": list[str],
    "time": str,
    "token": str | int,
    "object": JsonObject,
    "follow_up": request_params.FollowUp,
}


def hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def parts(hint: Any) -> tuple[Any, bool, bool]:
    """Return the type without its wrappers, whether it may be null, and whether the field may be absent."""
    optional = get_origin(hint) is NotRequired
    inner = get_args(hint)[0] if optional else hint
    union = get_origin(inner) in (types.UnionType, Union)
    kept = tuple(each for each in get_args(inner) if each is not types.NoneType) if union else (inner,)
    return Union[kept], union and types.NoneType in get_args(inner), optional  # noqa: UP007 - of a tuple


def json_type(kind: Any) -> Any:
    """Return the JSON type for a type: text for a literal, an object for a struct."""
    if get_origin(kind) is Literal:
        return type(get_args(kind)[0])
    origin = get_origin(kind) or kind
    return dict if isinstance(origin, type) and issubclass(origin, dict) else origin


def is_object(kind: Any) -> bool:
    return hasattr(kind, "__required_keys__")


def check_object(kind: Any, fields: Iterable[Field], at: str) -> None:
    given, wanted = hints(kind), {field.name: field for field in fields}
    assert given.keys() - {"path_b64"} == wanted.keys() - {"path_b64"}, at
    assert ("path_b64" in given) == ("path" in wanted), at
    for name, field in wanted.items():
        inner, null, optional = parts(given[name])
        said = field.type.removesuffix("?")
        assert null == field.type.endswith("?"), f"{at}: {name}"
        assert optional == field.optional, f"{at}: {name}"
        kinds = {json_type(each) for each in (get_args(inner) if get_origin(inner) is Union else (inner,))}
        assert TYPES.get(said, dict) in kinds, f"{at}: {name}"
        check_inside(inner, field, f"{at}: {name}")


def check_inside(kind: Any, field: Field, at: str) -> None:
    """Compare the names in ``{path, state, …}`` of a field's description with the fields of what it contains."""
    inside = get_args(kind)[0] if get_origin(kind) is list else kind
    inside = ELEMENTS.get(at, ELEMENTS.get(field.name)) if isinstance(inside, TypeVar) else inside
    described = re.match(r"\{([\w?, ]+)\}", field.doc)
    if described is None or not is_object(inside):
        return
    names = {name.removesuffix("?"): name.endswith("?") for name in described[1].split(", ")}
    given = {name: parts(hint)[2] for name, hint in hints(inside).items() if name != "path_b64"}
    assert given == names, at


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_the_fields_of_its_method(name: str) -> None:
    check_object(RESULTS[name], METHODS[name].fields, name)


@pytest.mark.parametrize("message", NOTIFICATIONS, ids=lambda message: message.name)
def test_a_notification_has_the_fields_of_its_table(message: Any) -> None:
    check_object(CHANGES[message.name], message.fields, message.name)


def test_a_hit_has_the_fields_of_its_table() -> None:
    check_object(wire_results.HitFields, HIT, "hit")


def check_param(kind: Any, param: Param, names: Iterable[str]) -> None:
    inner, null, _ = parts(kind)
    twin = param.name + B64 in names or param.name.removesuffix(B64) + B64 == param.name
    assert null == (param.default is None and (not param.required or twin)), param.name
    if param.choices is None:
        assert inner == PARAM_TYPES[param.type], param.name
    else:
        one = get_args(inner)[0] if param.type == "strings" else inner
        assert get_args(one) == param.choices, param.name


@pytest.mark.parametrize("name", PARAMS)
def test_params_are_those_of_their_method(name: str) -> None:
    table, given = METHODS[name].params, hints(PARAMS[name])
    assert given.keys() == table.keys()
    for param in table.values():
        check_param(given[param.name], param, table)


def test_every_method_has_types() -> None:
    assert (
        RESULTS.keys() == PARAMS.keys() == METHODS.keys() - {"rpc.discover"}
    )  # which answers a document of another standard
