"""Formats the status and the roots for people: the overall state, the counts, each root, then the warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.render.shown_paths import path_text
from livedex_ipc.cli.render.terminal_text import (
    Style,
    count_text,
    duration_text,
    size_text,
    table,
    visible,
    warning_text,
)

if TYPE_CHECKING:
    from livedex_ipc.wire_results import RootFields, StatusResult

_GOOD = ("online", "native", "ready")


def status_text(status: StatusResult, *, colour: bool) -> str:
    """Format a status."""
    style = Style(colour)
    state = status["state"]
    lines = [
        f"{style.good(state) if state in _GOOD else style.bad(visible(state))}"
        f"  livedex {visible(status['version'])}, pid {status['pid']}, up {duration_text(status['uptime_s'])}",
        f"{count_text(status['files'], 'file')} in {count_text(status['chunks'], 'chunk')},"
        f" {status['skipped']:,} skipped,"
        f" {status['failed']:,} failed, {status['pending']:,} pending",
        f"{size_text(status['db_bytes'])} in {visible(status['db_path'])} ({visible(status['backend'])})",
    ]
    freshness = status["freshness"]
    if freshness["samples"]:
        lines.append(
            f"a change is indexed in {freshness['p50_ms']:.1f} ms (p50), {freshness['p99_ms']:.1f} ms (p99),"
            f" {count_text(freshness['samples'], 'sample')}"
        )
    text = "\n".join(lines) + "\n"
    if status["roots"]:
        text += "\n" + roots_text(status["roots"], colour=colour)
    else:
        text += "no folder is indexed: run `livedex up FOLDER`\n"
    if status["warnings"]:
        text += "\n" + "".join(f"{style.bad('!')} {warning_text(warning)}\n" for warning in status["warnings"])
    return text


def roots_text(roots: list[RootFields], *, colour: bool) -> str:
    """Format a table of roots, one per line."""
    if not roots:
        return "no roots\n"
    style = Style(colour)
    rows = [("STATE", "WATCHING", "FILES", "PENDING", "LOST", "ROOT")]
    rows += [
        (
            visible(root["state"]),
            visible(root["watching"]),
            f"{root['files']:,}",
            f"{root['pending']:,}",
            f"{root['overflows']:,}",
            visible(path_text(root)),
        )
        for root in roots
    ]
    head, *body = table(rows, right=frozenset((2, 3, 4)))
    coloured = [line if root["state"] in _GOOD else style.bad(line) for line, root in zip(body, roots, strict=True)]
    return "\n".join([style.dim(head), *coloured]) + "\n"
