"""Which names a query of a few words is about, and that prose has none."""

from __future__ import annotations

import pytest

from livedex_indexing.query.names_among_words import members_among, members_as_words, names_among


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("Editor paste", ("paste", "Editor")),
        ("paste method of Editor", ("paste", "Editor")),
        ("how does Editor paste work?", ("paste", "Editor")),
        ("the class Editor: paste", None),  # a colon belongs to a word
        ("paste in editor.py", ("paste", "editor")),
        ("ui/editor.py paste", ("paste", "editor")),
        ("paste editor", None),
        ("Editor paste twice", None),
        ("size_t overflow", ("overflow", "size_t")),
    ],
)
def test_two_words_make_a_member_or_a_name_in_a_file(text: str, member: tuple[str, str] | None) -> None:
    found = [(name.name, name.owner) for name in members_among(text)]
    assert (member in found) if member else not found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("idlelib open_tip", ["open_tip"]),
        ("fix early exit of wait_all()", ["wait_all"]),
        ("runTask ThreadPool", ["runTask", "ThreadPool"]),
        ("_private_name leaks", ["_private_name"]),
        ("fix early exit of runTask", []),  # prose has such names, too
        ("fix early exit of run()", ["run"]),
        ("open a window", []),
        ("Open Windows", []),
        ("well-known words of prose", []),
        ("run_task", []),  # alone it is a name, and nothing is around it
        ("red green blue black run_task", []),  # a sentence
    ],
)
def test_words_that_are_written_as_names_are(text: str, names: list[str]) -> None:
    assert [name.name for name in names_among(text)] == names


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("queue put", ["queue.put"]),
        ("tips open_tip", ["tips.open_tip"]),
        ("decimal next minus", ["decimal.next minus", "decimal next.minus", "decimal:next.minus"]),
        ("cookie is expired", ["cookie.is expired", "cookie.expired"]),  # no type ends in `is`
        ("how does queue put work?", ["queue.put"]),
        ("the put method of queue", ["put.queue"]),
        ("the queue", []),
        ("queue of", []),
        ("queue x", []),
        ("queue", []),
        ("queue.put now", []),
        ("red green blue black white", []),
        ("where in all of the many old files is the queue put", []),
    ],
)
def test_words_without_signs_make_a_member_of_any_case(text: str, members: list[str]) -> None:
    found = list(members_as_words(text))
    names = [f"{name.package}:{name.owner}.{name.name}".removeprefix(":") for name in found]
    assert names == members
    assert all(name.any_case for name in found)


def test_of_two_words_the_type_may_come_last() -> None:
    found = members_as_words("the put method of queue", turned=True)
    assert [(name.owner, name.name) for name in found] == [("put", "queue"), ("queue", "put")]
