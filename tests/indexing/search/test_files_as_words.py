"""A file whose name was typed comes first: as words, with its folder and suffix or without, or among other words."""

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
        made.write("root/drivers/i2c-tiny.rst", "Supported adapters:\n\n- two of them\n")
        made.write("root/transforms/vFrame.ts", "export const transform = 1\n")
        for number in range(9):
            made.write(
                f"root/drivers/bus-{number}.rst", f"Kernel driver of a frame\n\nKernel driver v{number} of i2c\n"
            )
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


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Kernel driver i2c-tiny", "drivers/i2c-tiny.rst"),
        ("i2c_tiny: kernel driver", "drivers/i2c-tiny.rst"),
        ("transform v-frame of kernel", "transforms/vFrame.ts"),
    ],
)
def test_a_file_comes_first_whose_joined_name_is_among_words(app: Indexed, query: str, path: str) -> None:
    assert app.search(query)[0]["relative_path"] == path
