"""Explain why a path is or is not in the index: by its row, the rule that excludes it, or its file type.

Invariant: each answer is derived from the rules and the disk as they are now; a row alone is never the reason.
"""

from __future__ import annotations

from typing import Any

from livedex_daemon.watch.root_table import Root
from livedex_indexing.disk import tree
from livedex_indexing.model import FileRow
from livedex_indexing.path_text import path_fields

_WHY = {
    "vcs": "a version control folder",
    "default": "left out by a default",
    "secret": "likely a secret",
    "own": "livedex's own files",
}


def explain(root: Root, path: bytes, row: FileRow | None, frontmatter_fault: str | None) -> dict[str, Any]:
    """Return the result of ``files/explain`` for a path inside ``root``.

    ``row``: the path's row in the index; None without one. ``frontmatter_fault``: why its frontmatter was refused.
    """
    answer: dict[str, Any] = {**path_fields(root.absolute(path)), "status": None, "reason": None, "rule": None}
    if not root.present:
        return {**answer, "status": "pending" if row is not None else "outside", "reason": f"the root is {root.state}"}
    try:
        stat = tree.stat(root.path, path)
    except (tree.Denied, tree.ReadFailed) as fault:
        return {
            **answer,
            "status": "failed",
            "reason": "denied" if isinstance(fault, tree.Denied) else f"read: {fault}",
        }
    verdict = root.rules.explain(path, stat is not None and stat.kind == "folder")
    if verdict is not None:
        rule = {"file": verdict.file, "line": verdict.line, "pattern": verdict.pattern}
        return {
            **answer,
            "status": "ignored",
            "reason": _WHY.get(verdict.kind, f"ignored by {verdict.file}"),
            "rule": rule,
        }
    if stat is None:
        return {**answer, "status": "outside", "reason": "there is no such file"}
    if row is not None:
        taken = "its frontmatter is read as ordinary text: "
        reason = row.reason if frontmatter_fault is None else taken + frontmatter_fault
        return {**answer, "status": row.status, "reason": reason}
    if stat.kind == "folder":
        return {**answer, "status": "indexed", "reason": "a folder: the rules apply to each of its entries"}
    return {**answer, "status": "pending", "reason": "not indexed yet"}
