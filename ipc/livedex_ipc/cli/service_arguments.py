"""The part of the argument tree about the service that starts the daemon, and about agents and editors."""

from __future__ import annotations

from livedex_ipc.cli.argument_types import Command, Operand, Option
from livedex_ipc.constants import EDITORS

_DRY_RUN = Option("--dry-run", "dry_run", "only print what would be written and run")
_SYSTEM = Option("--system", "system", "the template for a machine with many users; needs root")
_PLATFORM = Option("--platform", "platform", "of this service manager", metavar="P", choices=("systemd", "launchd"))

SERVICE = Command(
    "service",
    "make the daemon a service of systemd or launchd",
    subcommands=(
        Command(
            "install",
            "write the service, enable it, and start its socket",
            run="service_command:install",
            options=(_SYSTEM, _DRY_RUN),
            notes="A daemon that runs outside of the service is stopped; the first client starts the service's.",
            examples=("livedex service install --dry-run", "livedex service install"),
        ),
        Command(
            "uninstall",
            "stop the service and remove it; the index stays",
            run="service_command:uninstall",
            options=(_SYSTEM, _DRY_RUN),
        ),
        Command("print", "print the files of the service", run="service_command:show", options=(_SYSTEM, _PLATFORM)),
        Command("start", "start the service", run="service_command:start"),
        Command("stop", "stop the service until it is started or the user logs in", run="service_command:stop"),
        Command("restart", "restart the service", run="service_command:restart"),
        Command("reload", "have the daemon read its configuration again", run="service_command:reload"),
        Command("status", "whether the service is installed, enabled and active", run="service_command:status"),
        Command("logs", "print the last lines of the log", run="service_command:logs"),
    ),
)

MCP = Command(
    "mcp",
    "serve an agent: the Model Context Protocol on stdin and stdout",
    run="mcp_command:mcp",
    options=(
        Option("--toolset", "toolset", "which tools (core)", metavar="SET", choices=("core", "full")),
        Option(
            "--print-config",
            "print_config",
            "print what goes into the configuration of CLIENT; skill: a file that tells an agent when to search",
            metavar="CLIENT",
            choices=("claude-code", "codex", "cursor", "vscode", "zed", "skill"),
        ),
    ),
    notes="An agent starts it. The daemon is started at the first call that needs it.",
    examples=(
        "livedex mcp --print-config claude-code",
        "livedex mcp --print-config skill > ~/.claude/skills/livedex/SKILL.md",
    ),
)

LSP = Command(
    "lsp",
    "serve an editor: the Language Server Protocol on stdin and stdout",
    run="lsp_command:lsp",
    notes="An editor starts it, for its search of workspace symbols. The daemon is started at the first search.",
)

EDITOR = Command(
    "editor",
    "the client for an editor: the folder of its plugin, or what goes into its configuration",
    run="editor_client_command:show",
    operand=Operand("NAME", "editor", least=0, choices=EDITORS),
    options=(
        Option("--package", "package", "vscode: write the package that it installs", metavar="FILE", complete="path"),
    ),
    notes="No NAME: a list of the editors.",
    examples=("livedex editor", "livedex editor vim", "livedex editor vscode --package livedex.vsix"),
)

WEB = Command(
    "web",
    "serve a page to your browser: search as you type",
    run="web_command:web",
    options=(
        Option("--port", "port", "listen on this port (a free one)", metavar="N", convert="integer"),
        Option("--editor", "editor", "links open this editor: a name, or a template", metavar="E", once=True),
    ),
    notes="It prints the address to open. Ctrl-C ends it.",
    examples=("livedex web", "livedex web --editor vscode"),
)
