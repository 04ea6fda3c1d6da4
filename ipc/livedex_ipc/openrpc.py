"""Describes the table of methods as an OpenRPC document, for editors and authors of clients.

Invariant: it is made from the table alone, so it cannot disagree with the server.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from livedex_ipc.method_types import Field, Method
from livedex_ipc.methods import HIT, METHODS, NOTIFICATIONS
from livedex_ipc.params import MAX_ITEMS, Param

OPENRPC_VERSION = "1.3.2"

_SCHEMAS: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "path": {"type": "string", "pattern": "^/"},
    "path_b64": {"type": "string", "contentEncoding": "base64"},
    "time": {"type": "string", "format": "date-time"},
    "token": {"type": ["string", "integer"]},
    "object": {"type": "object"},
    "follow_up": {
        "type": "object",
        "properties": {"topic": {"type": "string"}, "body": {"type": "string"}, "metadata": {"type": "object"}},
        "required": ["topic", "body"],
    },
}


def document(version: str) -> dict[str, Any]:
    """Return the answer to ``rpc.discover``. ``version``: of livedex."""
    return {
        "openrpc": OPENRPC_VERSION,
        "info": {
            "title": "livedex",
            "version": version,
            "description": "A local search index that is always fresh.",
            "license": {"name": "MIT"},
        },
        "methods": [_method(method) for method in METHODS.values()],
        "x-notifications": [_notification(each) for each in NOTIFICATIONS],
        "components": {"schemas": {"Hit": _object(HIT)}},
    }


def _method(method: Method) -> dict[str, Any]:
    return {
        "name": method.name,
        "summary": method.doc,
        "paramStructure": "by-name",
        "params": [_param(param) for param in method.params.values()],
        "result": {"name": "result", "schema": _object(method.fields)},
    }


def _notification(message: Method) -> dict[str, Any]:
    return {"name": message.name, "summary": message.doc, "params": _object(message.fields)}


def _param(param: Param) -> dict[str, Any]:
    return {"name": param.name, "description": param.doc, "required": param.required, "schema": param_schema(param)}


def param_schema(param: Param) -> dict[str, Any]:
    """Return the JSON schema of one param's value."""
    many = param.type in ("strings", "paths", "paths_b64")
    one = dict(_SCHEMAS[param.type.replace("strings", "string").replace("paths", "path") if many else param.type])
    if param.choices is not None:
        one["enum"] = list(param.choices)
    low, high = ("minLength", "maxLength") if one["type"] == "string" else ("minimum", "maximum")
    if param.minimum is not None:
        one[low] = param.minimum
    if param.maximum is not None:
        one[high] = param.maximum
    schema = {"type": "array", "items": one, "maxItems": MAX_ITEMS} if many else one
    if param.default is not None:
        schema["default"] = param.default
    return schema


def _object(fields: Iterable[Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _field(field) for field in fields},
        "required": [field.name for field in fields if not field.optional],
    }


def _field(field: Field) -> dict[str, Any]:
    if field.name == "hits" or field.type == "hits":
        return {"type": "array", "items": {"$ref": "#/components/schemas/Hit"}, "description": field.doc}
    kind = field.type.removesuffix("?")
    return {"type": [kind, "null"] if field.type.endswith("?") else kind, "description": field.doc}
