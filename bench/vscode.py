"""What VS Code's search costs: a key, a save, being idle. `PYTHONPATH=tests python -m bench.vscode [FOLDER]`. Linux.

Invariant: a key counts as shown in the frame that has the count and the first hit of its answer; the floor is the same
search by a bare client before the text is typed. CPU is that of the extension host, which runs the editor's own
extensions too; its floor is an editor without the extension. Needs `make editors`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import HEADER, Figure
from bench.indexed import indexed, parser_for
from bench.key_timing import BETWEEN_S
from bench.live import KEY_MS, PAUSE_S, TYPED, cpu_ms, idle_percent
from helpers.browser import chromium
from helpers.support import Home, Tree, add_root
from helpers.vscode_window import Row, Window, code_server

if TYPE_CHECKING:
    from livedex_ipc.client import Client

SETTLE_S = 20.0  # what the editor does after its start
SAVES = 20
SAVE_PAUSE_S = 1.5  # changes that come at once are reported together
SAVE_MS = 300.0
# Resolves to the milliseconds from the key to the frame that has the count and the first hit of its answer.
KEY_TO_LIST = """([count, place]) => new Promise(done => {
  let began
  const note = event => { began = event.timeStamp }
  document.querySelector('.quick-input-box input').addEventListener('keydown', note, { once: true, capture: true })
  const look = () => {
    const title = document.querySelector('.quick-input-title').textContent
    const first = document.querySelector('.quick-input-list .monaco-list-row[data-index="0"] .label-description')
    const isShown = title.includes(count) && (first?.textContent ?? '').endsWith(place)
    if (began !== undefined && isShown) done(performance.now() - began)
    else requestAnimationFrame(look)
  }
  look()
})"""


def extension_host(home: Path) -> int:
    """Return the process that runs the extensions of the editor of this home."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
            mine = str(home).encode() in (folder / "environ").read_bytes()
        except OSError:
            continue
        if mine and b"--type=extensionHost" in words:
            return int(folder.name)
    raise RuntimeError("no extension host runs")


def answer(client: Client, query: str) -> tuple[str, str]:
    """Return what the list shows of the answer: the count, and the place of the first hit."""
    found = client.call("search", {"query": query, "typing": True, "limit": 30, "timeout_ms": 20_000})
    hits = found["hits"]
    count = f" {len(hits)}{'' if found['next_offset'] is None else '+'} hit"
    return count, f"{hits[0]['relative_path']}:{hits[0]['line']}" if hits else ""


def keys(window: Window, host: int, client: Client) -> list[Figure]:
    """Types words into the list as people type. Only keys that change the first hit or the count tell when they are
    shown."""
    walls, bare, spent = list[float](), list[float](), list[float]()
    for words in TYPED:
        shown, answers = answer(client, ""), list[tuple[str, str]]()
        for end in range(1, len(words) + 1):
            began = time.perf_counter()
            answers.append(answer(client, words[:end]))
            bare.append((time.perf_counter() - began) * 1000)
        window.search()
        time.sleep(BETWEEN_S)
        for key, wanted in zip(words, answers, strict=True):
            before = cpu_ms(host)
            if wanted != shown:
                window.page.evaluate(f"wanted => {{ window.shown = ({KEY_TO_LIST})(wanted) }}", wanted)
            window.press("Space" if key == " " else key)
            if wanted != shown:
                walls.append(window.page.evaluate("window.shown"))
            time.sleep(PAUSE_S)
            spent.append(cpu_ms(host) - before)
            shown = wanted
        window.press("Escape")
    return [
        Figure("key to list, wall", "ms", walls, bare, KEY_MS, over=True),
        Figure("a key, CPU of the extension host", "ms", spent, goal=KEY_MS),
    ]


def saves(window: Window, tree: Tree) -> Figure:
    """From the end of a save to the count in the view."""
    window.follow("ornithopter")
    walls = list[float]()
    for count in range(SAVES):
        window.see(lambda: window.standing() == [Row("ornithopter", str(count))], "the count")  # noqa: B023
        time.sleep(SAVE_PAUSE_S)
        tree.save(f"saved/{count}.md", f"An ornithopter, number {count}\n")
        began = time.perf_counter()
        window.see(lambda: window.standing() == [Row("ornithopter", str(count + 1))], "the save")  # noqa: B023
        walls.append((time.perf_counter() - began) * 1000)
    return Figure("a save to the followed count", "ms", walls, goal=SAVE_MS)


def idle_alone(home: Home, tree: Tree) -> float:
    """The same editor without the extension."""
    with code_server(home, extension=False) as address, chromium() as browser:
        Window(browser, address, tree.path)
        time.sleep(SETTLE_S)
        return idle_percent([extension_host(home.path)])


def main() -> int:
    options = parser_for("vscode", __doc__).parse_args()
    with indexed(options.folder) as (home, daemon, _, work):
        tree = Tree(work / "opened")
        tree.write("first.md", "Begin here.\n")
        tree.mkdir("saved")
        with daemon.client() as client:
            add_root(client, tree)
        alone = idle_alone(home, tree)
        with code_server(home) as address, chromium() as browser, daemon.client() as client:
            window = Window(browser, address, tree.path)
            window.search_everywhere()
            time.sleep(SETTLE_S)
            host = extension_host(home.path)
            figures = [*keys(window, host, client), saves(window, tree)]
            time.sleep(SETTLE_S)
            figures.append(Figure("idle, CPU of one core", "%", [idle_percent([host])], [alone], 0.1, over=True))
    print("\n".join([HEADER, *(figure.as_line() for figure in figures)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
