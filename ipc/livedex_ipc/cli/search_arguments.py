"""The part of the argument tree about searching: ``search`` and ``watch``, which share their filters and forms.

Invariant: an option that grep, ripgrep or git has means the same here, and is spelt the same.
"""

from __future__ import annotations

from livedex_ipc.cli.argument_types import Command, Operand, Option
from livedex_ipc.constants import FACETS, FRESH_TIMEOUT_MS, GROUPS, KINDS, MODES, ORDERS

FRESHNESS = (
    Option("--no-fresh", "fresh", "answer at once from what is indexed now", const=False),
    Option(
        "--timeout",
        "timeout_ms",
        f"wait at most S seconds for the newest changes ({FRESH_TIMEOUT_MS // 1000})",
        metavar="S",
        convert="seconds",
    ),
)

SORT = Option("--sort", "sort", "the order (relevance); modified: the last first", metavar="ORDER", choices=ORDERS)

_SEARCH_OPTIONS = (
    Option("-n --limit", "limit", "at most N hits (10; with -F and -e all)", metavar="N", convert="integer"),
    Option("--typing", "typing", "the last word is still being typed: what begins with it matches; always exit 0"),
    Option("--all", "all", "all hits, a page after the other"),
    Option("--offset", "offset", "leave out the first N hits", metavar="N", convert="integer"),
    Option("--mode", "mode", "how to search (auto)", metavar="M", choices=MODES),
    Option("-F --fixed-strings", "mode", "the lines that contain QUERY verbatim (--mode exact)", const="exact"),
    Option("-e --regexp", "mode", "the lines that match QUERY, a regular expression (--mode regex)", const="regex"),
    Option("-i --ignore-case", "letter_case", "with -F and -e: ignore case", const="ignore", overrules=True),
    Option(
        "-s --case-sensitive", "letter_case", "with -F and -e: never ignore case", const="sensitive", overrules=True
    ),
    Option(
        "-S --smart-case",
        "letter_case",
        "with -F and -e: ignore case if QUERY has no upper case (default)",
        const="smart",
        overrules=True,
    ),
    Option("-w --word-regexp", "whole_words", "with -F and -e: no letter, digit or _ next to a match"),
    SORT,
    Option(
        "--path --in",
        "paths",
        "only this file, or what lies below this folder",
        metavar="PATH",
        convert="path",
        many=True,
        complete="path",
    ),
    Option("--here", "here", "only what lies below the working folder"),
    Option("-g --glob", "globs", "only paths that match; `!` excludes; as ripgrep's -g", metavar="GLOB", many=True),
    Option("-t --lang", "languages", "only this language, such as python", metavar="L", many=True, complete="language"),
    Option("--kind", "kinds", "only this kind of chunk", metavar="K", many=True, choices=KINDS),
    Option("--root", "roots", "only this root", metavar="R", convert="path", many=True, complete="root"),
    Option("--since", "modified_after", "only files modified at T or later", metavar="T", convert="time"),
    Option("--before", "modified_before", "only files modified before T", metavar="T", convert="time"),
    Option(
        "-C --context", "context_lines", "show N lines before and after each shown line", metavar="N", convert="integer"
    ),
    Option("--group", "group", "a hit for each chunk, or for each file", metavar="G", choices=GROUPS),
    Option("--short", "form", "a line for each hit: path:line:text", const="short"),
    Option("--long", "form", "the whole snippet of each hit, and where its copies are", const="long"),
    Option("--full", "form", "the whole chunk of each hit", const="full"),
    Option("-l --files-with-matches --files", "form", "print only the paths, one on each line", const="files"),
    Option("-c --count", "form", "print path:N for each file: how many of its chunks or lines match", const="count"),
    Option("--vimgrep", "form", "print path:line:col:text, one line for each matching line", const="vimgrep"),
    Option("-0 --null", "null", "end each path with a NUL byte, and leave it as it is"),
    Option(
        "--max-snippet-chars", "max_snippet_chars", "at most N characters a snippet", metavar="N", convert="integer"
    ),
    Option("--max-chars", "max_chars", "at most N characters in all snippets together", metavar="N", convert="integer"),
    Option("--facet", "facets", "count the files that match by F", metavar="F", many=True, choices=FACETS),
    Option("--total", "total", "count the hits of all pages, and their files"),
    *FRESHNESS,
    Option("--explain", "explain", "show how each score is computed"),
    Option("--knowledge", "knowledge", "search agent memory, too"),
    Option("--domain", "domains", "search this domain of agent memory, too", metavar="D", many=True),
)

# A standing query matches without ranking: it has no pages, modes or scores, and it goes on.
_FOR_MEMORY = ("knowledge", "domains")
_OF_SEARCH_ALONE = frozenset(
    (
        *("typing", "all", "limit", "offset", "mode", "null", "max_chars", "facets", "total", "explain"),
        *("files", "count", "vimgrep", "letter_case", "whole_words", "sort", *_FOR_MEMORY),
    )
)
_WATCH_OPTIONS = (
    Option("-n --limit", "limit", "at most N of the hits that are there already (10)", metavar="N", convert="integer"),
    *(
        option
        for option in _SEARCH_OPTIONS
        if option.param not in _OF_SEARCH_ALONE and option.const not in _OF_SEARCH_ALONE
    ),
)

_QUERY = Operand("QUERY", "query", most=None)

SEARCH = Command(
    "search",
    "search the indexed files, best hits first",
    run="search_command:search",
    operand=_QUERY,
    options=_SEARCH_OPTIONS,
    notes=(
        'QUERY: words, "exact phrases", prefix*, -without, path:X, ext:X, lang:X, kind:X, tag:X, meta:KEY=X.\n'
        "Write -- before the words when one of them begins with a dash: all behind it are words.\n"
        "T: a date (2026-05-01, 2026-05, 2026), an age (90m, 2d, 1y), yesterday, 'last week', or RFC 3339.\n"
        "--timeout is 10 on a terminal, 60 with -F, -e and --all. Exit 1: nothing found; 4: nothing found so far.\n"
        "--explain: of the chunk words, written (in that form), pairs, near (to each other), symbols, heading,\n"
        "titled, every (word), opening, typed (as such), similar (meaning); of the file more (chunks), name, title,\n"
        "path, called (so), short, cover (of words), brief (name); less for auxiliary (tests), news and prose."
    ),
    examples=(
        "livedex search frobnicate the widget",
        "livedex search '\"exact phrase\" path:docs' -n 20",
        "livedex search parse -t python --since 2d --vimgrep",
        "livedex search -F 'int main(void)' --here",
        "livedex search -e '^static .*_init\\(' -g '*.c' -l",
        "livedex search -- retry -deprecated",
    ),
)

WATCH = Command(
    "watch",
    "follow a query: its hits now, then each hit added or removed",
    run="watch_command:watch",
    operand=_QUERY,
    options=_WATCH_OPTIONS,
    notes=(
        "A hit is a chunk that contains all words, phrases and terms of QUERY, written as for search.\n"
        "-n limits the hits printed first, not the changes. Ends on Ctrl-C; exit 3 when the daemon ends."
    ),
    examples=(
        "livedex watch TODO --lang python",
        "livedex watch '\"release notes\" path:docs' --json > changes.jsonl",
    ),
)

LIVE = Command(
    "live",
    "search as you type, on the whole terminal",
    run="live_command:live",
    operand=Operand("QUERY", "query", least=0, most=None),
    options=(
        Option("-F --fixed-strings", "mode", "begin with the lines that contain QUERY verbatim", const="exact"),
        Option("-e --regexp", "mode", "begin with the lines that match QUERY, a regular expression", const="regex"),
        Option("--path", "paths", "only paths that contain TEXT, or below a folder", metavar="TEXT", many=True),
        Option("-t --lang", "languages", "only this language", metavar="L", many=True, complete="language"),
        Option("--since", "since", "only files modified at T or later", metavar="T"),
    ),
    notes=(
        "Enter opens a hit in $VISUAL or $EDITOR. Ctrl-O prints path:line:column:text of the marked hits and ends.\n"
        "Write / for commands, ? for help. Exit 130: ended without a choice."
    ),
    examples=("livedex live", "livedex live -t python lease", "vim $(livedex live | cut -d: -f1)"),
)
