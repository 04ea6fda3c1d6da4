"""A report leads to its message, and a question to the text that it quotes, whatever was put around them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step = {number}\n" for number in range(3 * LINES))
OTHERS = 12


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("inner")) as made:
        made.write("root/room.py", f'{FILLER}    raise ValueError("no room for the tree")\n{FILLER}')
        made.write("root/tree.py", f'{FILLER}def new():\n    """Return a tree without leaves."""\n{FILLER}')
        made.write(
            "root/load.py", f"""{FILLER}    raise OSError(f"cannot load '{{name}}' from the oldest store")\n{FILLER}"""
        )
        for number in range(OTHERS):
            made.write(f"root/main{number}.py", f"def main():\n    thread = 'panicked'  # main thread {number}\n")
            made.write(f"root/room{number}.md", f"Room for a tree: the error of thread main, no {number}.\n" * 4)
            made.write(f"root/code{number}.md", f"Code that returns: find a function, leaves of a tree {number}.\n" * 4)
            made.write(f"root/names{number}.py", f"def lamp():\n    return 'cannot load: store' or {number}\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("error: no room for the tree", "room.py"),
        ("thread 'main' panicked at 'no room for the tree', src/main.rs:12:5", "room.py"),
        ('Exception in thread "main" java.lang.IllegalStateException: no room for the tree', "room.py"),
        ("2026-01-02 03:04:05 ERROR main: no room for the tree", "room.py"),
        ("[   12.345678] main: no room for the tree", "room.py"),
        ("find the function that return a tree without leaves", "tree.py"),
        ("How do I return a tree without leaves?", "tree.py"),
        ("warning: server: cannot load 'lamp' from the oldest store", "load.py"),
    ],
)
def test_the_file_with_the_inner_text_comes_first(app: Indexed, query: str, path: str) -> None:
    assert app.search(query)[0]["relative_path"] == path
