"""Describes the table of methods as an OpenRPC document, for editors and authors of clients.

Invariant: it is made from the table and the types of the results, so it cannot disagree with the server.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from livedex_ipc.errors import (
    Cancelled,
    Conflict,
    InternalError,
    InvalidParams,
    LivedexError,
    NotFound,
    OutsideRoots,
    TimedOut,
    Unavailable,
)
from livedex_ipc.method_types import Method
from livedex_ipc.methods import HIT, METHODS, NOTIFICATIONS
from livedex_ipc.params import B64, MAX_INTEGER, MAX_ITEMS, Param
from livedex_ipc.result_schemas import Schemas
from livedex_ipc.wire_results import HitFields

OPENRPC_VERSION = "1.3.2"

_SCHEMAS: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "path": {"type": "string", "pattern": "^/"},
    "path_b64": {"type": "string", "contentEncoding": "base64"},
    "time": {"type": "string", "format": "date-time"},
    "token": {"oneOf": [{"type": "string"}, {"type": "integer", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}]},
    "object": {"type": "object"},
    "follow_up": {
        "type": "object",
        "properties": {"topic": {"type": "string"}, "body": {"type": "string"}, "metadata": {"type": "object"}},
        "required": ["topic", "body"],
    },
}


_OF_ALL = (InvalidParams, InternalError, Cancelled, Unavailable)  # that every method may raise
_OF_ONE: dict[str, type[LivedexError]] = {  # besides what follows from its name and params
    "search/unsubscribe": NotFound,
    "roots/add": Conflict,  # the configuration file is changed by others, too
    "roots/remove": Conflict,
    "index/run": Conflict,
}


@cache
def document(version: str) -> dict[str, Any]:
    """Return the answer to ``rpc.discover``, which nobody changes. ``version``: of livedex."""
    schemas = Schemas()
    methods = [_method(method, schemas) for method in METHODS.values()]
    schemas.describe(HitFields, HIT)
    return {
        "openrpc": OPENRPC_VERSION,
        "info": {
            "title": "livedex",
            "version": version,
            "description": "A local search index that is always fresh.",
            "license": {"name": "MIT"},
        },
        "methods": methods,
        "x-notifications": [_notification(each, schemas) for each in NOTIFICATIONS],
        "components": {
            "schemas": schemas.components,
            "errors": {kind.__name__: _error(kind) for kind in (*_OF_ALL, NotFound, OutsideRoots, TimedOut, Conflict)},
        },
    }


def _method(method: Method, schemas: Schemas) -> dict[str, Any]:
    return {
        "name": method.name,
        "summary": method.doc,
        "paramStructure": "by-name",
        "params": [_param(param, method) for param in method.params.values()],
        "result": {"name": "result", "schema": schemas.result(method)},
        "errors": [{"$ref": f"#/components/errors/{kind.__name__}"} for kind in _errors_of(method)],
    }


def _errors_of(method: Method) -> list[type[LivedexError]]:
    found: list[type[LivedexError]] = list(_OF_ALL)
    if any(param.type in ("path", "paths") for param in method.params.values()):
        found += [NotFound, OutsideRoots]
    if "timeout_ms" in method.params and method.name != "search":
        found.append(TimedOut)
    if method.name.startswith("exchange/"):
        found += [NotFound, Conflict]
    if method.name in _OF_ONE:
        found.append(_OF_ONE[method.name])
    return found


def _error(kind: type[LivedexError]) -> dict[str, Any]:
    return {"code": kind.code, "message": (kind.__doc__ or "").partition("\n")[0]}


def _notification(message: Method, schemas: Schemas) -> dict[str, Any]:
    return {"name": message.name, "summary": message.doc, "params": schemas.notification(message)}


def _param(param: Param, method: Method) -> dict[str, Any]:
    required = param.required and param.name + B64 not in method.params  # either of the two is enough
    return {"name": param.name, "description": param.doc, "required": required, "schema": param_schema(param)}


def param_schema(param: Param) -> dict[str, Any]:
    """Return the JSON schema of one param's value."""
    many = param.type in ("strings", "paths", "paths_b64")
    one = dict(_SCHEMAS[param.type.replace("strings", "string").replace("paths", "path") if many else param.type])
    if param.choices is not None:
        one["enum"] = list(param.choices)
    low, high = ("minLength", "maxLength") if one.get("type") == "string" else ("minimum", "maximum")
    if param.minimum is not None:
        one[low] = param.minimum
    if param.maximum is not None:
        one[high] = param.maximum
    schema = {"type": "array", "items": one, "maxItems": MAX_ITEMS} if many else one
    if param.default is not None:
        schema["default"] = param.default
    return schema
