"""What the plugin for Neovim costs: a key, a saved file, being idle.

`PYTHONPATH=tests python -m bench.neovim [FOLDER]`; `--plugins DIR` names a folder with copies of pickers, as for their
tests. Invariant: CPU is that of Neovim's processes alone. A key counts as shown when the screen has the best file
of what is typed, which the answer before did not have. Linux.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import HEADER, Figure
from bench.indexed import indexed, parser_for
from bench.key_timing import KEY_MS, LIMIT_S, Key, key_figures
from bench.live import PAUSE_S, TYPED, idle_percent
from helpers.editor_terminal import editor_paths
from helpers.neovim import PICKERS, Neovim, neovim
from helpers.support import Daemon, Home
from livedex_ipc.client import Client

SAVED_MS = 300.0
IDLE_PERCENT = 0.02
SAVES = 15
SAVE_PAUSE_S = 1.0  # the daemon puts changes together that come all the time
SIZE = (60, 320)
# Types each text into what all pickers call; notes what each key took, on the wall and of CPU, in milliseconds.
TYPE = """
local texts, pause_ms = ...
local hits, keys = require('livedex.hits'), {}
local function cpu()
  local used = vim.uv.getrusage()
  return (used.utime.sec + used.stime.sec) * 1e3 + (used.utime.usec + used.stime.usec) / 1e3
end
for _, text in ipairs(texts) do
  for last = 1, #text do
    local began, before, took = vim.uv.hrtime(), cpu(), nil
    hits.typed({}, text:sub(1, last), function() took = { (vim.uv.hrtime() - began) / 1e6, cpu() - before } end)
    vim.wait(5000, function() return took ~= nil end, 1)
    keys[#keys + 1] = took
    vim.wait(pause_ms)
  end
end
return keys
"""


def processes(vim: Neovim) -> list[int]:
    """Neovim is two processes: the editor, and the one that draws."""
    editor = int(vim.ask("getpid()"))
    return [editor, int(Path(f"/proc/{editor}/stat").read_text().rpartition(")")[2].split()[1])]


def in_neovim(vim: Neovim, home: Home) -> list[Figure]:
    """From the call to its entries, without a picker's own work."""
    script = home.path / "type.lua"
    script.write_text(TYPE)
    texts = "{" + ", ".join(f'"{text}"' for text in TYPED) + "}"
    keys = vim.ask(f"luaeval('assert(loadfile(\"{script}\"))({texts}, {PAUSE_S * 1000:.0f})')")
    walls, cpus = zip(*keys, strict=True)
    return [
        Figure("a key, to its entries, wall", "ms", walls, goal=KEY_MS),
        Figure("  CPU of Neovim", "ms", cpus, goal=KEY_MS),
    ]


def files(client: Client, text: str) -> list[str]:
    hits = client.call("search", {"query": text, "typing": True, "limit": 30})["hits"]
    return [f"/{Path(hit['path']).name}:" for hit in hits]


def keys_of(client: Client) -> Iterator[Key]:
    for text in TYPED:
        before: list[str] = []
        for end in range(1, len(text) + 1):
            now = files(client, text[:end])
            is_new = now and now[0] not in before and text[end - 1] != " "  # snacks does not search for a blank
            yield Key(text[:end], now[0] if is_new else "")
            before = now


def followed(vim: Neovim, folder: Path) -> list[Figure]:
    """From a save now and then, as a person's, to the followed list on the screen; then nothing happens."""
    vim.type(":LivedexFollow zzfollowed\r")
    vim.see("livedex zzfollowed (following)")
    walls = []
    for number in range(SAVES):
        began = time.perf_counter()
        (folder / f"saved{number}.md").write_text(f"zzfollowed {number}\n")
        while f"saved{number}.md" not in vim.terminal.text():
            if time.perf_counter() - began > LIMIT_S:
                raise RuntimeError(f"the save was not shown:\n{vim.terminal.text()}")
        walls.append((time.perf_counter() - began) * 1000)
        (folder / f"saved{number}.md").unlink()
        vim.see(lambda screen, saved=f"saved{number}.md": saved not in screen)
        time.sleep(SAVE_PAUSE_S)
    percent = idle_percent(processes(vim))
    return [
        Figure("a save, to the followed list", "ms", walls, goal=SAVED_MS),
        Figure("idle with it, CPU of one core", "%", [percent], goal=IDLE_PERCENT),
    ]


def measure(program: Path, home: Home, daemon: Daemon, folder: Path, plugins: Path | None) -> Iterator[Figure]:
    with neovim(program, home, folder, size=SIZE) as vim:
        yield from in_neovim(vim, home)
    edits = folder / "livedex-bench-edits"
    edits.mkdir()
    try:
        with neovim(program, home, folder, size=SIZE) as vim:
            yield from followed(vim, edits)
    finally:
        for saved in edits.iterdir():
            saved.unlink()
        edits.rmdir()
    with daemon.client() as client:
        keys = list(keys_of(client))
    for picker in PICKERS:
        if plugins is not None and not picker.missing(plugins):
            with neovim(program, home, folder, init=picker.lines(plugins), size=SIZE) as vim:
                vim.type(":Livedex\r")
                time.sleep(2.0)
                pids = processes(vim)
                yield from key_figures(picker.name, vim.terminal, pids, keys, lambda typed: "\x7f" * len(typed))


def main() -> int:
    parser = parser_for("neovim", __doc__)
    parser.add_argument("--plugins", type=Path, help="a folder with telescope.nvim and others")
    options = parser.parse_args()
    program = next(iter(editor_paths("nvim").values()), None)
    if program is None:
        raise SystemExit("no Neovim here: make editors")
    with indexed(options.folder) as (home, daemon, folder, _):
        print(f"{program}, load {os.getloadavg()[0]:.1f}", HEADER, sep="\n")
        for figure in measure(program, home, daemon, folder, options.plugins):
            print(figure.as_line(), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
