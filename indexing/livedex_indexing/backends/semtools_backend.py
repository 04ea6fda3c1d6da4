"""A backend that ranks with the ``semtools`` command: it reads the files itself, so nothing is stored.

Invariant: to index is to know a path. The command gets only paths that livedex indexed, after ``--``, and no shell.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping

from livedex_indexing.plugins import BaseBackend, Document, Hit, Query

SECONDS = 8.0
_ARGUMENT_BYTES = 100_000  # of paths for one run


class SemtoolsBackend(BaseBackend):
    """Settings: ``command`` (["semtools", "search"]), ``max_distance`` (none: the nearest lines, however far)."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        command = settings.get("command", ("semtools", "search"))
        if isinstance(command, str) or not isinstance(command, tuple | list):
            raise ValueError('[plugin.semtools] command must be a list: ["semtools", "search"]')
        self._command = [str(word) for word in command]
        self._distance = settings.get("max_distance")
        self._files: dict[str, str | None] = {}

    def index(self, document: Document) -> None:
        self._files[document.path] = document.language

    def delete(self, path: str) -> bool:
        gone = [one for one in self._files if one == path or one.startswith(path + "/")]
        for one in gone:
            del self._files[one]
        return bool(gone)

    def clear(self) -> None:
        self._files.clear()

    def search(self, query: Query) -> list[Hit]:
        wanted = query.offset + query.limit
        hits = [hit for paths in self._batches(query) for hit in self._run(query, paths, wanted)]
        hits.sort(key=lambda hit: (-hit.score, hit.path, hit.start_line or 0))
        return hits[query.offset : wanted]

    def _batches(self, query: Query) -> Iterator[list[str]]:
        paths: list[str] = []
        size = 0
        for path, language in sorted(self._files.items()):
            if query.languages and language not in query.languages:
                continue
            if query.path is not None and not f"{path}/".startswith(f"{query.path}/"):
                continue
            if query.roots and not any(path.startswith(f"{root}/") for root in query.roots):
                continue
            paths.append(path)
            size += len(path.encode())
            if size > _ARGUMENT_BYTES:
                yield paths
                paths, size = [], 0
        if paths:
            yield paths

    def _run(self, query: Query, paths: list[str], wanted: int) -> list[Hit]:
        options = ["--json", "--top-k", str(wanted)]
        if self._distance is not None:
            options += ["--max-distance", str(self._distance)]
        text = " ".join((query.text, *query.phrases)).strip()
        done = subprocess.run(
            [*self._command, *options, "--", text, *paths],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise OSError(f"{self._command[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return [_hit(one) for one in json.loads(done.stdout)["results"]]


def _hit(found: Mapping[str, object]) -> Hit:
    line = int(str(found.get("match_line_number", found["start_line_number"])))
    return Hit(str(found["filename"]), None, 1.0 / (1.0 + float(str(found["distance"]))), line, line)
