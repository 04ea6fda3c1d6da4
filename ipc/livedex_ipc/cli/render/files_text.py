"""Formats files, chunks, rules and counts for people; each function formats the answer of one method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.render.shown_paths import shown_path
from livedex_ipc.cli.render.terminal_text import Style, count_text, size_text, table, visible

if TYPE_CHECKING:
    from livedex_ipc.file_results import (
        ChunkFields,
        DeleteResult,
        ExplainResult,
        FileFields,
        FileListResult,
        RetrieveResult,
    )
    from livedex_ipc.wire_results import AuditResult, IndexRunResult, SyncResult


_NO_FILE = "there is no such file"


def files_text(result: FileListResult[FileFields], *, colour: bool) -> str:
    """Format a table of files, and their number."""
    if not result["files"]:
        return ""
    rows = [("STATUS", "SIZE", "CHUNKS", "LANGUAGE", "PATH")]
    for entry in result["files"]:
        reason = f"  ({visible(entry['reason'])})" if entry.get("reason") else ""
        language = visible(entry["language"] or "")
        path = visible(shown_path(entry))
        rows.append(
            (visible(entry["status"]), size_text(entry["size"]), f"{entry['chunks']:,}", language, path + reason)
        )
    head, *body = table(rows, right=frozenset((1, 2)))
    count = count_text(result["total"], "file")
    if len(body) < result["total"]:
        count = f"{len(body):,} of {count}"
    return "\n".join([Style(colour).dim(head), *body, count]) + "\n"


def chunks_text(result: RetrieveResult[ChunkFields], *, colour: bool) -> str:
    """Format every chunk of a file: a line that describes it, then its text."""
    style = Style(colour)
    parts = [style.path(visible(shown_path(result))) + "\n"]
    for chunk in result["chunks"]:
        words = [f"#{chunk['ordinal']}", f"lines {chunk['start_line']}-{chunk['end_line']}", chunk["kind"]]
        words += [word for word in (chunk["language"], chunk["heading"], chunk["symbol"]) if word]
        text = visible(chunk["text"].replace("\r\n", "\n"), "\t\n")
        parts.append(style.dim(visible(" · ".join(words))) + "\n" + text.removesuffix("\n") + "\n")
    return "".join(parts)


def why_text(answer: ExplainResult, *, colour: bool) -> str:
    """Format one line: the path, its status, the reason, and the rule that decided."""
    style = Style(colour)
    rule, reason, status = answer["rule"], answer["reason"], answer["status"]
    if status == "outside" and reason == _NO_FILE:
        status = "missing"
    words = [f"{style.path(visible(shown_path(answer)))}: {style.strong(visible(status))}"]
    if reason and not (rule and reason.endswith(rule["file"])):  # else the rule says it again
        words.append(f"({visible(reason)})")
    if rule:
        line = f":{rule['line']}" if rule["line"] else ""
        words[-1] += " by" if status == "ignored" else ", let in by"
        words.append(f"{visible(str(rule['file']))}{line}: {visible(str(rule['pattern']))}")
    return " ".join(words) + "\n"


def deleted_text(answer: DeleteResult) -> str:
    """Format the number of forgotten files."""
    return f"{count_text(answer['deleted'], 'file')} forgotten\n"


def remembered_text(answer: IndexRunResult) -> str:
    """Format the number of files that were forgotten and can be found again."""
    return f"{count_text(answer['indexed'], 'file')} indexed again\n"


def index_lines(answer: IndexRunResult) -> str:
    """Format the counts of an index run, and each failed file."""
    failed = answer["failed"]
    lines = [
        f"{count_text(answer['scanned'], 'file')} examined in {answer['took_ms'] / 1000:.1f} s:"
        f" {answer['indexed']:,} indexed,"
        f" {answer['unchanged']:,} unchanged, {answer['skipped']:,} skipped, {answer['removed']:,} removed,"
        f" {len(failed):,} failed"
    ]
    lines += [visible(f"{shown_path(each)}: {each['stage']}: {each['message']}") for each in failed]
    if answer["documents_pending"]:
        lines.append(f"{count_text(answer['documents_pending'], 'document')} still to be converted")
    return "\n".join(lines) + "\n"


def audit_lines(answer: AuditResult) -> str:
    """Format each difference on a line, then the totals."""
    differences = answer["differences"]
    lines = [f"{visible(each['what'])}  {visible(shown_path(each))}" for each in differences]
    repaired = f", {answer['repaired']:,} repaired" if answer["repaired"] else ""
    compared, found = count_text(answer["checked"], "file"), count_text(len(differences), "difference")
    lines.append(f"{compared} compared, {found}{repaired}")
    return "\n".join(lines) + "\n"


def sync_lines(answer: SyncResult) -> str:
    """Format whether the index is up to date, and how long that took."""
    state = "up to date" if answer["synced"] else f"{answer['pending']:,} pending"
    return f"{state} after {answer['waited_ms']:.0f} ms\n"
