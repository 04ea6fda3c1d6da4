"""`livedex web` over the death of its daemon: calls go on, streams end and can be begun again."""

from __future__ import annotations

from pathlib import Path

from helpers.browser import WAIT_MS, chromium
from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, wait_until
from helpers.web_process import WebProcess


def test_a_killed_daemon_is_started_by_the_next_call(daemon: Daemon, tree: Tree) -> None:
    tree.write("a.md", "a lease\n")
    with daemon.client() as client:
        add_root(client, tree)
    with WebProcess(daemon.home) as web:
        with web.changes({"query": "lease"}) as stream:
            lines = stream.lines()
            assert next(lines) == {"following": True}
            assert len(web.call("search", query="lease")["result"]["hits"]) == 1
            first = web.call("status")["result"]["pid"]
            daemon.kill()
            assert next(lines)["error"]["code"] == 4
            assert [*lines] == []
        assert web.call("status")["result"]["pid"] != first
        wait_until(lambda: len(web.call("search", query="lease")["result"]["hits"]) == 1, what="the hit")
        with web.changes({"query": "lease"}) as stream:
            lines = stream.lines()
            assert next(lines) == {"following": True}
            tree.save("b.md", "another lease\n")
            assert next(lines) == {"added": 1, "removed": 0}


def test_without_leave_to_start_a_daemon_the_page_is_told(daemon: Daemon) -> None:
    with WebProcess(daemon.home, "--no-spawn") as web:
        assert web.call("status")["result"]["state"]
        daemon.stop()
        assert web.call("status")["error"]["code"] == 4
        assert "no daemon answers" in web.call("search", query="x")["error"]["message"]
        daemon.start()
        assert web.call("status")["result"]["state"]


def test_an_open_page_goes_on_after_its_daemon_and_says_so_when_its_server_ends(daemon: Daemon, tree: Tree) -> None:
    tree.write("a.md", "a lease\n")
    with daemon.client() as client:
        add_root(client, tree)
    with chromium() as browser, WebProcess(daemon.home) as web:
        page = browser.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto(web.url)
        page.locator("#query").fill("lease")
        page.locator("#live").wait_for()
        daemon.kill()
        tree.save("b.md", "another lease\n")
        page.locator("#hits .open", has_text="b.md").wait_for()
        tree.save("c.md", "a third lease\n")
        page.locator("#hits .open", has_text="c.md").wait_for()
        web.end()
        page.locator("#query").fill("leas")
        page.locator("#said.fault", has_text="Start it again").wait_for()


IMPATIENT = "from livedex_ipc.web import daemon_calls\ndaemon_calls.SILENT_S = 1.0\n"


def test_a_daemon_that_hangs_is_said_with_its_remedy(daemon: Daemon, tmp_path: Path) -> None:
    impatient = with_code(tmp_path / "seam", IMPATIENT)
    with chromium() as browser, WebProcess(daemon.home, **impatient) as web:
        page = browser.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto(web.url)
        with daemon.paused():
            page.goto(f"{web.origin}/#/status")
            page.locator("#status", has_text="The daemon is asked").wait_for()
            page.locator("#status", has_text=f"the daemon (pid {daemon.pid}) did not answer in 2 s").wait_for()
            assert "`livedex down` ends it" in page.locator("#status").inner_text()
            assert web.call("search", query="x")["error"]["code"] == 3
        page.locator("#status", has_text="Freshness").wait_for()
