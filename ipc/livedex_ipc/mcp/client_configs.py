"""What a user puts into an agent's configuration so that it starts ``livedex mcp``. It is printed, never written.

Invariant: the text is valid as it is, so that it may be redirected into a new file: no comments in JSON. The command is
absolute, since a program on the desktop does not have the shell's PATH.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Server(NamedTuple):
    """How ``livedex mcp`` is started. ``env``: variables that a host would not pass on."""

    command: Sequence[str]
    env: Mapping[str, str]


class Config(NamedTuple):
    """``file``: where the text belongs, in words."""

    file: str
    text: str


def _claude_code(server: Server) -> Config:
    env = [word for name, value in server.env.items() for word in ("--env", f"{name}={value}")]
    everywhere = shlex.join(["claude", "mcp", "add", "--scope", "user", "livedex", *env, "--", *server.command])
    return _json(f".mcp.json of a project; for all projects: {everywhere}", {"mcpServers": {"livedex": _stdio(server)}})


def _cursor(server: Server) -> Config:
    return _json("~/.cursor/mcp.json, or .cursor/mcp.json in a project", {"mcpServers": {"livedex": _stdio(server)}})


def _vs_code(server: Server) -> Config:
    servers = {"servers": {"livedex": {"type": "stdio", **_stdio(server)}}}
    return _json(".vscode/mcp.json, or the user's with the command MCP: Open User Configuration", servers)


def _zed(server: Server) -> Config:
    servers = {"context_servers": {"livedex": {"source": "custom", **_stdio(server)}}}
    return _json("settings.json (zed: open settings)", servers)


def _codex(server: Server) -> Config:
    """TOML; a JSON string is a TOML string too."""
    command, *arguments = server.command
    env = "".join(f"{name} = {json.dumps(value)}, " for name, value in server.env.items()).rstrip(", ")
    text = f"[mcp_servers.livedex]\ncommand = {json.dumps(command)}\nargs = {json.dumps(arguments)}\n"
    return Config("~/.codex/config.toml", text + (f"env = {{ {env} }}\n" if env else ""))


def _stdio(server: Server) -> dict[str, object]:
    command, *arguments = server.command
    return {"command": command, "args": arguments, **({"env": dict(server.env)} if server.env else {})}


def _json(file: str, content: object) -> Config:
    return Config(file, json.dumps(content, indent=2) + "\n")


CLIENTS: Mapping[str, Callable[[Server], Config]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "vscode": _vs_code,
    "zed": _zed,
}
