"""The snippets of the page about the Python clients are programs that work."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from helpers.support import CHECKOUT, Daemon, Tree, add_root, wait_until

SNIPPETS = re.findall(r"```python\n(.*?)```", (CHECKOUT / "docs" / "python-client.md").read_text(), re.DOTALL)
PRINTS = (r"/notes/walrus\.md:1\n", r"1 1\n", r"now: \['.*walrus\.md'\]\nadded: .*/new\.md\n", r"(.*\n)*outside: .*\n")


@pytest.mark.shares_daemon
@pytest.mark.parametrize(("snippet", "prints"), list(zip(SNIPPETS, PRINTS, strict=True)))
def test_it_does_what_the_page_says(snippet: str, prints: str, tree: Tree, daemon: Daemon) -> None:
    tree.write("notes/walrus.md", "A walrus on an ice floe\n")
    with daemon.client() as client:
        add_root(client, tree)
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", snippet], env=daemon.home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        if "search_subscribe" in snippet:
            assert process.stdout is not None
            first = process.stdout.readline()
            tree.write("notes/new.md", "Another walrus\n")
        else:
            first = b""
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
        assert re.search(prints, (first + out).decode()), out
        wait_until(lambda: client.status()["state"] == "ready")
