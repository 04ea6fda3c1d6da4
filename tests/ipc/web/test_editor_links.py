"""Which address opens a file in the user's editor."""

from __future__ import annotations

import pytest

from livedex_ipc.web.editor_links import TEMPLATES, editor_template


@pytest.mark.parametrize(
    ("environ", "scheme"),
    [
        ({"EDITOR": "code --wait"}, "vscode"),
        ({"EDITOR": "vi", "VISUAL": "/usr/bin/codium"}, "vscodium"),
        ({"EDITOR": "zed"}, "zed"),
        ({"EDITOR": "mate -w"}, "txmt"),
        ({"EDITOR": "vi"}, ""),
        ({"EDITOR": " "}, ""),
        ({}, ""),
    ],
)
def test_the_editor_of_the_environment_is_taken_if_it_has_links(environ: dict[str, str], scheme: str) -> None:
    assert editor_template(None, environ).partition(":")[0] == scheme


def test_a_name_and_a_template_overrule_the_environment() -> None:
    environ = {"EDITOR": "code"}
    for name, template in TEMPLATES.items():
        assert editor_template(name, environ) == template
    own = "my-editor+1.0://open?at={line}&file={path}"
    assert editor_template(own, environ) == own


@pytest.mark.parametrize(
    "choice",
    ["", "vim", "{path}", "no-scheme/{path}", "vscode://file", "javascript:{path}", "DATA:{path}", "https://x/{path}"],
)
def test_what_is_no_link_to_an_editor_is_refused(choice: str) -> None:
    with pytest.raises(ValueError, match=r"vscode|editor"):
        editor_template(choice, {})
