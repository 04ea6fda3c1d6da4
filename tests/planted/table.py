"""All planted defects, in the order of what they break, and the document made from them."""

from __future__ import annotations

from planted.defect import Defect
from planted.of_agents import DEFECTS as OF_AGENTS
from planted.of_answers import DEFECTS as OF_ANSWERS
from planted.of_changes import DEFECTS as OF_CHANGES
from planted.of_children import DEFECTS as OF_CHILDREN
from planted.of_code import DEFECTS as OF_CODE
from planted.of_command import DEFECTS as OF_COMMAND
from planted.of_documents import DEFECTS as OF_DOCUMENTS
from planted.of_emacs import DEFECTS as OF_EMACS
from planted.of_errors import DEFECTS as OF_ERRORS
from planted.of_exchange import DEFECTS as OF_EXCHANGE
from planted.of_files import DEFECTS as OF_FILES
from planted.of_formats import DEFECTS as OF_FORMATS
from planted.of_keeping import DEFECTS as OF_KEEPING
from planted.of_knowledge import DEFECTS as OF_KNOWLEDGE
from planted.of_limits import DEFECTS as OF_LIMITS
from planted.of_lines import DEFECTS as OF_LINES
from planted.of_live import DEFECTS as OF_LIVE
from planted.of_moments import DEFECTS as OF_MOMENTS
from planted.of_mounts import DEFECTS as OF_MOUNTS
from planted.of_neovim import DEFECTS as OF_NEOVIM
from planted.of_page import DEFECTS as OF_PAGE
from planted.of_pasted import DEFECTS as OF_PASTED
from planted.of_plugins import DEFECTS as OF_PLUGINS
from planted.of_questions import DEFECTS as OF_QUESTIONS
from planted.of_repairs import DEFECTS as OF_REPAIRS
from planted.of_scopes import DEFECTS as OF_SCOPES
from planted.of_sentences import DEFECTS as OF_SENTENCES
from planted.of_service import DEFECTS as OF_SERVICE
from planted.of_standing import DEFECTS as OF_STANDING
from planted.of_starts import DEFECTS as OF_STARTS
from planted.of_threads import DEFECTS as OF_THREADS
from planted.of_vectors import DEFECTS as OF_VECTORS
from planted.of_vscode import DEFECTS as OF_VSCODE
from planted.of_web import DEFECTS as OF_WEB

PARTS: dict[str, tuple[Defect, ...]] = {
    "Hearing of changes, and waiting for them": OF_CHANGES,
    "Looking at the user's files": OF_FILES,
    "Keeping the index and what is precious": OF_KEEPING,
    "Answering": OF_ANSWERS,
    "What a question finds": OF_QUESTIONS,
    "What a question in a sentence finds": OF_SENTENCES,
    "What a question about code finds": OF_CODE,
    "What a pasted text finds": OF_PASTED,
    "What is found in files that are no code": OF_FORMATS,
    "Lines, and letters as typed": OF_LINES,
    "Starts": OF_STARTS,
    "Calls that fail": OF_ERRORS,
    "Chunking in children": OF_CHILDREN,
    "Threads, versions and what waits": OF_THREADS,
    "What is looked at in two moments": OF_MOMENTS,
    "What decides about a path": OF_SCOPES,
    "Limits": OF_LIMITS,
    "The exchange": OF_EXCHANGE,
    "Standing queries that publish": OF_STANDING,
    "Agent memory": OF_KNOWLEDGE,
    "Network and FUSE mounts": OF_MOUNTS,
    "Repairs": OF_REPAIRS,
    "The command": OF_COMMAND,
    "Search as you type, on a terminal": OF_LIVE,
    "The server of the web page": OF_WEB,
    "The web page in the browser": OF_PAGE,
    "Neovim": OF_NEOVIM,
    "Emacs": OF_EMACS,
    "VS Code": OF_VSCODE,
    "The service": OF_SERVICE,
    "Agents and programs": OF_AGENTS,
    "Documents": OF_DOCUMENTS,
    "Plugins": OF_PLUGINS,
    "Vectors": OF_VECTORS,
}
DEFECTS: tuple[Defect, ...] = tuple(defect for part in PARTS.values() for defect in part)

_HEAD = """# Planted defects

A test that has never failed proves little. Each row below is a defect that the tests plant in a copy of the installed
packages and of the editors' clients (the product has no switch for any of it), and the one test that must then fail;
without the defect it passes. A row whose program is not installed is skipped, and counted as that.
`make planted` tries all of them and says how many were caught; `make test` tries a few, and holds every row against the
code: the text that a defect replaces must stand in it exactly once, the test must be there, and this page must be what
`python -m planted --document` prints from the table in `tests/planted/`.
"""


def document() -> str:
    """Return docs/planted-defects.md."""
    lines = [_HEAD]
    for title, part in PARTS.items():
        if not part:
            continue
        lines.append(f"## {title}\n\n| defect | what is wrong then | planted in | caught by |\n|---|---|---|---|")
        for defect in part:
            path, _, name = defect.test.partition("::")
            test = f"`{path.removeprefix('tests/')}`: `{name}`"
            lines.append(f"| `{defect.name}` | {defect.says} | `{defect.module}` | {test} |")
        lines.append("")
    lines.append(f"{len(DEFECTS)} defects.")
    return "\n".join(lines) + "\n"
