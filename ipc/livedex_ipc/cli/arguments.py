"""The argument tree: every command, operand and option of ``livedex``, as plain data.

The parser, the help and the shell completions are all made from this one tree, so they cannot disagree. Each param
that a command takes has exactly one option.
"""

from __future__ import annotations

from livedex_ipc.cli.argument_types import Command, Operand, Option
from livedex_ipc.cli.exchange_arguments import EXCHANGE
from livedex_ipc.cli.knowledge_arguments import KNOWLEDGE
from livedex_ipc.cli.search_arguments import FRESHNESS, LIVE, SEARCH, SORT, WATCH
from livedex_ipc.cli.service_arguments import EDITOR, LSP, MCP, SERVICE, WEB
from livedex_ipc.constants import COLOURS, STATUSES, SYNC_TIMEOUT_MS

__all__ = ["GLOBAL_OPTIONS", "ROOT", "Command", "Operand", "Option"]

GLOBAL_OPTIONS = (
    Option("--json", "json", "print JSON"),
    Option("--color", "color", "when to use colours (auto)", metavar="WHEN", choices=COLOURS),
    Option("--no-pager", "no_pager", "print long answers on the terminal without a pager"),
    Option("--no-spawn", "no_spawn", "do not start the daemon; exit 3 when none runs"),
    Option("-h --help", "help", "show this help"),
    Option("-V --version", "version", "show the version"),
)

_DAEMON = "daemon_command:exec_daemon"
_IGNORE = Option("--ignore", "ignore", "leave out what matches this gitignore pattern", metavar="PATTERN", many=True)
_PROGRESS = Option("--progress", "progress", "with --json, print how far it has come, an object a line")
_PATHS = Operand("PATH", "paths", most=None, convert="path", complete="path")
_ANY_PATHS = Operand("PATH", "paths", least=0, most=None, convert="path", complete="path")

_ROOTS = Command(
    "roots",
    "list, add and remove folders; kept in the configuration file",
    bare="list",
    subcommands=(
        Command(
            "add",
            "watch and index these folders",
            run="roots_command:add",
            operand=_PATHS,
            options=(_IGNORE,),
            examples=("livedex roots add ~/notes", "livedex roots add ~/src --ignore '*.min.js'"),
        ),
        Command(
            "remove",
            "stop watching these folders",
            run="roots_command:remove",
            operand=Operand("PATH", "paths", most=None, convert="path", complete="root"),
            examples=("livedex roots remove ~/notes",),
        ),
        Command("list", "print the roots and their states", run="roots_command:show"),
    ),
)

_CONFIG = Command(
    "config",
    "show, check and edit the configuration",
    bare="show",
    subcommands=(
        Command("show", "every setting, its value and where it comes from", run=_DAEMON),
        Command("validate", "check the file; exit 2 when it is not valid", run=_DAEMON),
        Command("path", "where the file is", run=_DAEMON),
        Command("edit", "open the file in your editor", run=_DAEMON),
    ),
)

_PLUGINS = Command(
    "plugins",
    "show what is installed and loaded; check a plugin",
    bare="list",
    subcommands=(
        Command("list", "every plugin, what it provides, and why it is not loaded", run="plugins_command:show"),
        Command(
            "check",
            "run the conformance suite on a plugin; exit 1 when it does not conform",
            run=_DAEMON,
            operand=Operand("NAME", "plugin"),
            second=Operand("FILE", "samples", least=0, most=None, convert="path", complete="path"),
            examples=("livedex plugins check markdown", "livedex plugins check csv table.csv"),
        ),
    ),
)

ROOT = Command(
    "livedex",
    "a local search index that is always fresh",
    subcommands=(
        Command(
            "up",
            "index folders: add them, start the daemon, wait for the first index",
            run="up_command:up",
            operand=_ANY_PATHS,
            options=(_IGNORE,),
            examples=("livedex up ~/notes", "livedex up ~/notes ~/src"),
        ),
        Command("down", "stop the daemon", run="up_command:down"),
        Command(
            "daemon",
            "run the daemon in the foreground",
            run=_DAEMON,
            options=(Option("--check-config", "check_config", "only check the configuration; exit 2 when not valid"),),
        ),
        SEARCH,
        LIVE,
        WATCH,
        _ROOTS,
        Command(
            "index",
            "index these paths, or everything, again now",
            run="index_command:index",
            operand=_ANY_PATHS,
            options=(
                Option("--force", "force", "also files that look unchanged, and forgotten files"),
                Option("--backend", "backend", "switch to this backend, once it is filled", metavar="NAME", once=True),
                _PROGRESS,
            ),
            examples=("livedex index ~/notes/draft.md", "livedex index --force"),
        ),
        Command(
            "audit",
            "compare every file with the index; exit 1 when they differ",
            run="index_command:audit",
            operand=_ANY_PATHS,
            options=(Option("--repair", "repair", "repair the differences"), _PROGRESS),
            examples=("livedex audit", "livedex audit ~/notes --repair"),
        ),
        Command(
            "sync",
            "wait until the index reflects every write made before",
            run="index_command:sync",
            options=(
                Option(
                    "--timeout",
                    "timeout_ms",
                    f"wait at most S seconds ({SYNC_TIMEOUT_MS // 1000})",
                    metavar="S",
                    convert="seconds",
                ),
            ),
            notes="Exit 4 when it took longer than --timeout.",
        ),
        Command(
            "status",
            "what is indexed, pending and failing; states of the roots; warnings",
            run="status_command:status",
            options=(Option("--watch", "watch", "keep showing it, as it changes"),),
        ),
        Command(
            "list",
            "indexed, skipped and failed files, with the reason",
            run="files_command:show",
            operand=_ANY_PATHS,
            options=(
                Option("-n --limit", "limit", "at most N files (all)", metavar="N", convert="integer"),
                Option("-g --glob", "glob", "only paths that match; as ripgrep's -g", metavar="GLOB", once=True),
                Option("--status", "status", "only this status", metavar="S", choices=STATUSES, once=True),
                Option("--root", "root", "only this root", metavar="R", convert="path", complete="root", once=True),
                *FRESHNESS,
            ),
            examples=("livedex list --status failed", "livedex list ~/notes -g '*.md'"),
        ),
        Command(
            "files",
            "indexed and skipped files by pieces of their paths, as fzf matches them",
            run="files_command:find",
            operand=Operand("WORD", "query", least=0, most=None),
            options=(
                Option("-n --limit", "limit", "at most N files (all)", metavar="N", convert="integer"),
                Option("-0 --null", "null", "end each path with a NUL byte instead of a line end"),
                SORT,
                Option("--typing", "typing", "always exit 0: what is typed next may find something"),
                *FRESHNESS,
            ),
            notes="WORD: letters in order; with an upper-case letter case counts. No WORD: all, the newest first.",
            examples=("livedex files | fzf", "livedex files src main"),
        ),
        Command(
            "languages",
            "the languages of the indexed files, with their numbers of files",
            run="languages_command:languages",
            operand=_ANY_PATHS,
            options=FRESHNESS,
            notes="-t and lang: take these names and the usual others, such as js, ts, rs, md, c++ and sh.",
            examples=("livedex languages", "livedex languages ~/src"),
        ),
        Command(
            "retrieve",
            "all chunks of one file",
            run="files_command:retrieve",
            operand=Operand("PATH", "path", convert="path", complete="path"),
            options=(
                Option("--start-line", "start_line", "from line N on", metavar="N", convert="integer"),
                Option("--end-line", "end_line", "up to line N", metavar="N", convert="integer"),
                *FRESHNESS,
            ),
            examples=("livedex retrieve ~/notes/todo.md --start-line 10 --end-line 40",),
        ),
        Command(
            "why",
            "why a path is in the index, or is not, and the rule that decided",
            run="files_command:why",
            operand=_PATHS,
            options=FRESHNESS,
            examples=("livedex why build/output.log",),
        ),
        Command(
            "forget",
            "leave files out of the index until their content or path changes; they stay on disk",
            run="files_command:forget",
            operand=_PATHS,
            options=(Option("--undo", "undo", "index them again"),),
            alias="delete",
            examples=("livedex forget ~/notes/private.md", "livedex forget --undo ~/notes/private.md"),
        ),
        EXCHANGE,
        KNOWLEDGE,
        _CONFIG,
        _PLUGINS,
        SERVICE,
        MCP,
        LSP,
        EDITOR,
        WEB,
        Command(
            "help",
            "show the help of a command",
            run="help_command:show",
            operand=Operand("COMMAND", "names", least=0, most=None),
            examples=("livedex help search", "livedex help roots add"),
        ),
        Command("version", "show the version", run="help_command:version"),
        Command(
            "socket",
            "print the socket's path, and see that a daemon answers there",
            run="status_command:socket",
            notes="It starts the daemon if none runs; with --no-spawn: exit 3.",
        ),
        Command(
            "uninstall",
            "stop the daemon, remove the service, the index and the log",
            run="uninstall_command:uninstall",
            options=(
                Option("--all", "all", "also the configuration, forgotten marks, messages and memory"),
                Option("--dry-run", "dry_run", "only print what would be removed"),
            ),
            notes="On a terminal it asks for the configuration and what else cannot be made again; else it keeps them.",
            examples=("livedex uninstall --dry-run", "livedex uninstall --all"),
        ),
        Command("paths", "where the configuration, the index, the log and the socket are", run=_DAEMON),
        Command(
            "logs",
            "print the daemon's log",
            run=_DAEMON,
            options=(Option("-f --follow", "follow", "print what is added, until Ctrl-C"),),
        ),
        Command("doctor", "check this installation; works without a daemon", run=_DAEMON),
        Command(
            "completion",
            "print the completion script of a shell",
            run="completion_command:completion",
            operand=Operand("SHELL", "shell", choices=("bash", "zsh", "fish")),
            examples=(
                'eval "$(livedex completion bash)"',
                "livedex completion fish > ~/.config/fish/completions/livedex.fish",
            ),
        ),
    ),
    examples=("livedex up ~/notes", "livedex search frobnicate the widget"),
)
