"""What `up` says about the folders that it added: which root they divide, and why nothing of them is indexed.

Invariant: it only reads, and says nothing that the daemon did not answer.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from livedex_ipc.cli.argument_values import wire_path
from livedex_ipc.cli.render.shown_paths import path_text
from livedex_ipc.cli.render.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from livedex_ipc.client import Client
    from livedex_ipc.file_results import ExplainResult
    from livedex_ipc.wire_results import RootFields

_LOOKED_AT = 500  # entries of a folder
_SHOWN = 3  # rules
_ANSWER_S = 10.0


def divided(folders: Iterable[bytes], roots: Iterable[RootFields]) -> Iterator[str]:
    """Yield a line for each folder that lies in one of the roots, and is none itself."""
    known = [os.path.realpath(path_text(root)) for root in roots]
    for folder in folders:
        real = os.path.realpath(os.fsdecode(folder))
        around = [root for root in known if real.startswith(root.rstrip("/") + "/")]
        if around and real not in known:
            root = max(around, key=len)
            yield (
                f"{visible(real)} lies in the root {visible(root)}: from now on its files belong to the new root, and"
                " ignore files above it do not count"
            )


def why_empty(client: Client, folders: Iterable[bytes], roots: Iterable[RootFields]) -> Iterator[str]:
    """Yield a line for each folder of which nothing is indexed although it has entries: which rules shut them out."""
    files = {os.path.realpath(path_text(root)): root["files"] for root in roots}
    for folder in folders:
        real = os.path.realpath(os.fsdecode(folder))
        if files.get(real) != 0:
            continue
        try:
            entries = sorted(os.listdir(real))
        except OSError:
            continue
        rules = Counter(filter(None, (_rule(client, os.path.join(real, entry)) for entry in entries[:_LOOKED_AT])))
        if rules:
            named = ", ".join(f"{count:,} by {visible(rule)}" for rule, count in rules.most_common(_SHOWN))
            yield f"nothing of {visible(real)} is indexed: of its {len(entries):,} entries, rules leave out {named}"


def _rule(client: Client, path: str) -> str | None:
    params = {**wire_path(os.fsencode(path)), "fresh": False}
    why: ExplainResult = client.call("files/explain", params, timeout_s=_ANSWER_S)
    rule = why["rule"]
    if why["status"] != "ignored" or rule is None:
        return None
    return (
        f"{rule['file']}:{rule['line']}: {rule['pattern']}"
        if rule["line"]
        else f"the {rule['file']} rule {rule['pattern']}"
    )
