"""The params checker: strict types, every default filled, and messages that name the field."""

from __future__ import annotations

import base64
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.errors import InvalidParams, MethodNotFound
from livedex_ipc.methods import METHODS, check_params, path_bytes, paths_bytes
from livedex_ipc.params import nearest, parse_time

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def refused(method: str, params: Any) -> InvalidParams:
    with pytest.raises(InvalidParams) as caught:
        check_params(method, params)
    caught.value.message.encode()  # can be sent
    assert caught.value.data is not None
    return caught.value


def field_of(method: str, params: Any) -> str:
    data = refused(method, params).data
    assert data is not None
    return str(data["field"])


def test_defaults_are_filled_in() -> None:
    checked = check_params("search", {"query": "x"})
    assert checked.keys() == METHODS["search"].params.keys()
    assert (checked["limit"], checked["fresh"], checked["timeout_ms"], checked["group"]) == (10, True, 1000, "chunk")
    assert (checked["globs"], checked["path"], checked["supersedes"]) == ([], None, None)


def test_lists_of_defaults_are_not_shared() -> None:
    check_params("search", {"query": "x"})["globs"].append("y")
    assert check_params("search", {"query": "x"})["globs"] == []


@pytest.mark.parametrize("value", [-1, 0, 1001, 1.5, 10.0, math.nan, math.inf, True, "3", 10**9, 2**63, None, [3]])
def test_a_limit_is_an_integer_from_1_to_1000(value: Any) -> None:
    assert field_of("search", {"query": "x", "limit": value}) == "limit"


def test_a_text_that_is_too_short_or_long_names_the_bounds_that_there_are() -> None:
    with pytest.raises(InvalidParams, match="content must be a string of 1 or more characters, not ''"):
        check_params("knowledge/add", {"content": ""})
    with pytest.raises(InvalidParams, match="topic must be a string of 1 to 200 characters, not a string of 201"):
        check_params("exchange/publish", {"topic": "t" * 201, "body": ""})
    with pytest.raises(InvalidParams, match="cursor must be a string of 1 to 20000 characters, not ''"):
        check_params("search", {"query": "x", "cursor": ""})


def test_an_object_that_is_too_large_names_its_size() -> None:
    message = {"topic": "a", "body": "b", "metadata": {"a": "x" * 70_000}}
    with pytest.raises(InvalidParams, match="metadata has 70009 bytes; at most 65536 are taken"):
        check_params("exchange/publish", message)


def test_an_object_has_at_most_100_levels() -> None:
    def nested(levels: int) -> Any:
        return [nested(levels - 1)] if levels else 1

    params = {"topic": "a", "body": "", "metadata": {"a": nested(99)}}
    assert check_params("exchange/publish", params)["metadata"] == {"a": nested(99)}
    follow_up = {"topic": "a", "body": "", "metadata": {"a": nested(100)}}
    completion = {"claim_id": 1, "token": "x", "status": "failed", "follow_up": follow_up}
    assert field_of("exchange/complete", completion) == "follow_up.metadata"


def test_an_integer_too_long_to_print_is_refused_as_any_other() -> None:
    assert field_of("search", {"query": "x", "limit": 10**5000}) == "limit"


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "query"),
        ({"query": None}, "query"),
        ({"query": "\ud800"}, "query"),
        ({"query": "x", "path": "relative"}, "path"),
        ({"query": "x", "path": "/a\0b"}, "path"),
        ({"query": "x", "path": "/\udcff"}, "path"),
        ({"query": "x", "path_b64": "!"}, "path_b64"),
        ({"query": "x", "path_b64": base64.b64encode(b"relative").decode()}, "path_b64"),
        ({"query": "x", "path_b64": "ü"}, "path_b64"),
        ({"query": "x", "roots": ["/a", "b"]}, "roots[1]"),
        ({"query": "x", "globs": "*.py"}, "globs"),
        ({"query": "x", "globs": ["a", 1]}, "globs[1]"),
        ({"query": "x", "globs": ["a"] * 1001}, "globs"),
        ({"query": "x", "kinds": ["cod"]}, "kinds[0]"),
        ({"query": "x", "mode": "semantics"}, "mode"),
        ({"query": "x", "fresh": 1}, "fresh"),
        ({"query": "x", "modified_after": "2026-01-01"}, "modified_after"),
        ({"query": "x", "modified_after": "2026-02-30T00:00:00Z"}, "modified_after"),
        ({"query": "x", "modified_before": "0000-01-01T00:00:00Z"}, "modified_before"),
        ({"query": "x", "offset": 9_995}, "offset"),
        ({"query": "x", "supersedes": ""}, "supersedes"),
        ([], "params"),
        ("x", "params"),
    ],
)
def test_what_is_wrong_is_named(params: Any, field: str) -> None:
    assert field_of("search", params) == field


def test_an_unknown_param_names_its_nearest() -> None:
    error = refused("search", {"query": "x", "langages": ["c"]})
    assert error.data == {"field": "langages", "nearest": "languages"}
    assert "'languages'" in error.message


def test_params_of_later_work_are_unknown() -> None:
    assert field_of("search", {"query": "x", "knowledge": 1}) == "knowledge"


def test_an_unknown_name_of_any_length_and_content_is_named_in_short() -> None:
    assert len(refused("search", {"query": "x", "\ud800" * 100_000: 1}).message) < 1000


def test_an_unknown_method_names_its_nearest() -> None:
    with pytest.raises(MethodNotFound, match="'\\$/cancelRequest'; a notification has no id"):
        check_params("$/cancelRequest", {})
    with pytest.raises(MethodNotFound, match="did you mean 'search'") as caught:
        check_params("serach", {})
    assert caught.value.data == {"nearest": "search"}


def test_a_path_may_be_given_as_its_bytes() -> None:
    raw = b"/a/\xff"
    encoded = base64.b64encode(raw).decode()
    assert path_bytes(check_params("files/retrieve", {"path_b64": encoded})) == raw
    assert path_bytes(check_params("files/retrieve", {"path": "/a/\ufffd", "path_b64": encoded})) == raw
    assert path_bytes(check_params("files/retrieve", {"path": "/ä"})) == "/ä".encode()
    assert path_bytes(check_params("files/list", {})) is None
    assert paths_bytes(check_params("index/run", {"paths": ["/x"], "paths_b64": [encoded]})) == [b"/x", raw]
    assert paths_bytes(check_params("index/run", {})) is None
    assert paths_bytes(check_params("index/run", {"paths": []})) == []


def test_a_needed_path_is_asked_for_by_name() -> None:
    assert field_of("files/retrieve", {}) == "path"


def test_no_params_are_no_params() -> None:
    assert check_params("server/ping", None) == check_params("server/ping", {}) == {}


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t01:00:00.250+01:00", 250_000_000),
        ("1969-12-31 23:00:00-01:00", 0),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
        ("2023-11-14T22:13:20.444012725Z", 1_700_000_000_444_012_725),
        ("0001-01-01T00:00:00.000000001Z", -62_135_596_800_000_000_000 + 1),
    ],
)
def test_times(text: str, nanoseconds: int) -> None:
    assert parse_time(text) == nanoseconds


def test_nearest_gives_up_on_what_is_like_nothing() -> None:
    assert nearest("zzzz", ["search"]) is None
    assert nearest("search" * 100_000, ["search"]) is None


@given(st.sampled_from(sorted(METHODS)), st.data())
def test_anything_passes_whole_or_is_refused_by_name(method: str, data: st.DataObject) -> None:
    names = st.sampled_from(sorted(METHODS[method].params) or ["x"]) | st.text(max_size=5)
    params: Any = data.draw(JSON | st.dictionaries(names, JSON, max_size=4))
    try:
        checked = check_params(method, params)
    except InvalidParams as error:
        assert error.data is not None and "field" in error.data
        str(error.to_wire()).encode()
    else:
        assert checked.keys() == METHODS[method].params.keys()
        for name, value in (params or {}).items():
            assert checked[name] is value
