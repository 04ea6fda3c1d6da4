"""Makes JSON schemas of the types of results, for the OpenRPC document. Only the daemon loads it, when it is asked.

Invariant: a schema says exactly what the types say that the daemon's handlers are checked against.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from livedex_ipc import exchange_results, file_results, knowledge_results, memory_entry, wire_results
from livedex_ipc.method_calls import MethodCalls
from livedex_ipc.method_types import Field, Method

Schema = dict[str, object]

_UPPER = re.compile("[A-Z]")
_SIMPLE = {int: "integer", float: "number", str: "string", bool: "boolean"}
_TYPES = {**vars(memory_entry), **vars(wire_results), **vars(file_results)}
_TYPES |= {**vars(exchange_results), **vars(knowledge_results)}
_NOTIFICATIONS: Mapping[str, Any] = {
    "search/changed": wire_results.SearchChanged[wire_results.HitFields],
    "$/progress": wire_results.Progress,
}


class Schemas:
    """Collects the schemas of all objects under their names in ``components``."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def result(self, method: Method) -> Schema:
        """Return the schema of a method's result, with the texts of its fields."""
        call = getattr(MethodCalls, method.name.replace("/", "_"), None)
        if call is None:
            return {"type": "object"}
        hint = get_type_hints(call, _TYPES)["return"]
        schema = self._of(hint, {})
        self._describe(hint, method.fields)
        return schema

    def notification(self, message: Method) -> Schema:
        """Return the schema of a notification's params."""
        hint = _NOTIFICATIONS[message.name]
        schema = self._of(hint, {})
        self._describe(hint, message.fields)
        return schema

    def describe(self, kind: type, fields: Iterable[Field]) -> None:
        """Add the texts of ``fields`` to an object that is in ``components`` already."""
        self._describe(kind, fields)

    def _describe(self, hint: Any, fields: Iterable[Field]) -> None:
        schema = self.components[_name(get_origin(hint) or hint)]
        properties = schema["properties"]
        assert isinstance(properties, dict)
        for field in fields:
            if "$ref" not in properties[field.name]:  # other keys next to it are not read
                properties[field.name] = {"description": field.doc, **properties[field.name]}

    def _of(self, hint: Any, bound: Mapping[Any, Any]) -> Schema:
        hint = bound.get(hint, hint) if isinstance(hint, TypeVar) else hint
        origin, inner = get_origin(hint), get_args(hint)
        if is_typeddict(origin or hint):
            return self._object(origin or hint, inner, bound)
        if origin in (Union, types.UnionType):
            return self._either(inner, bound)
        if origin is Literal:
            return {"type": _SIMPLE[type(inner[0])], "enum": list(inner)}
        if origin is list:
            return {"type": "array", "items": self._of(inner[0], bound)}
        if origin is tuple:
            items = [self._of(each, bound) for each in inner]
            return {"type": "array", "items": items, "minItems": len(items), "maxItems": len(items)}
        if origin is not None and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self._of(inner[1], bound)}
        return {"type": _SIMPLE[hint]} if hint in _SIMPLE else {}

    def _either(self, kinds: Sequence[Any], bound: Mapping[Any, Any]) -> Schema:
        some = [self._of(kind, bound) for kind in kinds if kind is not types.NoneType]
        return {"oneOf": [*some, {"type": "null"}]} if types.NoneType in kinds else {"oneOf": some}

    def _object(self, kind: Any, inner: Sequence[Any], bound: Mapping[Any, Any]) -> Schema:
        name = _name(kind)
        reference: Schema = {"$ref": f"#/components/schemas/{name}"}
        if name in self.components:
            return reference
        self.components[name] = {}  # so that an object may contain its own kind
        known = {**bound, **dict(zip(getattr(kind, "__parameters__", ()), inner, strict=False))}
        properties, required = {}, []
        for field, hint in get_type_hints(kind, include_extras=True).items():
            optional = get_origin(hint) is NotRequired
            properties[field] = self._of(get_args(hint)[0] if optional else hint, known)
            if not optional:
                required.append(field)
        self.components[name] = {"title": name, "type": "object", "properties": properties, "required": required}
        return reference


def _name(kind: Any) -> str:
    """Return the name of an object's schema: none that a generator may give to a method (``server/info``)."""
    name = str(kind.__name__).removesuffix("Fields")
    return f"{name}Result" if hasattr(MethodCalls, _UPPER.sub(_lowered, name).lstrip("_")) else name


def _lowered(match: re.Match[str]) -> str:
    return "_" + match[0].lower()
