"""What a user puts into an agent's configuration so that it starts ``livedex mcp``. It is printed, never written.

Invariant: the command is absolute, since a program on the desktop does not have the shell's PATH.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Server(NamedTuple):
    """How ``livedex mcp`` is started. ``env``: variables that a host would not pass on."""

    command: Sequence[str]
    env: Mapping[str, str]


def _claude_code(server: Server) -> str:
    return _note(".mcp.json of a project, or with `claude mcp add-json`", {"mcpServers": {"livedex": _stdio(server)}})


def _cursor(server: Server) -> str:
    return _note("~/.cursor/mcp.json, or .cursor/mcp.json in a project", {"mcpServers": {"livedex": _stdio(server)}})


def _vs_code(server: Server) -> str:
    servers = {"servers": {"livedex": {"type": "stdio", **_stdio(server)}}}
    return _note(".vscode/mcp.json, or the user's with the command MCP: Open User Configuration", servers)


def _zed(server: Server) -> str:
    servers = {"context_servers": {"livedex": {"source": "custom", **_stdio(server)}}}
    return _note("settings.json (zed: open settings)", servers)


def _codex(server: Server) -> str:
    """TOML; a JSON string is a TOML string too."""
    command, *arguments = server.command
    env = "".join(f"{name} = {json.dumps(value)}, " for name, value in server.env.items()).rstrip(", ")
    return (
        f"# in ~/.codex/config.toml:\n[mcp_servers.livedex]\ncommand = {json.dumps(command)}\n"
        f"args = {json.dumps(arguments)}\n" + (f"env = {{ {env} }}\n" if env else "")
    )


def _stdio(server: Server) -> dict[str, object]:
    command, *arguments = server.command
    return {"command": command, "args": arguments, **({"env": dict(server.env)} if server.env else {})}


def _note(file: str, content: object) -> str:
    return f"// in {file}:\n{json.dumps(content, indent=2)}\n"


CLIENTS: Mapping[str, Callable[[Server], str]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "vscode": _vs_code,
    "zed": _zed,
}
