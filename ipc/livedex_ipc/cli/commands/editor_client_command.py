"""``livedex editor``: where the plugin of an editor is, or what goes into the editor's configuration.

Invariant: what it prints came with this command, so that the client in the editor and the daemon have one version.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import NamedTuple, TypedDict

import livedex_ipc
from livedex_ipc.cli.context import Context
from livedex_ipc.errors import InvalidParams, Unavailable


class Editor(NamedTuple):
    """``source``: below `editors/`, the folder of a plugin or the file of a recipe; ``use``: where it belongs."""

    title: str
    source: str
    use: str


CLIENTS = {
    "emacs": Editor("Emacs 29.1 or later", "emacs", "`load-path` in ~/.emacs.d/init.el"),
    "helix": Editor("Helix", "helix/languages.toml", "~/.config/helix/languages.toml"),
    "nvim": Editor("Neovim 0.10 or later", "nvim", "a package: ~/.local/share/nvim/site/pack/livedex/start/livedex"),
    "vim": Editor("Vim", "vim/livedex.vim", "~/.vimrc"),
    "vscode": Editor("VS Code", "vscode", "VS Code, as a package: livedex editor vscode --package FILE"),
}


class EditorFields(TypedDict):
    """One editor. ``path``: of its folder or its recipe; ``recipe``: its text, None for a folder."""

    name: str
    title: str
    path: str
    recipe: str | None
    use: str


def show(context: Context) -> int:
    """Print the folder or the recipe of the editor, or the list of all."""
    name = context.values.get("editor")
    if "package" in context.values and name != "vscode":
        raise InvalidParams("--package: only the client of vscode is a package", {"field": "--package"})
    if name is None:
        context.show({"editors": [_fields(each) for each in CLIENTS]}, _list_text)
        return 0
    editor = _fields(name)
    if "package" in context.values:
        return _package(context, editor)
    context.show(editor, _text)
    context.streams.hint(f"this belongs into {editor['use']}")
    return 0


def _package(context: Context, editor: EditorFields) -> int:
    """Write the package that VS Code installs, and print its path."""
    from livedex_ipc.cli.vscode_package import package
    from livedex_service.executable import NotInstalledError, daemon_command

    try:
        words = daemon_command()
    except NotInstalledError as error:
        raise Unavailable(str(error)) from error
    file = Path(context.values["package"])
    try:
        file.write_bytes(package(Path(editor["path"]), words[0] if len(words) == 1 else None))
    except OSError as error:
        raise Unavailable(
            f"the package cannot be written to {file}: {error.strerror}", {"remedy": "name another file"}
        ) from error
    editor["path"], editor["use"] = str(file), f"code --install-extension {quote(str(file))}"
    context.show(editor, _text)
    return 0


def _fields(name: str) -> EditorFields:
    editor = CLIENTS[name]
    path = _editors_folder() / editor.source
    try:
        recipe = None if path.is_dir() else path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", {"remedy": "install livedex again"}) from error
    return {"name": name, "title": editor.title, "path": str(path), "recipe": recipe, "use": editor.use}


def _editors_folder() -> Path:
    """Return `editors/`: a wheel has it in this package, a checkout next to the folder of the package."""
    package = Path(livedex_ipc.__file__).parent
    in_wheel = package / "editors"
    return in_wheel if in_wheel.is_dir() else package.parent.parent / "editors"


def _text(editor: EditorFields) -> str:
    return f"{editor['path']}\n" if editor["recipe"] is None else editor["recipe"]


def _list_text(answer: dict[str, list[EditorFields]]) -> str:
    from livedex_ipc.cli.render.terminal_text import table

    rows = [["NAME", "EDITOR", "IS", "BELONGS INTO"]]
    for editor in answer["editors"]:
        kind = "a folder" if editor["recipe"] is None else "a recipe"
        rows.append([editor["name"], editor["title"], kind, editor["use"]])
    return "\n".join(table(rows)) + "\n"
