"""The links that open a file in the user's editor: templates of addresses that editors register with the system.

Invariant: a template has a scheme of its own, which no browser runs or loads as a page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# `{path}`: the absolute path, percent-encoded but for its slashes.
TEMPLATES = {
    "vscode": "vscode://file{path}:{line}:{column}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}:{column}",
    "vscodium": "vscodium://file{path}:{line}:{column}",
    "cursor": "cursor://file{path}:{line}:{column}",
    "windsurf": "windsurf://file{path}:{line}:{column}",
    "zed": "zed://file{path}:{line}:{column}",
    "idea": "idea://open?file={path}&line={line}&column={column}",
    "pycharm": "pycharm://open?file={path}&line={line}&column={column}",
    "textmate": "txmt://open?url=file://{path}&line={line}&column={column}",
    "macvim": "mvim://open?url=file://{path}&line={line}&column={column}",
    "none": "",
}
_COMMANDS = {
    "code": "vscode",
    "code-insiders": "vscode-insiders",
    "codium": "vscodium",
    "mate": "textmate",
    "mvim": "macvim",
}
_OF_BROWSERS = frozenset(
    ("about", "blob", "data", "file", "filesystem", "ftp", "http", "https", "javascript", "vbscript", "view-source")
)
_TEMPLATE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):.*\{path\}.*")


def editor_template(choice: str | None, environ: Mapping[str, str]) -> str:
    """Return the template for ``--editor``; empty for no links.

    ``choice``: a name or a template; None for the editor in VISUAL or EDITOR, if it is known. Raises ValueError.
    """
    if choice is None:
        return TEMPLATES.get(_name_of(environ), "")
    if choice in TEMPLATES:
        return TEMPLATES[choice]
    found = _TEMPLATE.fullmatch(choice)
    if found is None:
        names = ", ".join(TEMPLATES)
        raise ValueError(f"{choice!r} is none of {names}, and no template such as 'vscode://file{{path}}:{{line}}'")
    if found[1].lower() in _OF_BROWSERS:
        raise ValueError(f"{choice!r} would be opened by the browser itself: take the scheme of an editor")
    return choice


def _name_of(environ: Mapping[str, str]) -> str:
    words = (environ.get("VISUAL") or environ.get("EDITOR") or "").split()
    command = os.path.basename(words[0]) if words else ""
    return _COMMANDS.get(command, command)
