"""The argument tree: every command, operand and option of ``livedex``, as plain data.

The parser, the help and the shell completions are all made from this one tree, so they cannot disagree. Each param
that a command takes has exactly one option.
"""

from __future__ import annotations

from livedex_ipc.cli.argument_types import Command, Operand, Option
from livedex_ipc.cli.exchange_arguments import EXCHANGE
from livedex_ipc.cli.service_arguments import MCP, SERVICE
from livedex_ipc.constants import COLOURS, FACETS, FRESH_TIMEOUT_MS, GROUPS, KINDS, MODES, STATUSES, SYNC_TIMEOUT_MS

__all__ = ["GLOBAL_OPTIONS", "ROOT", "Command", "Operand", "Option"]

GLOBAL_OPTIONS = (
    Option("--json", "json", "print JSON"),
    Option("--color", "color", "when to use colours (auto)", metavar="WHEN", choices=COLOURS),
    Option("--no-pager", "no_pager", "print long answers on the terminal without a pager"),
    Option("--no-spawn", "no_spawn", "do not start the daemon; exit 3 when none runs"),
    Option("-h --help", "help", "show this help"),
    Option("--version", "version", "show the version"),
)

_NO_FRESH = Option("--no-fresh", "fresh", "answer at once from what is indexed now", const=False)
_TIMEOUT = Option(
    "--timeout",
    "timeout_ms",
    f"wait at most S seconds for the newest changes ({FRESH_TIMEOUT_MS // 1000})",
    metavar="S",
    convert="seconds",
)
_FRESHNESS = (_NO_FRESH, _TIMEOUT)
_PATH_FILTER = Option(
    "--path", "path", "only this file, or what lies below this folder", metavar="P", convert="path", complete="path"
)

_SEARCH_OPTIONS = (
    Option("-n", "limit", "at most N hits (10)", metavar="N", convert="integer"),
    Option("--offset", "offset", "leave out the first N hits", metavar="N", convert="integer"),
    Option("--mode", "mode", "how to search (auto)", metavar="M", choices=MODES),
    Option("-F", "mode", "the lines that contain QUERY verbatim (--mode exact)", const="exact"),
    Option("-e", "mode", "the lines that match QUERY, a regular expression (--mode regex)", const="regex"),
    _PATH_FILTER,
    Option("-g", "globs", "only paths that match; `!` excludes; as ripgrep's -g", metavar="GLOB", many=True),
    Option("--lang", "languages", "only this language, such as python", metavar="L", many=True),
    Option(
        "--kind",
        "kinds",
        "only this kind of chunk",
        metavar="K",
        many=True,
        choices=KINDS,
    ),
    Option("--root", "roots", "only this root", metavar="R", convert="path", many=True, complete="root"),
    Option("--since", "modified_after", "only files modified at T or later", metavar="T", convert="time"),
    Option("--before", "modified_before", "only files modified before T", metavar="T", convert="time"),
    Option("-C", "context_lines", "show N lines before and after each shown line", metavar="N", convert="integer"),
    Option("--short", "form", "a line for each hit: path:line:text", const="short"),
    Option("--long", "form", "the whole snippet of each hit, and where its copies are", const="long"),
    Option("--full", "form", "the whole chunk of each hit", const="full"),
    Option("--group", "group", "a hit for each chunk, or for each file", metavar="G", choices=GROUPS),
    Option(
        "--max-snippet-chars", "max_snippet_chars", "at most N characters a snippet", metavar="N", convert="integer"
    ),
    Option("--max-chars", "max_chars", "at most N characters in all snippets together", metavar="N", convert="integer"),
    Option(
        "--facet",
        "facets",
        "count the files that match by F",
        metavar="F",
        many=True,
        choices=FACETS,
    ),
    Option("--total", "total", "count the hits of all pages, and their files"),
    *_FRESHNESS,
    Option("--explain", "explain", "show how each score is computed"),
    Option("--files", "form", "print only the paths, one on each line", const="files"),
    Option("--vimgrep", "form", "print path:line:col:text, one line for each matching line", const="vimgrep"),
)

# A standing query matches without ranking: it has no pages, modes or scores, and an output format of its own.
_WATCHED = (
    *("limit", "path", "globs", "languages", "kinds", "roots", "modified_after", "modified_before", "context_lines"),
    *("group", "max_snippet_chars", "fresh", "timeout_ms"),
)
_WATCH_OPTIONS = tuple(
    option for option in _SEARCH_OPTIONS if option.param in _WATCHED or option.const in ("short", "long", "full")
)

_PATHS = Operand("PATH", "paths", most=None, convert="path", complete="path")
_ANY_PATHS = Operand("PATH", "paths", least=0, most=None, convert="path", complete="path")

_ROOTS = Command(
    "roots",
    "the watched folders; kept in the configuration file",
    subcommands=(
        Command(
            "add",
            "watch and index these folders",
            run="roots_command:add",
            operand=_PATHS,
            options=(
                Option(
                    "--ignore", "ignore", "leave out what matches this gitignore pattern", metavar="PATTERN", many=True
                ),
            ),
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
    subcommands=(
        Command("show", "every setting, its value and where it comes from", run="daemon_command:exec_daemon"),
        Command("validate", "check the file; exit 2 when it is not valid", run="daemon_command:exec_daemon"),
        Command("path", "where the file is", run="daemon_command:exec_daemon"),
        Command("edit", "open the file in your editor", run="daemon_command:exec_daemon"),
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
            examples=("livedex up ~/notes", "livedex up ~/notes ~/src"),
        ),
        Command("down", "stop the daemon", run="up_command:down"),
        Command(
            "daemon",
            "run the daemon in the foreground",
            run="daemon_command:exec_daemon",
            options=(Option("--check-config", "check_config", "only check the configuration; exit 2 when not valid"),),
        ),
        Command(
            "search",
            "search the indexed files, best hits first",
            run="search_command:search",
            operand=Operand("QUERY", "query", most=None),
            options=_SEARCH_OPTIONS,
            notes=(
                'QUERY: words, "exact phrases", prefix*, -without, path:X, ext:X, lang:X, kind:X, tag:X, meta:KEY=X.\n'
                "Write -- before the words when one of them begins with a dash.\n"
                "T: RFC 3339, a date, or an age such as 90m, 2d, 3w. Exit 1 when nothing is found."
            ),
            examples=(
                "livedex search frobnicate the widget",
                "livedex search '\"exact phrase\" path:docs' -n 20",
                "livedex search parse --lang python --since 2d --vimgrep",
                "livedex search -F 'int main(void)'",
                "livedex search -e '^static .*_init\\(' -g '*.c'",
                "livedex search -- retry -deprecated",
            ),
        ),
        Command(
            "watch",
            "follow a query: its hits now, then each hit added or removed",
            run="watch_command:watch",
            operand=Operand("QUERY", "query", most=None),
            options=_WATCH_OPTIONS,
            notes=(
                "A hit is a chunk that contains all words, phrases and terms of QUERY, written as for search.\n"
                "-n limits the hits printed first, not the changes. Ends on Ctrl-C; exit 3 when the daemon ends."
            ),
            examples=(
                "livedex watch TODO --lang python",
                "livedex watch '\"release notes\" path:docs' --json > changes.jsonl",
            ),
        ),
        _ROOTS,
        Command(
            "index",
            "index these paths, or everything, again now",
            run="index_command:index",
            operand=_ANY_PATHS,
            options=(Option("--force", "force", "also files that look unchanged, and forgotten files"),),
            examples=("livedex index ~/notes/draft.md", "livedex index --force"),
        ),
        Command(
            "audit",
            "compare every file with the index; exit 1 when they differ",
            run="index_command:audit",
            options=(
                Option(
                    "--paths", "paths", "only this part", metavar="PATH", convert="path", many=True, complete="path"
                ),
                Option("--repair", "repair", "repair the differences"),
            ),
            examples=("livedex audit", "livedex audit --paths ~/notes --repair"),
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
            options=(
                _PATH_FILTER,
                Option("--glob", "glob", "only paths that match; as ripgrep's -g", metavar="GLOB"),
                Option(
                    "--status",
                    "status",
                    "only files with this status",
                    metavar="S",
                    choices=STATUSES,
                ),
                Option("--root", "root", "only this root", metavar="R", convert="path", complete="root"),
                *_FRESHNESS,
            ),
            examples=("livedex list --status failed", "livedex list --path ~/notes --glob '*.md'"),
        ),
        Command(
            "retrieve",
            "all chunks of one file",
            run="files_command:retrieve",
            operand=Operand("PATH", "path", convert="path", complete="path"),
            options=(
                Option("--start-line", "start_line", "from line N on", metavar="N", convert="integer"),
                Option("--end-line", "end_line", "up to line N", metavar="N", convert="integer"),
                *_FRESHNESS,
            ),
            examples=("livedex retrieve ~/notes/todo.md --start-line 10 --end-line 40",),
        ),
        Command(
            "why",
            "why a path is in the index, or is not, and the rule that decided",
            run="files_command:why",
            operand=_PATHS,
            options=_FRESHNESS,
            examples=("livedex why build/output.log",),
        ),
        Command(
            "delete",
            "forget files until their content or path changes; they stay on disk",
            run="files_command:delete",
            operand=_PATHS,
            examples=("livedex delete ~/notes/private.md",),
        ),
        EXCHANGE,
        _CONFIG,
        SERVICE,
        MCP,
        Command("doctor", "check this installation; works without a daemon", run="daemon_command:exec_daemon"),
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
