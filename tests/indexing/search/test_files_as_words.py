"""A file whose name was typed as words, with its folder and its suffix or without, comes first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("files")) as made:
        made.write("root/loop/base_events.py", "LATER = 1\n")
        made.write("root/web/package.json", '{"private": true}\n')
        made.write("root/mail/ErrorContext.js", "export default 1\n")
        for name in ("base_events", "package_json", "error_context"):
            words = name.replace("_", " ")
            made.write(f"root/uses/of_{name[:4]}.py", f"def find(page):\n    return page  # {words}: {words}\n")
        for number in range(40):
            made.write(f"root/notes/{number}.md", f"A page {number} of other things.\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("base events", "loop/base_events.py"),
        ("base events py", "loop/base_events.py"),
        ("loop base events.py", "loop/base_events.py"),
        ("package json", "web/package.json"),
        ("error context", "mail/ErrorContext.js"),
    ],
)
def test_the_file_comes_first(app: Indexed, query: str, path: str) -> None:
    assert app.search(query)[0]["relative_path"] == path
