"""What the web page costs: a key, a saved file, being idle. `PYTHONPATH=tests python -m bench.web [FOLDER]`.

Invariant: times are those of the page's own clock; the floor of a key is its search by a bare client, in the same run,
with the same load. Linux.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import HEADER, Figure
from bench.indexed import indexed, parser_for
from bench.live import IDLE_S, PAUSE_S, TYPED, cpu_ms
from helpers.browser import chromium
from helpers.support import Home, add_root
from helpers.web_process import WebProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from livedex_ipc.client import Client

KEY_MS = 50.0
SAVED_MS = 300.0
IDLE_PERCENT = 0.01  # one hundredth of what a clock that ticks once a second would cost
SAVES = 20
STARTS = 9

# From the key to the list in the document, and to the frame after it; and when the list has the file that was saved.
MEASURE = """
window.keys = [];
window.painted = [];
let pressed = 0;
const list = document.querySelector('#hits');
document.querySelector('#query').addEventListener('input', () => { pressed = performance.now() }, true);
new MutationObserver(() => {
  const began = pressed;
  pressed = 0;
  if (began) window.keys.push(performance.now() - began);
  if (began) requestAnimationFrame(() => setTimeout(() => window.painted.push(performance.now() - began)));
  if (list.textContent.includes(window.wanted)) {
    window.seen = performance.timeOrigin + performance.now();
    window.wanted = null;
  }
}).observe(list, { childList: true });
"""


def start_ms(home: Home) -> float:
    """CPU of the server from its start to its address."""
    with WebProcess(home) as web:
        return cpu_ms(web.process.pid)


def browser_ms() -> float:
    """CPU of all of the browser's processes so far: the children of this one."""
    total, left = 0.0, [os.getpid()]
    while left:
        pid = left.pop()
        try:
            left += [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
            name = Path(f"/proc/{pid}/comm").read_text()
            total += cpu_ms(pid) if name.startswith("chrom") else 0.0
        except OSError:
            continue
    return total


def wait_true(page: Page, condition: str) -> None:
    """Playwright's own wait makes code of text, which the page's policy refuses."""
    while not page.evaluate(condition):
        page.wait_for_timeout(10)


def keys(page: Page, web: WebProcess, client: Client) -> list[Figure]:
    """Types words, as people type."""
    server, script, browser, floor = [], [], [], []
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable")

    def thread_ms() -> float:
        """CPU of the page's own thread so far."""
        found = metrics.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in found if each["name"] == "TaskDuration") * 1000)

    for words in TYPED:
        page.locator("#query").fill("")
        page.locator("#live").wait_for()
        page.wait_for_timeout(300)
        for end in range(1, len(words) + 1):
            before = cpu_ms(web.process.pid), thread_ms(), browser_ms()
            shown = page.evaluate("window.painted.length")
            page.keyboard.press(words[end - 1])
            wait_true(page, f"window.painted.length > {shown}")
            server.append(cpu_ms(web.process.pid) - before[0])
            script.append(thread_ms() - before[1])
            browser.append(browser_ms() - before[2])
            began = time.perf_counter()
            client.call("search", {"query": words[:end], "typing": True, "limit": 20})
            floor.append((time.perf_counter() - began) * 1000)
            page.wait_for_timeout(PAUSE_S * 1000)
    return [
        Figure("key to list, wall", "ms", page.evaluate("window.keys"), floor, KEY_MS, over=True),
        Figure("key to the frame with it, wall", "ms", page.evaluate("window.painted"), floor),
        Figure("a key, CPU of the server", "ms", server, goal=KEY_MS),
        Figure("a key, the page's thread", "ms", script, goal=KEY_MS),
        Figure("a key, CPU of the whole browser", "ms", browser),
    ]


def saves(page: Page, folder: Path) -> Figure:
    """Saves a file that the page waits for, each time with a word of its own."""
    page.locator("#query").fill("zitherplayers")
    page.locator("#live").wait_for()
    took = []
    for number in range(SAVES):
        page.wait_for_timeout(300)
        page.evaluate(f"window.seen = 0; window.wanted = 'number{number}x'")
        (folder / "saving").write_text(f"zitherplayers number{number}x\n")
        began = time.time() * 1000
        (folder / "saving").rename(folder / f"saved{number}.txt")
        wait_true(page, "window.seen > 0")
        took.append(page.evaluate("window.seen") - began)
    return Figure("saved file to list, wall", "ms", took, goal=SAVED_MS)


def idle(page: Page, web: WebProcess) -> list[Figure]:
    """An open page that nobody uses, the cursor in its query."""
    page.wait_for_timeout(2000)
    before = cpu_ms(web.process.pid), browser_ms()
    time.sleep(IDLE_S)
    server, browser = (cpu_ms(web.process.pid) - before[0], browser_ms() - before[1])
    return [
        Figure("idle, CPU of one core, server", "%", [server / IDLE_S / 10], goal=IDLE_PERCENT),
        Figure("idle, CPU of one core, browser", "%", [browser / IDLE_S / 10]),
    ]


def main() -> int:
    options = parser_for("web", __doc__).parse_args()
    with indexed(options.folder) as (home, daemon, _, work):
        own = work / "own"
        own.mkdir()
        with daemon.client() as client:
            add_root(client, own)
        figures = [Figure("start to address, CPU", "ms", [start_ms(home) for _ in range(STARTS)])]
        with WebProcess(home) as web, chromium() as browser:
            page = browser.new_page()
            page.goto(web.url)
            page.locator("#live").wait_for()
            page.evaluate(MEASURE)
            with daemon.client() as client:
                figures += keys(page, web, client)
            figures.append(saves(page, own))
            figures += idle(page, web)
    print("\n".join([HEADER, *(figure.as_line() for figure in figures)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
