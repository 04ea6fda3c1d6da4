"""The web page in a real Chromium, against hostile files, rebound names, other sites, and a token that is wrong."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.browser import FILES, REBOUND, Tabs, opened, paths, typed, until
from helpers.support import Tree, add_root
from helpers.web_process import WebProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Tree:
    tree.write_all(FILES)
    add_root(client, tree)
    return tree


HOSTILE_NAMES = [
    b"<img src=x onerror=window.hacked=1>.md",
    b'"><svg onload=window.hacked=1>.md',
    "\u202egnp.exe.md".encode(),
    b"javascript:window.hacked=1;.md",
    b"a\n<script>window.hacked=1.md",
    b"\xff\xfe.md",
    "%2e%2e%2f&lt;b&gt;\u200b.md".encode(),
]
HOSTILE_TEXT = (
    "# <svg onload=window.hacked=1> zither\n\n"
    "zither <script>window.hacked=1</script></code></div><img src=x onerror=window.hacked=1>\n"
    "zither \u202ereversed\u202c \x1b[31mred \u2066isolated\u2069\r\n"
    "[zither](javascript:window.hacked=1) <a href='//evil.example'>zither</a>\n"
)


def test_hostile_names_and_texts_are_shown_and_never_run(
    tabs: Tabs, web: WebProcess, client: Client, tree: Tree
) -> None:
    for number, name in enumerate(HOSTILE_NAMES):
        Path(os.fsdecode(os.fsencode(tree.path) + b"/" + name)).write_text(f"{HOSTILE_TEXT}{number}\n")
    add_root(client, tree)
    page = tabs.open(web.url)
    elements = "document.querySelectorAll('script, img, svg, iframe, style, object, embed, base').length"
    before = page.evaluate(elements)
    typed(page, "zither")
    assert page.locator("#hits > li").count() >= len(HOSTILE_NAMES)
    shown = page.locator("#hits").inner_text()
    assert "<script>window.hacked=1</script></code></div><img src=x onerror=window.hacked=1>" in shown
    assert "\\u202ereversed\\u202c \\e[31mred \\u2066isolated\\u2069" in shown
    assert "\\u202egnp.exe.md" in shown
    assert not {"\u202e", "\u2066", "\x1b", "\u200b"} & set(page.content())
    hrefs = [link.get_attribute("href") or "" for link in page.locator("a").all()]
    assert all(href.startswith(("#/", f"vscode://file{tree}/")) for href in hrefs)
    assert not any(set(href) & set("<>\"' \n") for href in hrefs)
    for link in page.locator("#hits .open").all():
        shown = link.inner_text()
        link.click()
        page.locator("#file .whole").wait_for()
        assert page.locator("#file .line").count() == 6, shown
        assert page.evaluate(elements) == before
        page.keyboard.press("Escape")
        link.wait_for()
    assert page.evaluate("window.hacked") is None


def test_even_a_mistake_of_ours_could_not_make_html_of_text(tabs: Tabs, web: WebProcess) -> None:
    page = tabs.open(web.url)
    page.evaluate("setTimeout(() => { document.body.innerHTML = '<b>x</b>' })")
    until(page, lambda: any("TrustedHTML" in said for said in tabs.complaints), "the refusal")
    assert page.locator("#query").is_visible()
    load = "new Promise(done => { const image = new Image(); image.onload = () => done('loaded'); "
    load += "image.onerror = () => done('refused'); image.src = 'https://evil.example/x.png' })"
    assert page.evaluate(load) == "refused"
    assert any("violates the following Content Security Policy" in said for said in tabs.complaints)
    tabs.complaints.clear()


def test_a_rebound_name_shows_nothing(browser: Browser, web: WebProcess) -> None:
    rebound = f"http://{REBOUND}:{web.port}"
    context = browser.new_context()
    page = context.new_page()
    response = page.goto(f"{rebound}/#token={web.token}")
    assert response is not None
    assert response.status == 421
    assert page.locator("#query").count() == 0
    assert fetched(page, f"{rebound}/api/status", web.token) == "421"
    context.close()


def test_another_site_can_neither_call_nor_load_nor_frame(browser: Browser, web: WebProcess) -> None:
    with foreign_site() as site:
        context = browser.new_context()
        page = context.new_page()
        page.goto(site)
        assert fetched(page, f"{web.origin}/api/status", web.token) == "TypeError"
        assert fetched(page, f"{web.origin}/api/status", web.token, mode="no-cors") == "TypeError"
        load = "src => new Promise(done => document.head.append(Object.assign(document.createElement('script'), "
        load += "{ src, type: 'module', onload: () => done('loaded'), onerror: () => done('refused') })))"
        assert page.evaluate(load, f"{web.origin}/main.js") == "refused"
        frame = "src => new Promise(done => document.body.append(Object.assign(document.createElement('iframe'), "
        frame += "{ src, onload: () => done() })))"
        page.evaluate(frame, web.url)
        assert page.frames[1].locator("#query").count() == 0
        context.close()


def fetched(page: Page, url: str, token: str, mode: str = "cors") -> str:
    """Call as a script of the page would; return the status, or the name of the error."""
    options = f"{{ method: 'POST', mode: '{mode}', body: '{{}}', headers: {{ Authorization: 'Bearer {token}' }} }}"
    done: str = page.evaluate(f"fetch('{url}', {options}).then(r => String(r.status), e => e.name)")
    return done


@contextmanager
def foreign_site() -> Iterator[str]:
    """Another server on this machine, which any program may run: yield its address."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Blank)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Blank(http.server.BaseHTTPRequestHandler):
    """Answers with an empty page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>foreign</title>")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize("words", ["constructor", "__proto__?q=lease", "?q=lease&since=constructor", "?since=toString"])
def test_any_address_of_the_page_leads_to_a_search(tabs: Tabs, web: WebProcess, indexed: Tree, words: str) -> None:
    page = tabs.open(web.url)
    page.goto(f"{web.origin}/#/{words}")
    typed(page, "lease")
    assert len(paths(page)) == 3


def test_without_its_token_the_page_says_how_to_get_it(browser: Browser, web: WebProcess, indexed: Tree) -> None:
    for address in (f"{web.origin}/", f"{web.origin}/#token=wrong"):
        with opened(browser, web.origin) as tabs:
            page = tabs.open(address)
            page.locator("#said.fault", has_text="Open the address").wait_for()
            page.locator("#query").fill("lease")
            page.goto(web.url)  # into the same tab
            typed(page, "lease")
            assert len(paths(page)) == 3
            assert page.locator("#hits .edit").count() == 3
            tabs.complaints[:] = [said for said in tabs.complaints if "401" not in said]  # Chromium's own lines


def test_the_token_leaves_the_address_and_reaches_further_tabs(tabs: Tabs, web: WebProcess, indexed: Tree) -> None:
    page = tabs.open(web.url)
    typed(page, "lease")
    assert web.token not in page.url
    assert page.evaluate("document.cookie") == ""
    other = tabs.open(page.url)
    until(other, lambda: len(paths(other)) == 3, "the hits in another tab")
