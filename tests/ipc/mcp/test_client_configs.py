"""The output of `--print-config` can be read by the programs that it is for."""

from __future__ import annotations

import json
import tomllib

import pytest

from helpers.support import LIVEDEX, Home
from livedex_ipc.mcp.client_configs import CLIENTS

# Where each program keeps its servers.
KEYS = {"claude-code": "mcpServers", "cursor": "mcpServers", "vscode": "servers", "zed": "context_servers"}


def printed(home: Home, *words: str) -> str:
    done = home.run("mcp", *words)
    assert done.returncode == 0 and done.stderr.startswith("this belongs into "), "where it belongs is not a part of it"
    assert home.server_pid() is None, "nothing is started"
    return done.stdout


@pytest.mark.parametrize("client", KEYS)
def test_json(home: Home, client: str) -> None:
    server = json.loads(printed(home, "--print-config", client))[KEYS[client]]["livedex"]
    assert (server["command"], server["args"]) == (str(LIVEDEX), ["mcp"])
    assert server["env"] == {"LIVEDEX_HOME": str(home.path)}, "a host passes few variables on"


def test_toml(home: Home) -> None:
    servers = tomllib.loads(printed(home, "--print-config", "codex", "--toolset", "full"))["mcp_servers"]
    assert servers["livedex"]["command"] == str(LIVEDEX)
    assert servers["livedex"]["args"] == ["mcp", "--toolset", "full"]
    assert servers["livedex"]["env"] == {"LIVEDEX_HOME": str(home.path)}


def test_a_skill(home: Home) -> None:
    first, head, body = printed(home, "--print-config", "skill").split("---\n", 2)
    assert (first, head.splitlines()[0]) == ("", "name: livedex")
    assert "`search`" in body


def test_all_are_tried_here() -> None:
    assert {*KEYS, "codex"} == set(CLIENTS)
