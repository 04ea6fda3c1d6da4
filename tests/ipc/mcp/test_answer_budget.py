"""Answers stay within their budget, whatever the daemon returns, and say what was left out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.mcp.answer_budget import MAX_CHARS, as_text, shortened
from livedex_ipc.mcp.mcp_tools import TOOLSETS, Tool

TOOLS = {tool.name: tool for tool in TOOLSETS["full"]}
SEARCH: Tool = TOOLS["search"]


def result(*snippets: str, **more: Any) -> dict[str, Any]:
    hits: list[dict[str, Any]] = [
        {"path": f"/r/{number}", "start_line": 1, "end_line": 2, "snippet_line": 1, "snippet": text, "score": 1.0,
         "symbol": None, "metadata": {}}
        for number, text in enumerate(snippets)
    ]  # fmt: skip
    return {"hits": hits, "fresh": True, "next_offset": None, "warnings": [], "took_ms": 1, **more}


def test_an_agent_gets_what_it_needs_and_no_more() -> None:
    answer = shortened(SEARCH, {}, result("zither"))
    hit = {"path": "/r/0", "start_line": 1, "end_line": 2, "snippet_line": 1, "snippet": "zither"}
    assert answer == {"hits": [hit], "fresh": True}


def test_an_agent_learns_that_documents_are_still_to_be_converted() -> None:
    assert shortened(SEARCH, {}, result(documents_pending=2)) == {"hits": [], "fresh": True, "documents_pending": 2}


@given(st.lists(st.integers(0, 40_000), max_size=12), st.sampled_from("aä\x00\u2028"), st.integers(0, 50))
def test_no_answer_is_longer_than_its_budget(sizes: list[int], letter: str, offset: int) -> None:
    answer: Any = shortened(SEARCH, {"offset": offset}, result(*(letter * size for size in sizes), next_offset=99))
    assert len(as_text(answer)) <= MAX_CHARS
    left = len(sizes) - len(answer["hits"])
    if left:
        assert answer["omitted"] == left
        assert answer["next_offset"] == offset + len(answer["hits"])
        assert f"offset {offset + len(answer['hits'])}" in answer["more"]
    assert bool(answer["hits"]) == bool(sizes), "one is always shown, at least a part of it"


def test_a_last_page_that_is_cut_is_not_the_last() -> None:
    answer: Any = shortened(SEARCH, {"offset": 40}, result(*("x" * 9000 for _ in range(4)), next_offset=None))
    assert (len(answer["hits"]), answer["next_offset"]) == (2, 42)


def test_what_the_daemon_left_out_is_counted_too() -> None:
    answer = shortened(SEARCH, {}, result("a", omitted=3, next_offset=1))
    assert (answer["omitted"], answer["next_offset"]) == (3, 1)
    assert "next_offset" in str(answer["more"])


def test_the_rest_of_a_file_begins_at_a_line() -> None:
    chunks = [{"start_line": 10 * n, "end_line": 10 * n + 9, "text": "x" * 9000, "context": "y" * 99} for n in range(9)]
    answer: Any = shortened(TOOLS["retrieve"], {}, {"path": "/a", "chunks": chunks, "fresh": True})
    assert len(answer["chunks"]) == 2
    assert answer["omitted"] == 7
    assert answer["more"] == "ask again with start_line 20"


def test_one_entry_too_long_is_cut() -> None:
    chunks = [{"start_line": 1, "end_line": 9, "text": "x" * 90_000}]
    answer: Any = shortened(TOOLS["retrieve"], {}, {"path": "/a", "chunks": chunks, "fresh": True})
    assert 15_000 < len(as_text(answer)) <= MAX_CHARS
    assert "cut" in answer["more"]


@pytest.mark.parametrize(
    "more", [{"also_at": [f"/{n}/" + "p" * 4000 for n in range(20)]}, {"snippet": "\x00" * 9000, "heading": "h" * 9000}]
)
def test_every_field_of_one_entry_counts(more: dict[str, Any]) -> None:
    answer: Any = shortened(SEARCH, {}, {**result(), "hits": [{**result("a")["hits"][0], **more}]})
    assert len(as_text(answer)) <= MAX_CHARS
    assert answer["hits"][0].keys() >= more.keys()


def test_a_reply_is_cut() -> None:
    reply = {"id": 2, "topic": "t", "body": "x" * 200_000, "parent_id": 1, "metadata": {"a": "y" * 60_000}}
    checked = {"conversation_id": "1", "state": "completed", "terminal": True, "reply": reply}
    answer: Any = shortened(TOOLS["check"], {}, checked)
    assert 15_000 < len(as_text(answer)) <= MAX_CHARS
    assert (answer["reply"]["id"], answer["reply"]["metadata"]) == (2, {})
    assert "reply was cut" in answer["more"]
    assert "more" not in shortened(TOOLS["check"], {}, {**checked, "reply": {**reply, "body": "x", "metadata": {}}})


def test_many_warnings_are_bounded() -> None:
    warnings = [{"code": "root_missing", "message": "m" * 900, "remedy": "r"} for _ in range(100)]
    status = {"state": "degraded", "files": 0, "pending": 0, "roots": [], "warnings": warnings}
    answer: Any = shortened(TOOLS["status"], {}, status)
    assert len(as_text(answer)) <= MAX_CHARS
    assert 1 < len(answer["warnings"]) < 100


def test_the_rest_of_a_line_is_not_asked_for_again_and_again() -> None:
    chunks = [{"start_line": 1, "end_line": 2, "text": "a"}]
    chunks += [{"start_line": 3, "end_line": 3, "text": "x" * 2000} for _ in range(90)]
    chunks += [{"start_line": 4, "end_line": 4, "text": "b"}]
    asked, seen = 1, []
    while asked:
        touched = [chunk for chunk in chunks if int(str(chunk["end_line"])) >= asked]
        answer: Any = shortened(
            TOOLS["retrieve"], {"start_line": asked}, {"path": "/a", "chunks": touched, "fresh": True}
        )
        seen.append(asked)
        found = re.search(r"start_line (\d+)", answer.get("more", ""))
        asked = int(found[1]) if found else 0
    assert seen == [1, 3, 4]


def test_the_rest_of_a_topic_begins_after_a_message() -> None:
    messages = [{"id": n, "topic": "t", "body": "x" * 9000, "conversation_id": "1", "token": None} for n in range(5, 9)]
    answer: Any = shortened(TOOLS["read"], {}, {"messages": messages})
    assert [message["id"] for message in answer["messages"]] == [5, 6]
    assert answer["more"] == "ask again with after_id 6"
