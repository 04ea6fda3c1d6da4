"""An answer is taken for what it is, whatever a document or a worker has put into its open fields."""

from __future__ import annotations

from helpers.canned_daemon import hit, search_result
from livedex_ipc.result_check import is_answer


def test_open_fields_may_have_anything() -> None:
    found = hit("/r/a.md", "zither", [], metadata={"page": 2, "frontmatter": {"tags": ["a", None]}})
    assert is_answer("search", search_result(found))
    assert not is_answer("search", search_result({**found, "path": 5}))
