"""Chromium without a window, driven by Playwright, for tests of the web page.

Invariant: it asks nobody but the servers of the test, and whatever the page logs or throws is a failure.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.support import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

AXE = Path(sys.prefix) / "browser" / "node_modules" / "axe-core" / "axe.min.js"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WAIT_MS = 15_000
# What the tests of the page search: three hits for "lease".
FILES = {
    "src/lease.py": "LEASE = 30\n\n\ndef renew(lease):\n    return lease.end + LEASE\n",
    "notes/leases.md": "# Leases\n\nA lease lasts thirty days.\n\n## Renewal\n\nRenew the lease early.\n",
    "notes/other.md": "# Other\n\nNothing of that.\n",
}
# Without these Chromium looks for updates and for its maker's servers.
_QUIET = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Chromium refuses to start as root with its sandbox.
_ROOT = ["--no-sandbox"] if os.geteuid() == 0 else []
# A name that leads to this machine, as after DNS rebinding.
REBOUND = "rebound.example"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser. Skips where there is none."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("not installed here: chromium (`make browser`)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="not installed here: playwright")
    arguments = [*_QUIET, *_ROOT, f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Tabs:
    """A user's tabs: one profile of the browser. ``complaints``: what their pages logged, threw or asked others for."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.context = context
        self.origin = origin
        self.complaints: list[str] = []
        context.set_default_timeout(WAIT_MS)

    def open(self, url: str) -> Page:
        page = self.context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on("request", self._note)
        page.goto(url)
        return page

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _note(self, request: Any) -> None:
        if not request.url.startswith(f"{self.origin}/"):
            self.complaints.append(f"request: {request.url}")


def violations(page: Page) -> list[str]:
    """Return what axe finds wrong with a page, as it is shown now. Skips where axe is not installed."""
    if not AXE.exists():
        pytest.skip("not installed here: axe-core (`make browser`)")
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")
    return [f"{each['id']}: {each['help']}: {[node['html'] for node in each['nodes']]}" for each in found["violations"]]


@contextmanager
def opened(browser: Browser, origin: str, **options: object) -> Iterator[Tabs]:
    context = browser.new_context(**options)  # type: ignore[arg-type]
    made = Tabs(context, origin)
    try:
        yield made
    finally:
        context.close()
    assert not made.complaints


def paths(page: Page) -> list[str]:
    return page.locator("#hits .path").all_inner_texts()


def until(page: Page, condition: Callable[[], object], what: str) -> None:
    """Wait, with the browser's events handled meanwhile."""

    def look() -> object:
        page.wait_for_timeout(10)
        return condition()

    wait_until(look, what=what)


def typed(page: Page, query: str) -> None:
    """Type a query, and wait until its hits are there and followed."""
    page.locator("#query").fill("")
    page.locator("#query").press_sequentially(query)
    page.locator("#live").wait_for()
