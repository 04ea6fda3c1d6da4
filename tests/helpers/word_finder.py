"""A program with the command line of ``semtools search``, for tests: it finds the lines with the words of the query.

Invariant: what it prints has the form of the real command's ``--json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    words = sys.argv[1:]
    end = words.index("--")
    top = int(words[words.index("--top-k") + 1])
    query, *paths = words[end + 1 :]
    wanted = query.lower().split()
    results = []
    for path in paths:
        for number, line in enumerate(Path(path).read_text().splitlines(), 1):
            count = sum(line.lower().count(word) for word in wanted)
            if count:
                place = {"start_line_number": number, "end_line_number": number, "match_line_number": number}
                results.append({"filename": path, **place, "distance": 1 / count, "content": line})
    results.sort(key=lambda one: float(str(one["distance"])))
    print(json.dumps({"results": results[:top]}))


if __name__ == "__main__":
    main()
