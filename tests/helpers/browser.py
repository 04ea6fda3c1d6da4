"""Chromium without a window, driven by Playwright, for tests of the web page.

Invariant: it asks nobody but the servers of the test, and whatever the page logs or throws is a failure.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

AXE = Path(sys.prefix) / "browser" / "node_modules" / "axe-core" / "axe.min.js"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WAIT_MS = 15_000
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
