"""Neovim in a terminal, with the plugin as `livedex editor nvim` gives it: keys typed, its state read beside them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
from msgspec import msgpack

from helpers.editor_terminal import EditorTerminal, editor_environment, editor_terminal
from helpers.support import Home

PACKAGE = "nvim/site/pack/livedex/start/livedex"  # below XDG_DATA_HOME, as the page says


class Neovim(NamedTuple):
    """A running Neovim. `program`: the binary; `socket`: where it listens."""

    terminal: EditorTerminal
    program: Path
    socket: Path
    env: Mapping[str, str]

    def type(self, keys: str) -> None:
        self.terminal.type(keys)

    def see(self, wanted: Any) -> str:
        return self.terminal.see(wanted)

    def ask(self, expression: str) -> Any:
        """Return the value of a Vim expression in the running Neovim."""
        request = [0, 1, "nvim_eval", [f"json_encode({expression})"]]  # kind, number, method, params
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(30)
            peer.connect(str(self.socket))
            peer.sendall(msgpack.encode(request))
            answer = b""
            while True:
                part = peer.recv(65_536)
                assert part, "Neovim ended"
                answer += part
                with suppress(msgspec.DecodeError):  # not all of it has come
                    _kind, _number, error, value = msgpack.decode(answer)
                    assert error is None, error
                    return json.loads(value)

    def quickfix(self) -> list[str]:
        """Return the entries of the current list, as `name:line:column:text`."""
        entry = "{_, e -> fnamemodify(bufname(e.bufnr), ':t') .. ':' .. e.lnum .. ':' .. e.col .. ':' .. e.text}"
        listed: list[str] = self.ask(f"map(getqflist(), {entry})")
        return listed

    def place(self) -> str:
        """Return where the cursor is, as `name:line:column`."""
        return str(self.ask("expand('%:t') .. ':' .. line('.') .. ':' .. col('.')"))

    def title(self) -> str:
        return str(self.ask("getqflist({'title': 0}).title"))


class Picker(NamedTuple):
    """`plugins`: folders; `init`: what a user's configuration has; `ready`: on the screen once keys reach the picker;
    `keys`: send all entries to a quickfix list; `least`: the oldest Neovim that the plugin takes."""

    name: str
    plugins: tuple[str, ...]
    init: str
    ready: str
    keys: tuple[str, ...]
    least: str = "0.10"

    def missing(self, folder: Path) -> list[str]:
        return [name for name in self.plugins if not (folder / name).is_dir()]

    def lines(self, folder: Path) -> list[str]:
        """Return what goes into init.lua, with the plugins in `folder`."""
        return [*(f"vim.opt.runtimepath:append('{folder / name}')" for name in self.plugins), self.init]


PICKERS = [
    Picker("telescope", ("plenary.nvim", "telescope.nvim"), "", "INSERT", ("C-q",), least="0.11"),
    Picker("fzf_lua", ("fzf-lua",), "", "TERMINAL", ("M-a", "M-q")),
    Picker("snacks", ("snacks.nvim",), "require('snacks').setup({ picker = {} })", "INSERT", ("C-q",)),
    Picker("mini", ("mini.nvim",), "require('mini.pick').setup()", "other.md", ("C-a", "M-Enter")),
]


@contextmanager
def neovim(
    program: Path, home: Home, folder: Path, *, init: Sequence[str] = (), size: tuple[int, int] = (30, 110)
) -> Iterator[Neovim]:
    """Run Neovim in `folder`. `init`: lines of its init.lua."""
    environment = editor_environment(home)
    package = Path(environment["XDG_DATA_HOME"]) / PACKAGE
    if not package.exists():
        package.parent.mkdir(parents=True)
        package.symlink_to(home.run("editor", "nvim").stdout.strip())
    config = Path(environment["XDG_CONFIG_HOME"]) / "nvim" / "init.lua"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("\n".join(["vim.o.swapfile = false", *init]) + "\n")
    with TemporaryDirectory(prefix="lx-") as short:  # its own: the one before may still be ending
        socket = Path(short) / "nvim.sock"
        command: list[str | Path] = [program, "--listen", socket, "-i", "NONE"]
        with editor_terminal(command, folder, environment, size) as terminal:
            terminal.see("[No Name]")
            yield Neovim(terminal, program, socket, environment)
