"""Explain why a path is or is not in the index: by its row, the rule that excludes it or lets it in, or its file type.

Invariant: each answer is derived from the rules and the disk as they are now; a row alone is never the reason.
"""

from __future__ import annotations

from livedex_daemon.watch.root_table import Root
from livedex_indexing import relpath
from livedex_indexing.disk import tree
from livedex_indexing.model import FileRow
from livedex_indexing.path_text import path_fields
from livedex_ipc.file_results import PathExplanation, RuleFields

FOLDER = "a folder: the rules apply to each of its entries"

_NO_FILE = "there is no such file"
_LONG = 4_096  # bytes: rules of missing folders are made one by one for a shorter path only
_WHY = {
    "vcs": "a version control folder",
    "default": "left out by a default",
    "secret": "likely a secret",
    "own": "livedex's own files",
}


def explain(root: Root, path: bytes, row: FileRow | None, frontmatter_fault: str | None) -> PathExplanation:
    """Return the result of ``files/explain`` for a path inside ``root``.

    ``row``: the path's row in the index; None without one. ``frontmatter_fault``: why its frontmatter was refused.
    """

    rule: RuleFields | None = None

    def answer(status: str, reason: str | None) -> PathExplanation:
        return {**path_fields(root.absolute(path)), "status": status, "reason": reason, "rule": rule}

    if not root.present:
        return answer("pending" if row is not None else "outside", f"the root is {root.state}")
    try:
        stat = tree.stat(root.path, path)
        if stat is None and len(path) > _LONG:
            return answer("outside", _NO_FILE)
        is_folder = stat is not None and stat.kind == "folder"
        verdict = root.rules.explain(path, is_folder)
        if verdict is None and path and stat is not None:
            folder, name = relpath.split(path)
            verdict = root.rules.rules(folder).let_in(name, is_folder)
    except (tree.Denied, tree.ReadFailed) as fault:
        return answer("failed", "denied" if isinstance(fault, tree.Denied) else f"read: {fault}")
    if verdict is not None:
        rule = {"file": verdict.file, "line": verdict.line, "pattern": verdict.pattern}
        if verdict.kind != "let_in":
            return answer("ignored", _WHY.get(verdict.kind, f"ignored by {verdict.file}"))
    if stat is None:
        return answer("outside", _NO_FILE)
    if row is not None:
        taken = "its frontmatter is read as ordinary text: "
        reason = row.reason if frontmatter_fault is None else taken + frontmatter_fault
        return answer(row.status, reason)
    if stat.kind == "folder":
        return answer("indexed", FOLDER)
    return answer("pending", "not indexed yet")
