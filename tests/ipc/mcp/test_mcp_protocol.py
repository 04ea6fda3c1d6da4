"""The protocol without a process: both eras, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.mcp_client import META
from livedex_ipc.mcp.agent_guide import instructions, skill
from livedex_ipc.mcp.mcp_protocol import LEGACY, Call, Cancel, Protocol
from livedex_ipc.mcp.mcp_tools import TOOLSETS
from livedex_ipc.methods import METHODS

CORE = Protocol(TOOLSETS["core"])


def take(method: str, params: object = None, number: object = 1) -> Any:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return CORE.take(json.dumps(message).encode())


def code(line: str) -> int | None:
    reply: Any = CORE.take(line.encode())
    assert reply["jsonrpc"] == "2.0"
    return reply["error"]["code"] if "error" in reply else None


@pytest.mark.parametrize(
    ("wanted", "given"),
    [(version, version) for version in LEGACY] + [("1999-01-01", LEGACY[0]), ("2025-03-26", "2024-11-05")],
)
def test_a_legacy_client_begins_with_initialize(wanted: str, given: str) -> None:
    result = take("initialize", {"protocolVersion": wanted, "capabilities": {}})["result"]
    assert result["protocolVersion"] == given
    assert result["capabilities"] == {"tools": {}}
    assert result["instructions"] == instructions(TOOLSETS["core"])
    assert "resultType" not in result
    assert CORE.take(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') is None
    assert "resultType" not in take("tools/list")["result"]


def test_a_modern_client_names_the_version_in_each_request() -> None:
    found = take("server/discover", {"_meta": META})["result"]
    assert found["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"]
    assert found["resultType"] == "complete"
    assert found["instructions"] == instructions(TOOLSETS["core"])
    listed = take("tools/list", {"_meta": META})["result"]
    assert listed["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "livedex"
    for result in (found, listed):
        assert result["ttlMs"] > 0 and result["cacheScope"] == "private"


def test_an_unknown_version_is_refused_with_those_that_are_known() -> None:
    error = take("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}})["error"]
    assert error["code"] == -32022
    assert error["data"]["requested"] == "2099-01-01"
    assert error["data"]["supported"][0] == "2026-07-28"
    no_capabilities = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    assert take("tools/list", {"_meta": no_capabilities})["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", -32700),
        ("nonsense", -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700),
        ("[" * 100_000, -32700),
        ("[]", -32600),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        ("3", -32600),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ('{"id":1}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"serch"}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":[]}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"initialize"}', -32602),
        ('{"jsonrpc":"2.0","id":"a","method":"ping"}', None),
    ],
)
def test_each_request_has_one_answer(line: str, expected: int | None) -> None:
    assert code(line) == expected


def test_an_unknown_tool_names_the_nearest() -> None:
    assert "did you mean search?" in take("tools/call", {"name": "serch"})["error"]["message"]
    assert take("tools/call", {"name": "delete"})["error"]["code"] == -32602, "not in the core"


def test_answers_and_unknown_notifications_are_ignored() -> None:
    for line in (b'{"jsonrpc":"2.0","id":9,"result":{}}', b'{"jsonrpc":"2.0","method":"notifications/roots/changed"}'):
        assert CORE.take(line) is None


def test_a_call_carries_what_it_needs() -> None:
    meta = {**META, "progressToken": "t"}
    call = take("tools/call", {"name": "index", "arguments": {"force": True}, "_meta": meta})
    assert isinstance(call, Call)
    assert (call.tool.name, call.arguments, call.progress_token, call.modern) == ("index", {"force": True}, "t", True)
    cancelled = CORE.take(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
    assert cancelled == Cancel(1)


def test_a_client_whose_version_has_no_links_gets_none() -> None:
    protocol = Protocol(TOOLSETS["core"])

    def links_after(version: str, **meta: object) -> bool:
        for number, method, params in (
            (1, "initialize", {"protocolVersion": version}),
            (2, "tools/call", {"name": "status", "_meta": meta}),
        ):
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            call = protocol.take(line.encode())
        assert isinstance(call, Call)
        return call.links

    assert [links_after(version) for version in ("2024-11-05", "2025-03-26", *LEGACY[:2])] == [False, False, True, True]
    assert links_after("2024-11-05", **META), "a modern request says for itself what its client knows"


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_the_guide_names_the_tools_that_are_there_and_no_others(toolset: str) -> None:
    names = {tool.name for tool in TOOLSETS[toolset]}
    for text in (instructions(TOOLSETS[toolset]), skill(TOOLSETS[toolset])):
        for tool in TOOLSETS["full"]:
            assert (f"`{tool.name}`" in text) == (tool.name in names), tool.name
        assert "grep" in text


def schemas(part: Any) -> Iterator[Any]:
    """Every schema in a tool's definition that names a type."""
    if isinstance(part, dict):
        if "type" in part and not isinstance(part["type"], dict):
            yield part
        part = list(part.values())
    for inner in part if isinstance(part, list) else []:
        yield from schemas(inner)


@pytest.mark.parametrize("tool", TOOLSETS["full"], ids=lambda tool: tool.name)
def test_a_tool_is_described_in_full(tool: Any) -> None:
    shown = tool.definition()
    assert shown["title"] == shown["annotations"]["title"]
    assert set(shown["annotations"]) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert shown["inputSchema"]["additionalProperties"] is False
    described = [*shown["inputSchema"]["properties"].values(), *shown["outputSchema"]["properties"].values()]
    assert all(schema["description"] for schema in described)
    assert not [schema for schema in schemas(shown) if isinstance(schema["type"], list)], "one type each"
    assert set(tool.required) <= set(tool.output)
    fields = {field.name for field in METHODS[tool.method].fields}
    assert set(tool.output) <= {*fields, "omitted", "more"}


def test_only_what_changes_nothing_says_so() -> None:
    changing = {tool.name for tool in TOOLSETS["full"] if not tool.definition()["annotations"]["readOnlyHint"]}  # type: ignore[index]
    assert changing == {"index", "delete", "remember", "forget", "publish"}
