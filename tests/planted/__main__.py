"""``python -m planted [NAME…]``: plants each defect and reports whether its test noticed. ``--document`` prints the
table.

Invariant: the exit status is 0 only if every named test passes on the sound copy and every defect was caught.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from planted.copies import copied, run, try_defect
from planted.defect import Defect
from planted.table import DEFECTS, document


def main(words: Sequence[str]) -> int:
    if list(words) == ["--document"]:
        sys.stdout.write(document())
        return 0
    chosen = [defect for defect in DEFECTS if not words or defect.name in words]
    unknown = set(words) - {defect.name for defect in chosen}
    if unknown:
        print(f"no such defect: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    return 0 if _is_sound(chosen) and _all_caught(chosen) else 1


def _is_sound(defects: Sequence[Defect]) -> bool:
    with copied() as copy:
        verdict = run(copy, [defect.test for defect in defects])
    print(f"without a defect: {'all tests pass' if verdict.outcome == 'missed' else verdict.reported}", flush=True)
    return verdict.outcome in ("missed", "skipped")


def _all_caught(defects: Sequence[Defect]) -> bool:
    caught = skipped = 0
    for defect in defects:
        began = time.monotonic()
        verdict = try_defect(defect)
        caught += verdict.outcome == "caught"
        skipped += verdict.outcome == "skipped"
        print(f"{verdict.outcome:7} {time.monotonic() - began:5.1f} s  {defect.name}", flush=True)
        if verdict.outcome in ("missed", "broken"):
            print(verdict.reported, flush=True)
    left = f", {skipped} whose test cannot run here" if skipped else ""
    print(f"{caught} of {len(defects)} planted defects caught{left}")
    return caught + skipped == len(defects)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
