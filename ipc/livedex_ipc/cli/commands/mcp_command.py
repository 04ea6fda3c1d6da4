"""``livedex mcp``: serves an agent on stdin and stdout, or prints what its configuration needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.context import Context
from livedex_ipc.errors import Unavailable
from livedex_ipc.mcp.mcp_tools import TOOLSETS
from livedex_ipc.paths import files_environment

if TYPE_CHECKING:
    from livedex_ipc.mcp.client_configs import Config


def mcp(context: Context) -> int:
    """Serve until the client ends; with --print-config print its configuration instead."""
    toolset = context.values.get("toolset", "core")
    client = context.values.get("print_config")
    if client is not None:
        config = _config(client, toolset)
        context.streams.write(config.text)
        context.streams.message(f"this belongs into {config.file}")
        return 0
    from livedex_ipc import core_dumps
    from livedex_ipc.mcp.mcp_stdio import serve

    core_dumps.disable()
    serve(TOOLSETS[toolset])
    return 0


def _config(client: str, toolset: str) -> Config:
    from livedex_ipc.mcp.agent_guide import skill
    from livedex_ipc.mcp.client_configs import CLIENTS, Config, Server
    from livedex_service.executable import NotInstalledError, daemon_command

    if client == "skill":
        return Config("the agent's folder of skills, as livedex/SKILL.md", skill(TOOLSETS[toolset]))
    try:
        command = [*daemon_command(), "mcp"]
    except NotInstalledError as error:
        raise Unavailable(str(error)) from error
    words = [*command, *(["--toolset", toolset] if toolset != "core" else [])]
    return CLIENTS[client](Server(words, files_environment()))
