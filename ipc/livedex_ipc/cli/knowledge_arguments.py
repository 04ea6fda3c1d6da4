"""The part of the argument tree for ``livedex knowledge``: agent memory.

Invariant: as that of the whole tree.
"""

from __future__ import annotations

from livedex_ipc.cli.argument_types import Command, Operand, Option
from livedex_ipc.constants import ENTRY_KINDS, HOT_CHARS, RANKED_MODES

_CONTENT = Operand("CONTENT|-", "content", least=0)
_STDIN = "Without CONTENT, or with -, it is read from stdin."
_ONLY_DOMAIN = Option("--domain", "domain", "only entries of this domain", metavar="D")
_SOURCE = Option("--source", "source", "where it comes from", metavar="TEXT")
_METADATA = Option("--metadata", "metadata", "a JSON object", metavar="JSON", convert="object")

KNOWLEDGE = Command(
    "knowledge",
    "agent memory: remember texts and find them again",
    subcommands=(
        Command(
            "add",
            "remember a text",
            run="knowledge_command:add",
            operand=_CONTENT,
            options=(
                Option("--domain", "domain", "keep it in this domain (general)", metavar="D"),
                Option("--heading", "heading", "a title", metavar="TEXT"),
                _SOURCE,
                _METADATA,
            ),
            notes=_STDIN,
            examples=("livedex knowledge add 'Ada prefers short commits' --domain people",),
        ),
        Command(
            "finding",
            "remember what an agent found out",
            run="knowledge_command:finding",
            operand=_CONTENT,
            options=(
                _SOURCE,
                Option("--confidence", "confidence", "how sure it is", metavar="TEXT"),
                Option("--domain", "domain", "keep it in this domain (findings)", metavar="D"),
                _METADATA,
            ),
            notes=_STDIN,
            examples=("livedex knowledge finding 'The cache is never emptied' --source src/cache.py",),
        ),
        Command(
            "search",
            "the entries that match a query, best first",
            run="knowledge_command:search",
            operand=Operand("QUERY", "query", most=None),
            options=(
                Option("-n -k --limit", "k", "at most N entries (5)", metavar="N", convert="integer"),
                _ONLY_DOMAIN,
                Option("--mode", "mode", "how to search (auto)", metavar="M", choices=RANKED_MODES),
            ),
            notes="Exit code 1 if nothing is found.",
            examples=("livedex knowledge search commits --domain people",),
        ),
        Command(
            "list",
            "entries in the order in which they were added",
            run="knowledge_command:show",
            options=(
                _ONLY_DOMAIN,
                Option("--kind", "kind", "only entries of this kind", metavar="K", choices=ENTRY_KINDS),
                Option("-n --limit", "limit", "at most N entries (100)", metavar="N", convert="integer"),
                Option("--offset", "offset", "skip the first N entries", metavar="N", convert="integer"),
            ),
        ),
        Command(
            "hot",
            "the entries used last and most, as one text",
            run="knowledge_command:hot",
            options=(
                Option(
                    "--max-chars", "max_chars", f"at most N characters ({HOT_CHARS})", metavar="N", convert="integer"
                ),
            ),
        ),
        Command(
            "delete",
            "delete an entry",
            run="knowledge_command:delete",
            operand=Operand("ID", "id", convert="integer"),
            examples=("livedex knowledge delete 12",),
        ),
        Command("stats", "how many entries each domain has", run="knowledge_command:stats"),
    ),
)
