"""Each handler takes the params and returns the result that its method has in the table."""

from __future__ import annotations

from typing import Any, get_origin, get_type_hints

import pytest

from helpers.wire_types import PARAMS, RESULTS
from livedex_daemon.answer.exchange_answers import ExchangeMethods
from livedex_daemon.answer.file_answers import FileMethods
from livedex_daemon.answer.file_search import FileSearch
from livedex_daemon.answer.fresh_reads import SearchMethod
from livedex_daemon.answer.handlers import IndexMethods, RootMethods, ServerMethods
from livedex_daemon.answer.knowledge_answers import KnowledgeMethods
from livedex_daemon.answer.matching_files_method import MatchingFilesMethod
from livedex_daemon.answer.plugin_methods import PluginMethods
from livedex_daemon.answer.subscription_methods import SubscriptionMethods
from livedex_ipc.methods import METHODS
from livedex_ipc.server.rpc_server import Handler

GROUPS: tuple[Any, ...] = (
    ServerMethods,
    RootMethods,
    IndexMethods,
    FileMethods,
    FileSearch,
    MatchingFilesMethod,
    SearchMethod,
    SubscriptionMethods,
    ExchangeMethods,
    KnowledgeMethods,
    PluginMethods,
)
# Without their parts: the tables only name the methods.
HANDLERS: dict[str, Handler] = {
    name: handler for group in GROUPS for name, handler in group.__new__(group).table().items()
}


def test_every_method_has_a_handler() -> None:
    assert HANDLERS.keys() == METHODS.keys()


@pytest.mark.parametrize("name", RESULTS)
def test_a_handler_has_the_types_of_its_method(name: str) -> None:
    hints = get_type_hints(HANDLERS[name])
    result = hints.pop("return")
    assert (get_origin(result) or result) is RESULTS[name]
    hints.pop("call", None)
    hints.pop("_call", None)
    (params,) = hints.values()
    assert params is PARAMS[name]
