"""The request and the hit of the library: the same params, defaults and fields as the method table."""

from __future__ import annotations

import msgspec

from livedex_indexing.hits.hit import Hit
from livedex_indexing.model import KINDS, STATUSES
from livedex_indexing.search.listing import ListRequest
from livedex_indexing.search.search_request import SearchRequest
from livedex_ipc import constants, methods
from livedex_ipc.methods import METHODS, check_params

# Params for the daemon alone, and those that it resolves to places and root ids.
NOT_OF_THE_LIBRARY = {"path", "path_b64", "paths", "paths_b64", "roots", "roots_b64", "timeout_ms", "supersedes"}
NOT_OF_THE_LIBRARY |= {"knowledge", "domains"}  # agent memory is the daemon's
RESOLVED = {"places", "root_ids"}


def test_a_hit_has_the_fields_of_the_method_table() -> None:
    fields = {field.name: field.required for field in msgspec.structs.fields(Hit)}
    assert fields == {field.name: not field.optional for field in methods.HIT}


def test_kinds_and_statuses_are_those_of_the_method_table() -> None:
    assert (KINDS, STATUSES) == (constants.KINDS, constants.STATUSES)


def test_a_request_has_the_params_of_the_method_table() -> None:
    assert set(SearchRequest.__struct_fields__) - RESOLVED == METHODS["search"].params.keys() - NOT_OF_THE_LIBRARY


def test_defaults_are_those_of_the_method_table() -> None:
    assert SearchRequest("words") == SearchRequest.from_params(check_params("search", {"query": "words"}))
    page = check_params("files/list", {})
    assert (ListRequest().limit, ListRequest().offset) == (page["limit"], page["offset"])


def test_a_request_of_params() -> None:
    params = {"query": "words", "limit": 3, "globs": ["*.py"], "modified_after": "1970-01-01T00:00:01Z"}
    made = SearchRequest.from_params(check_params("search", params))
    assert made == SearchRequest("words", 3, globs=("*.py",), modified_after=10**9)
