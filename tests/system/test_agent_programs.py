"""The agents' own programs connect, find the tools and take whole turns with a scripted model, which needs no account.

`make agents` installs them; each test is skipped where its program is not.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from helpers.scripted_model import serving_model
from helpers.support import LIVEDEX, Home, Tree, temporary_home

ZITHER = {"query": "zither"}
# No traffic leaves the machine: what is not for 127.0.0.1 goes to a proxy that is not there.
OFFLINE = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}


class Desk(NamedTuple):
    """A home with a daemon, and the folder that it has indexed, in which the programs run."""

    home: Home
    tree: Tree

    def config(self, client: str) -> str:
        """Return what `--print-config` prints for the program's configuration."""
        return self.home.run("mcp", "--print-config", client).stdout

    def write(self, name: str, text: str) -> Path:
        """A file of the user's."""
        path = Path(self.home.env["HOME"]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, words: list[str], env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """What a program prints. It gets no variable of livedex but by its configuration."""
        given = {name: value for name, value in self.home.env.items() if not name.startswith("LIVEDEX_")}
        done = subprocess.run(
            words, env={**given, **OFFLINE, **(env or {})}, cwd=self.tree.path, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    tree = Tree(tmp_path_factory.mktemp("agents") / "root")
    tree.write("today.md", "Buy a zither for Ada\n")
    with temporary_home() as home:
        home.run_json("up", str(tree))
        yield Desk(home, tree)


@pytest.mark.needs("claude")
@pytest.mark.parametrize("deferred", [False, True], ids=["all-tools", "deferred-tools"])
def test_claude_code(desk: Desk, deferred: bool) -> None:
    servers = desk.write("mcp.json", desk.config("claude-code"))
    words = ["claude", "-p", "find the zither", "--mcp-config", str(servers), "--strict-mcp-config"]
    with serving_model({"name": "mcp__livedex__search"}, ZITHER) as model:
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"}
        env |= {"ENABLE_TOOL_SEARCH": str(deferred).lower(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        printed = desk.run([*words, "--allowedTools", "mcp__livedex__search"], env).stdout
        asked = json.dumps(model.requests)
    assert "`search` before grep" in asked, "the instructions are in the prompt"
    if deferred:
        assert "mcp__livedex__search" in asked
        assert '"name": "mcp__livedex__search"' not in asked, "the model sees the tool's name and not what it is for"
    else:
        assert "TOOL SAID" in printed and "today.md" in printed and "Buy a zither" in printed


@pytest.mark.needs("claude")
def test_claude_code_adds_it_for_all_projects(desk: Desk) -> None:
    said = desk.home.run("mcp", "--print-config", "claude-code").stderr
    desk.run(shlex.split(said.partition("for all projects: ")[2]))
    listed = desk.run(["claude", "mcp", "list"]).stdout
    assert "livedex: " in listed and "Connected" in listed


@pytest.mark.needs("codex")
def test_codex(desk: Desk) -> None:
    with serving_model({"namespace": "mcp__livedex", "name": "search"}, ZITHER) as model:
        provider = f'[model_providers.script]\nname = "script"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\n'
        text = f'model = "script"\nmodel_provider = "script"\n{provider}{desk.config("codex")}'
        desk.write(".codex/config.toml", text)
        words = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "find it"]
        printed = desk.run(words).stdout
    assert "TOOL SAID" in printed and "today.md" in printed and "Buy a zither" in printed


@pytest.mark.needs("opencode")
def test_opencode(desk: Desk) -> None:
    server = json.loads(desk.config("claude-code"))["mcpServers"]["livedex"]
    local = {"type": "local", "command": [server["command"], *server["args"]], "environment": server["env"]}
    desk.write(".config/opencode/opencode.json", json.dumps({"mcp": {"livedex": local}}))
    done = desk.run(["opencode", "mcp", "list"], {"XDG_CONFIG_HOME": f"{desk.home.env['HOME']}/.config"})
    assert "✓ livedex" in done.stdout, done.stdout + done.stderr


@pytest.mark.needs("mcp-inspector")
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector(desk: Desk, era: str) -> None:
    server = ["mcp-inspector", "--cli", str(LIVEDEX), "mcp", "--toolset", "full"]
    words = [*server, "-e", f"LIVEDEX_HOME={desk.home.path}", "--protocol-era", era, "--method"]
    listed = desk.run([*words, "tools/list", "--strict"])
    assert "search" in [tool["name"] for tool in json.loads(listed.stdout)["tools"]]
    assert "Warning" not in listed.stderr, "no portability problem, not even a small one"
    called = desk.run([*words, "tools/call", "--tool-name", "search", "--tool-arg", "query=zither"])
    found: dict[str, Any] = json.loads(called.stdout)
    assert found["structuredContent"]["hits"][0]["path"] == f"{desk.tree}/today.md"
