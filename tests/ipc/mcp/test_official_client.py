"""The official SDK's client, in its own environment, runs every tool in both eras and finds no fault in them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.support import LIVEDEX, Home, Tree
from livedex_ipc.mcp.mcp_tools import TOOLSETS

PYTHON = Path(sys.prefix) / "mcp" / "bin" / "python"  # `make set-up` puts it there

# Its client checks each structured result against the tool's outputSchema.
SCRIPT = """
import asyncio, json, os, sys
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main(command, mode, calls):
    server = StdioServerParameters(command=command, args=["mcp", "--toolset", "full"], env=dict(os.environ))
    async with Client(stdio_client(server), mode=mode) as client:
        tools = (await client.list_tools()).tools
        results = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            results.append([result.is_error, result.structured_content])
        found = {"version": client.protocol_version, "tools": [tool.name for tool in tools], "results": results}
        print(json.dumps({**found, "instructions": client.instructions}))

asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
"""


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_it_runs_every_tool(home: Home, tree: Tree, mode: str, version: str) -> None:
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import mcp"], check=False, capture_output=True).returncode:
        pytest.skip("the SDK is not installed: `make set-up` puts it into .venv/mcp where the registry is reached")
    tree.write("notes/today.md", "Buy a zither for Ada\n")
    home.run_json("up", str(tree))
    file = f"{tree}/notes/today.md"
    calls: list[tuple[str, dict[str, object]]] = [
        ("search", {"query": "zither", "limit": 5, "mode": "keyword", "context_lines": 1}),
        ("retrieve", {"path": file, "start_line": 1}),
        ("list", {"glob": "*.md", "status": "indexed"}),
        ("status", {}),
        ("index", {"paths": [str(tree)], "force": True}),
        ("delete", {"path": file}),
        ("publish", {"topic": "t", "body": "b", "conversation_id": "c"}),
        ("read", {"topic": "t"}),
        ("check", {"conversation_id": "c"}),
        ("search", {"qery": "zither"}),
    ]
    command = [str(PYTHON), "-c", SCRIPT, str(LIVEDEX), mode, json.dumps(calls)]
    done = subprocess.run(command, env=home.env, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["version"] == version
    assert found["tools"] == [tool.name for tool in TOOLSETS["full"]]
    assert [failed for failed, _ in found["results"]] == [False] * 9 + [True]
    assert found["results"][0][1]["hits"][0]["path"] == file
    assert "`search` before grep" in found["instructions"]
