"""The language server without I/O: what it answers, and where a symbol is for a client that counts differently."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.lsp.lsp_protocol import Cancel, End, Protocol, SymbolSearch
from livedex_ipc.lsp.workspace_symbols import Encoding, symbols
from livedex_ipc.wire_results import HitFields


def request(method: str, params: object = None, number: object = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def initialized(params: object = None) -> Protocol:
    protocol = Protocol()
    protocol.take(request("initialize", params))
    return protocol


def code(answered: object) -> int:
    assert isinstance(answered, dict), answered
    return int(answered["error"]["code"])


def test_it_offers_workspace_symbols_and_the_clients_encoding() -> None:
    offered = {"capabilities": {"general": {"positionEncodings": ["utf-16", "utf-8"]}}}
    answered = Protocol().take(request("initialize", offered))
    assert isinstance(answered, dict)
    result = cast(dict[str, Any], answered["result"])
    assert result["capabilities"] == {
        "positionEncoding": "utf-8",
        "workspaceSymbolProvider": True,
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    }
    assert result["serverInfo"]["name"] == "livedex"


def test_without_a_word_of_the_client_positions_are_in_utf_16() -> None:
    assert initialized({}).encoding == "utf-16"


def test_a_session_in_order() -> None:
    protocol = Protocol()
    assert code(protocol.take(request("workspace/symbol", {"query": "x"}))) == -32002
    protocol.take(request("initialize"))
    assert code(protocol.take(request("initialize"))) == -32600
    assert protocol.take({"method": "initialized", "params": {}}) is None
    assert protocol.take(request("workspace/symbol", {"query": "x"}, 2)) == SymbolSearch(2, "x")
    assert protocol.take({"method": "$/cancelRequest", "params": {"id": 2}}) == Cancel(2)
    assert code(protocol.take(request("textDocument/hover"))) == -32601
    assert code(protocol.take(request("workspace/symbol", {"query": 3}))) == -32602
    assert protocol.take(request("shutdown")) == {"jsonrpc": "2.0", "id": 1, "result": None}
    assert code(protocol.take(request("workspace/symbol", {"query": "x"}))) == -32600
    assert protocol.take({"method": "exit"}) == End(0)


def test_exit_without_shutdown_is_a_failure() -> None:
    assert initialized().take({"method": "exit"}) == End(1)


@pytest.mark.parametrize(
    ("params", "folders"),
    [
        ({"workspaceFolders": [{"uri": "file:///a%20b", "name": "a"}, {"uri": "untitled:x"}]}, (b"/a b",)),
        ({"workspaceFolders": None, "rootUri": "file:///%ff"}, (b"/\xff",)),
        ({"rootUri": "file:///a", "initializationOptions": {"everywhere": True}}, ()),
        ({"rootUri": "http://[x"}, ()),
        ({"rootUri": "file:///\ud800"}, ()),
        ({"workspaceFolders": [{"uri": "file:///a/\udc80"}, {"uri": "file:///b"}]}, (b"/b",)),
        ({}, ()),
    ],
)
def test_the_folders_of_the_workspace(params: object, folders: tuple[bytes, ...]) -> None:
    assert initialized(params).folders == folders


def changed(protocol: Protocol, added: object, removed: object) -> tuple[bytes, ...]:
    event = {"event": {"added": added, "removed": removed}}
    assert protocol.take({"method": "workspace/didChangeWorkspaceFolders", "params": event}) is None
    return protocol.folders


def test_the_folders_of_the_workspace_change() -> None:
    protocol = initialized({"workspaceFolders": [{"uri": "file:///a"}, {"uri": "file:///b"}]})
    assert changed(protocol, [{"uri": "file:///c%20d"}, {"uri": "untitled:x"}], [{"uri": "file:///a"}]) == (
        b"/b",
        b"/c d",
    )
    assert changed(protocol, [{"uri": "file:///b"}], []) == (b"/b", b"/c d")
    assert changed(protocol, "x", [7, {"uri": 7}]) == (b"/b", b"/c d")
    assert changed(protocol, [], [{"uri": "file:///b"}, {"uri": "file:///c%20d"}]) == ()


def test_folders_that_change_do_not_limit_a_search_of_everything() -> None:
    protocol = initialized({"rootUri": "file:///a", "initializationOptions": {"everywhere": True}})
    assert changed(protocol, [{"uri": "file:///b"}], []) == ()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
methods = (
    st.sampled_from(
        [
            "initialize",
            "shutdown",
            "exit",
            "workspace/symbol",
            "$/cancelRequest",
            "workspace/didChangeWorkspaceFolders",
            "x",
        ]
    )
    | st.text()
)


@given(st.lists(st.fixed_dictionaries({}, optional={"id": json_values, "method": methods, "params": json_values})))
def test_whatever_comes_each_request_is_answered(messages: list[dict[str, object]]) -> None:
    protocol = Protocol()
    for message in messages:
        taken = protocol.take(message)
        if "id" in message and "method" in message:
            assert isinstance(taken, dict | SymbolSearch)


def hit(**fields: object) -> HitFields:
    made = {
        "path": "/r/notes/a b.md",
        "relative_path": "notes/a b.md",
        "kind": "markdown_text",
        "symbol": None,
        "heading": "Leases > Renewal",
        "line": 5,
        "column": 9,
        "text": "\U0001f600 ä find me",
        "snippet": "\U0001f600 ä find me",
        "snippet_line": 5,
        "highlights": [[4, 8]],
        **fields,
    }
    return cast(HitFields, made)


@pytest.mark.parametrize(("encoding", "start", "end"), [("utf-8", 8, 12), ("utf-16", 5, 9), ("utf-32", 4, 8)])
def test_a_position_counts_what_the_client_counts(encoding: Encoding, start: int, end: int) -> None:
    (found,) = symbols([hit()], encoding)
    assert found == {
        "name": "\U0001f600 ä find me",
        "kind": 15,
        "containerName": "Leases > Renewal",
        "location": {
            "uri": "file:///r/notes/a%20b.md",
            "range": {"start": {"line": 4, "character": start}, "end": {"line": 4, "character": end}},
        },
    }


@pytest.mark.parametrize(
    ("encoding", "ahead", "start"),
    [("utf-8", "\U0001f600 ", 9_005), ("utf-16", "\U0001f600 ", 9_003), ("utf-32", "\U0001f600 ", 9_002),
     ("utf-16", "", 9_005)],
)  # fmt: skip
def test_a_position_in_a_line_of_which_only_a_part_is_known(encoding: Encoding, ahead: str, start: int) -> None:
    part = {"text": f"{ahead}find me", "snippet": f"{ahead}find me", "highlights": [[len(ahead), len(ahead) + 4]]}
    (found,) = symbols([hit(column=9_006, **part)], encoding)
    assert cast(Any, found)["location"]["range"]["start"]["character"] == start


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 16), ("utf-16", 12), ("utf-32", 10)])
@pytest.mark.parametrize(
    ("highlights", "length"),
    [([[2, 7], [10, 14], [15, 20]], 4), ([[2, 7], [15, 20]], 0)],
    ids=["a later highlight", "no highlight"],
)
def test_a_place_that_is_not_the_first_highlight(
    encoding: Encoding, start: int, highlights: list[list[int]], length: int
) -> None:
    line = "\U0001d4b3 crane \U0001f3bb lamp crane"
    (found,) = symbols([hit(column=17, text=line, snippet=f"{line}\nlamp", highlights=highlights)], encoding)
    span = cast(Any, found)["location"]["range"]
    assert (span["start"]["character"], span["end"]["character"]) == (start, start + length)


def test_a_range_ends_with_the_match_of_its_own_line() -> None:
    snippet = "the lease\ndéfine lease_max 3\n"
    line = {"snippet": snippet, "snippet_line": 4, "highlights": [[4, 9], [17, 26]]}
    (found,) = symbols([hit(**line, line=5, column=9, text="défine lease_max 3")], "utf-16")
    span = found["location"]["range"]  # type: ignore[index]
    assert (span["start"], span["end"]) == ({"line": 4, "character": 7}, {"line": 4, "character": 16})


def test_a_definition_is_named_by_its_line_in_its_symbol() -> None:
    (found,) = symbols([hit(kind="code", symbol="Store.open", text="    def open(self):", highlights=[])], "utf-16")
    assert (found["name"], found["kind"], found["containerName"]) == ("def open(self):", 12, "Store.open")


def test_a_path_that_is_not_utf_8_keeps_its_bytes() -> None:
    (found,) = symbols([hit(path="/r/\ufffd", path_b64="L3Iv/w==")], "utf-16")
    assert cast(dict[str, object], found["location"])["uri"] == "file:///r/%FF"
