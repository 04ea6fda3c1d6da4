"""A name leads to its definition also where its type, its file or its folder was typed with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step = {number}\n" for number in range(3 * LINES))
USES = "editor = Editor(window)  # to paste: an editor. Pastes of the Editor, open_tip in editors: paste it\n" * 8
OTHERS = 12


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("among")) as made:
        paste = "    def paste(self, text):\n        return text\n\n"
        made.write("root/ui/editor.py", f"{USES}{FILLER}\n\nclass Editor:\n{paste}{FILLER}")
        made.write("root/ui/tips.py", f"def close():\n{FILLER}\n\ndef open_tip(text):\n    return text\n\n{FILLER}")
        made.write("root/ui/bars.py", f"{FILLER}\n\nclass Toolbar:\n    pass\n\n{FILLER}")
        made.write("root/shell.py", f"class Shell:\n{paste}{FILLER}")
        for number in range(OTHERS):
            made.write(f"root/ui/editor_paste{number}.py", USES)
            made.write(f"root/bars{number}.py", "toolbar = add(toolbar)  # a toolbar for each toolbar\n" * 4)
            made.write(f"root/notes{number}.md", f"How an editor pastes, and when tips open, ui {number}.\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("Editor paste", "ui/editor.py", "def paste"),
        ("paste method of Editor", "ui/editor.py", "def paste"),
        ("how does Editor paste work", "ui/editor.py", "def paste"),
        ("paste in editor.py", "ui/editor.py", "def paste"),
        ("ui open_tip", "ui/tips.py", "def open_tip"),
        ("open_tip in ui", "ui/tips.py", "def open_tip"),
        ("open_tip of tips.py", "ui/tips.py", "def open_tip"),
        ("fix leak of open_tip()", "ui/tips.py", "def open_tip"),
        ("editor paste", "ui/editor.py", "def paste"),
        ("paste editor", "ui/editor.py", "class Editor"),
        ("tips close", "ui/tips.py", "def close"),
        ("ui close", "ui/tips.py", "def close"),
        ("shell paste", "shell.py", "def paste"),
        ("tips open tip", "ui/tips.py", "def open_tip"),
        ("paste method of editor", "ui/editor.py", "class Editor"),
        ("how does editor paste work?", "ui/editor.py", "def paste"),
        ("ui editor paste", "ui/editor.py", "def paste"),
        ("where is close in tips", "ui/tips.py", "def close"),
        ("toolbar", "ui/bars.py", "class Toolbar"),
        ("where is toolbar defined", "ui/bars.py", "class Toolbar"),
        ("the toolbar class", "ui/bars.py", "class Toolbar"),
    ],
)
def test_the_definition_comes_first(app: Indexed, query: str, path: str, line: str) -> None:
    hit = app.search(query)[0]
    assert (hit["relative_path"], line in hit["text"]) == (path, True)
