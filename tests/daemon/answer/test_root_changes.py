"""An answer is fresh only if the roots did not change while it was computed."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from helpers.fakes import online_root
from livedex_daemon.answer.root_changes import answered_by_one_table
from livedex_daemon.watch.root_table import Roots, RootTable
from livedex_ipc.errors import OutsideRoots


class Answering:
    """``changes``: how many times the roots change while an answer is computed."""

    def __init__(self, changes: int, *, fails: bool = False) -> None:
        self.roots = Roots([online_root()])
        self.calls = 0
        self._changes = changes
        self._fails = fails

    async def answer(self, _call: Any, _params: Any) -> dict[str, Any]:
        self.calls += 1
        if self.calls <= self._changes:
            self.roots.replace(RootTable([online_root()]))
            if self._fails:
                raise OutsideRoots("it was another root's")
        return {"hits": [self.calls], "fresh": True}

    def ask(self, method: str = "search") -> Any:
        methods = answered_by_one_table({method: self.answer}, self.roots)
        return asyncio.run(cast("Any", methods[method](cast("Any", None), {})))


def test_an_answer_with_the_same_roots_is_made_once() -> None:
    answering = Answering(0)
    assert answering.ask() == {"hits": [1], "fresh": True}


@pytest.mark.parametrize("method", ["search/files", "files/list", "files/find", "files/explain", "files/retrieve"])
def test_so_is_each_answer_about_files(method: str) -> None:
    assert Answering(2).ask(method) == {"hits": [3], "fresh": True}


@pytest.mark.parametrize("fails", [False, True])
def test_an_answer_is_made_again_when_the_roots_changed(fails: bool) -> None:
    answering = Answering(2, fails=fails)
    assert answering.ask() == {"hits": [3], "fresh": True}


def test_roots_that_change_all_the_time_make_no_fresh_answer() -> None:
    answer = Answering(99).ask()
    assert (answer["fresh"], answer["reason"]) == (False, "recovering")


def test_an_error_that_the_roots_did_not_cause_is_raised() -> None:
    answering = Answering(0)

    async def fail(_call: Any, _params: Any) -> Any:
        raise OutsideRoots("no root")

    methods = answered_by_one_table({"search": fail}, answering.roots)
    with pytest.raises(OutsideRoots):
        asyncio.run(cast("Any", methods["search"](cast("Any", None), {})))


def test_other_methods_are_left_alone() -> None:
    answering = Answering(2)
    assert answering.ask("roots/add")["hits"] == [1]
