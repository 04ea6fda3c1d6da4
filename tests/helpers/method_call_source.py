"""Writes the modules with a client method for each method of the daemon: ``python -m helpers.method_call_source``.

With ``PYTHONPATH=tests``; a test compares the modules with what this writes.
"""

from __future__ import annotations

from helpers.support import CHECKOUT
from helpers.wire_types import RESULTS
from livedex_ipc import exchange_results, file_results, knowledge_results, wire_results
from livedex_ipc.methods import METHODS

GENERIC = {"search": "HitFields", "search/subscribe": "HitFields", "files/list": "FileFields"}
GENERIC |= {"search/files": "MatchingFile", "files/find": "FoundFileFields", "files/retrieve": "ChunkFields"}

_HEAD = '''"""{what} of the daemon, as {kind} of {client}: its keyword arguments are the params.

Invariant: made from the table of methods by ``helpers.method_call_source``; a test compares the two. Every argument is
checked by the daemon, which names a wrong one and the nearest known one.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any

    from livedex_ipc.exchange_results import (
        {exchange},
    )
    from livedex_ipc.file_results import (
        {files},
    )
    from livedex_ipc.knowledge_results import (
        {knowledge},
    )
    from livedex_ipc.wire_results import (
        {wire},
    )


class {name}:
    """Every method of the protocol, with the type of its result. ``timeout_s``: seconds; None waits for ever."""

    {a}def call(self, method: str, params: Any = None, *, timeout_s: float | None = None) -> Any:
        """Call any method by its name."""
        raise NotImplementedError
'''
_METHOD = '''
    {a}def {name}(self, *, timeout_s: float | None = None{params}) -> {result}:
        """{doc}"""
        result: {result} = {w}self.call("{method}"{given}, timeout_s=timeout_s)
        return result
'''


def source(asynchronous: bool) -> str:
    """The text of the module."""
    built = [name for name in METHODS if name in RESULTS]
    used = {RESULTS[name].__name__ for name in built} | set(GENERIC.values())
    exchange = {name for name in used if hasattr(exchange_results, name)}
    files = {name for name in used if hasattr(file_results, name) and not hasattr(wire_results, name)}
    knowledge = {name for name in used if hasattr(knowledge_results, name)}
    text = _HEAD.format(
        what="Each method",
        kind="a coroutine method" if asynchronous else "a method",
        client="``AsyncClient``" if asynchronous else "``Client``",
        exchange=",\n        ".join(sorted(exchange)),
        files=",\n        ".join(sorted(files)),
        knowledge=",\n        ".join(sorted(knowledge)),
        wire=",\n        ".join(sorted(used - exchange - files - knowledge)),
        name="AsyncMethodCalls" if asynchronous else "MethodCalls",
        a="async " if asynchronous else "",
    )
    for method in built:
        result = RESULTS[method].__name__ + (f"[{GENERIC[method]}]" if method in GENERIC else "")
        has_params = bool(METHODS[method].params)
        text += _METHOD.format(
            a="async " if asynchronous else "",
            w="await " if asynchronous else "",
            name=method.replace("/", "_"),
            params=", **params: object" if has_params else "",
            given=", params" if has_params else "",
            result=result,
            doc=METHODS[method].doc,
            method=method,
        )
    return text


def path(asynchronous: bool) -> str:
    """Where the module is."""
    name = "async_method_calls" if asynchronous else "method_calls"
    return str(CHECKOUT / "ipc" / "livedex_ipc" / f"{name}.py")


if __name__ == "__main__":
    for each in (False, True):
        with open(path(each), "w", encoding="utf-8") as file:
            file.write(source(each))
