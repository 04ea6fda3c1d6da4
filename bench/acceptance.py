"""`python -m bench.acceptance --corpus DIR…`: proves on whole corpora what the tests prove on small ones.

Each claim is printed with its figure, and then `holds` or what is against it. Nothing is timed here; the folders
named are only read, and what is changed is a copy.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

CLAIMS = ("counts", "ripgrep", "coverage", "membership", "reuse", "fresh")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.acceptance", description=__doc__)
    parser.add_argument("--corpus", type=Path, nargs="+", help="folders (default: Python's library and /usr/share/doc)")
    parser.add_argument("--claims", nargs="+", choices=CLAIMS, default=CLAIMS, help="(default: all of them)")
    parser.add_argument("--words", type=int, default=1000, help="to compare with ripgrep (default: %(default)s)")
    parser.add_argument("--common", type=float, default=0.5, help="share of words from random files: the common ones")
    parser.add_argument("--rounds", type=int, default=1000, help="of changes and searches (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn by chance (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    # The checks are the tests' own. They are in the tests' folder, which is in no package.
    sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
    from bench import corpus
    from bench.claims import Report, prove

    report = Report()
    with tempfile.TemporaryDirectory(prefix="livedex-acceptance-") as folder:
        scratch = Path(folder).resolve()
        for number, chosen in enumerate(options.corpus or [corpus.made_in(scratch)]):
            prove(report, chosen.resolve(), scratch / f"copy{number}", options)
    return 1 if report.against else 0


if __name__ == "__main__":
    raise SystemExit(main())
