"""Whole turns of the agents' own programs, with a scripted model: they find the tools, call one, read its answer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers.scripted_model import serving_model
from helpers.support import Home, Tree

ZITHER = {"query": "zither"}


@pytest.fixture
def indexed(home: Home, tree: Tree) -> Home:
    tree.write("today.md", "Buy a zither for Ada\n")
    home.run_json("up", str(tree))
    return home


def config(home: Home, client: str) -> str:
    """What `--print-config` prints, without its comments."""
    text = home.run("mcp", "--print-config", client).stdout
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("//", "#")))


def turn(home: Home, tree: Tree, words: list[str], env: Mapping[str, str]) -> str:
    """What the program prints at its end."""
    given = {name: value for name, value in home.env.items() if not name.startswith("LIVEDEX_")}
    done = subprocess.run(
        words, env={**given, **env}, cwd=tree.path, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.needs("claude")
def test_claude_code(indexed: Home, tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(config(indexed, "claude-code"))
    words = ["claude", "-p", "find the zither", "--mcp-config", str(tmp_path / "mcp.json"), "--strict-mcp-config"]
    with serving_model({"name": "mcp__livedex__search"}, ZITHER) as model:
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "ENABLE_TOOL_SEARCH": "false"}
        env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
        printed = turn(indexed, tree, [*words, "--allowedTools", "mcp__livedex__search"], env)
        asked = json.dumps(model.requests)
    assert "TOOL SAID" in printed and "today.md" in printed and "Buy a zither" in printed
    assert "`search` before grep" in asked, "the instructions stand in the prompt"


@pytest.mark.needs("codex")
def test_codex(indexed: Home, tree: Tree) -> None:
    with serving_model({"namespace": "mcp__livedex", "name": "search"}, ZITHER) as model:
        folder = Path(indexed.env["HOME"]) / ".codex"
        folder.mkdir()
        provider = f'[model_providers.script]\nname = "script"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\n'
        text = f'model = "script"\nmodel_provider = "script"\n{provider}{config(indexed, "codex")}'
        (folder / "config.toml").write_text(text)
        words = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "find it"]
        printed = turn(indexed, tree, words, {})
    assert "TOOL SAID" in printed and "today.md" in printed and "Buy a zither" in printed
