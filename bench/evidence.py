"""`python -m bench.evidence FOLDER…`: characters that an agent reads until the lines that answer it are before it.

With `livedex mcp`, `search` and, if the snippet does not show the line, `retrieve` of it; with ripgrep, its
output and then the file. Questions are those of `bench.quality --navigation` that have a line. Each answer is cut at
25,000 characters, as agents' programs do.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.quality.navigation import Navigation, questions

MOST = 25_000  # characters of one answer
READ_LINES = 2_000  # lines of one look into a file
PAGES = 3
LIVEDEX = str(Path(sys.executable).with_name("livedex"))


class Costs(NamedTuple):
    """Characters read for one question. None: the lines were never shown."""

    kind: str
    livedex: int | None
    ripgrep: int | None


class Agent:
    """Calls tools of `livedex mcp`."""

    def __init__(self, home: Path) -> None:
        env = {**os.environ, "LIVEDEX_HOME": str(home)}
        self._process = subprocess.Popen([LIVEDEX, "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._last = 0

    def call(self, tool: str, **arguments: object) -> tuple[str, Any]:
        """The text that the model reads, and the structured answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._last += 1
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self._last, "method": "tools/call", "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        result = json.loads(self._process.stdout.readline())["result"]
        return "".join(block.get("text", block.get("uri", "")) for block in result["content"]), result.get(
            "structuredContent", {}
        )

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def with_livedex(agent: Agent, root: Path, question: Navigation) -> int | None:
    cost = 0
    for page in range(PAGES):
        text, answer = agent.call("search", query=question.text, limit=5, offset=5 * page)
        cost += len(text)
        for hit in answer.get("hits", ()):
            line = question.wanted.get(os.path.relpath(hit["path"], root))
            if line is None or not hit["start_line"] <= line <= hit["end_line"]:
                continue
            first = hit["snippet_line"]
            if first <= line <= first + hit["snippet"].count("\n"):
                return cost
            return cost + len(agent.call("retrieve", path=hit["path"], start_line=line, end_line=line)[0])
        if answer.get("next_offset") is None:
            break
    return None


def with_ripgrep(root: Path, question: Navigation) -> int | None:
    words = re.findall(r"\w+", question.text)
    longest = max(words, key=len, default=question.text)
    cost = 0
    tries = (["-F", question.text], ["-iF", question.text], ["-i", r"\W*".join(words)], ["-iF", longest])
    for pattern in tries:
        command = ["rg", "-n", "--no-heading", *pattern[:1], "--", pattern[1], "."]
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", check=False).stdout
        found = found[:MOST]
        cost += len(found)
        for path, line in question.wanted.items():
            if f"./{path}:{line}:" in found:
                return cost + len(_read(root / path, line))
    return None


def _read(path: Path, line: int) -> str:
    """What an agent's tool shows of a file: from its beginning, or from a bit before a line that is further down."""
    lines = path.read_text(errors="replace").splitlines(keepends=True)
    begin = max(0, line - READ_LINES // 2) if line > READ_LINES else 0
    return "".join(lines[begin : begin + READ_LINES])[:MOST]


@contextmanager
def indexed(root: Path) -> Iterator[Agent]:
    with tempfile.TemporaryDirectory(prefix="livedex-evidence-") as folder:
        env = {**os.environ, "LIVEDEX_HOME": folder}
        subprocess.run([LIVEDEX, "up", str(root)], env=env, check=True, stdout=subprocess.DEVNULL)
        agent = Agent(Path(folder))
        try:
            yield agent
        finally:
            agent.close()
            subprocess.run([LIVEDEX, "down"], env=env, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.evidence", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", default=[Path(sysconfig.get_path("stdlib"))])
    parser.add_argument("--most", type=int, default=40, help="questions of each kind (default: %(default)s)")
    options = parser.parse_args()
    costs: list[Costs] = []
    for folder in options.folders:
        root = folder.resolve()
        asked = [one for one in questions(root) if one.half == "test" and all(one.wanted.values())]
        with indexed(root) as agent:
            for kind in dict.fromkeys(one.kind for one in asked):
                for one in [each for each in asked if each.kind == kind][: options.most]:
                    costs.append(Costs(kind, with_livedex(agent, root, one), with_ripgrep(root, one)))
    report(costs)
    return 0


def report(costs: list[Costs]) -> None:
    print(
        f"{'':<18} {'n':>5} {'found':>6} {'rg':>6} {'characters':>11} {'rg':>8} {'ratio':>6}   medians where both found"
    )
    kinds = [*dict.fromkeys(cost.kind for cost in costs), "all"]
    for kind in kinds:
        those = [cost for cost in costs if kind in (cost.kind, "all")]
        both = [(cost.livedex, cost.ripgrep) for cost in those if cost.livedex and cost.ripgrep]
        ours, theirs = (statistics.median(values) for values in zip(*both, strict=True)) if both else (0, 0)
        ratio = statistics.median(rg / livedex for livedex, rg in both) if both else 0
        found = [
            sum(value is not None for value in values) / len(those) for values in list(zip(*those, strict=True))[1:]
        ]
        print(
            f"{kind:<18} {len(those):>5} {found[0]:>6.2f} {found[1]:>6.2f} {ours:>11,.0f} {theirs:>8,.0f} {ratio:>6.1f}"
        )


if __name__ == "__main__":
    sys.exit(main())
