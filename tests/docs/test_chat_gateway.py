"""The programs of the page about chats: a signed slash command is answered, another one is not."""

from __future__ import annotations

import hmac
import json
import os
import re
import shlex
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, LIVEDEX, Daemon, Tree, add_root

PAGE = (CHECKOUT / "docs" / "chat.md").read_text()
SECRET = "between us"

Ask = Callable[..., str]


@pytest.fixture
def ask(tree: Tree, start_daemon: Callable[..., Daemon], tmp_path: Path) -> Iterator[Ask]:
    """The gateway and the worker of the page, over a folder with one file; sends it a command."""
    tree.write("walrus.md", "# Ice\n\nA walrus on an ice floe\n")
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
    for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        name = re.match(r"# (\w+\.py)", program)
        assert name
        (tmp_path / name[1]).write_text(program)
    (worker,) = re.findall(r"```sh\n(.*)\n```", PAGE)
    folders = [str(LIVEDEX.parent), str(Path(sys.executable).parent), daemon.home.env["PATH"]]
    env = {**daemon.home.env, "PATH": os.pathsep.join(folders), "CHAT_SECRET": SECRET}
    commands = [[sys.executable, "gateway.py", "0"], shlex.split(worker)]
    processes = [subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE) for command in commands]
    try:
        assert processes[0].stdout is not None
        port = int(processes[0].stdout.readline().split()[-1])

        def send(text: str, key: str, secret: str = SECRET) -> str:
            body = urllib.parse.urlencode({"id": key, "text": text}).encode()
            signature = hmac.new(secret.encode(), body, "sha256").hexdigest()
            request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, {"X-Signature": signature})
            with urllib.request.urlopen(request, timeout=60) as response:
                return str(json.load(response)["text"])

        yield send
    finally:
        for process in processes:
            process.terminate()
            process.communicate(timeout=60)


def answered(ask: Ask, text: str, key: str) -> str:
    """Return the answer; the chat asks again, as the gateway says, where a busy machine takes longer than it waits."""
    for _ in range(20):
        answer = ask(text, key)
        if "ask again" not in answer:
            return answer
    raise AssertionError(f"no answer to {text!r}")


def test_a_slash_command_is_answered_with_places(ask: Ask, tree: Tree) -> None:
    assert answered(ask, "walrus", "1") == "walrus.md:3: A walrus on an ice floe\n"
    tree.write("new.md", "Another walrus\n")
    assert "new.md:1: Another walrus\n" in answered(ask, "walrus", "2")
    assert "new.md" not in answered(ask, "walrus", "1"), "what is delivered twice is answered once"
    assert answered(ask, "zither", "3") == "Nothing found.\n"


@pytest.mark.parametrize("text", ["--help", "-", "$(touch made) `touch made`; touch made", "\u00fcber \U0001f600 'x\""])
def test_no_text_is_read_as_anything_else(ask: Ask, tmp_path: Path, text: str) -> None:
    assert answered(ask, text, "1") == "Nothing found.\n"
    assert not (tmp_path / "made").exists()


def test_a_command_that_is_not_the_chats_is_refused(ask: Ask) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        ask("walrus", "1", secret="a guess")
    refused.value.close()
