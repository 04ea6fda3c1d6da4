"""Copies the installed packages, plants a defect in the copy, and runs the named test against it.

Invariant: the product itself is never changed and has no switch for any of this. The copy comes first on Python's path,
so that daemons, their children and the command run it as well; so does each editor, whose client is the one that
`livedex editor` names.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from helpers.support import CHECKOUT
from planted.defect import EDITORS, Defect, place_in_copy

PACKAGES = ("livedex_daemon", "livedex_indexing", "livedex_ipc", "livedex_service")
TIMEOUT_S = 60  # for one test: a defect may make it hang

Outcome = Literal["caught", "missed", "skipped", "broken"]


class Verdict(NamedTuple):
    """``broken``: the test did not finish; ``reported``: the last lines of pytest."""

    outcome: Outcome
    reported: str


def root_of(package: str) -> Path:
    """Return the folder of a package as it is imported here."""
    file = importlib.import_module(package).__file__
    assert file is not None
    return Path(file).parent


def source_of(module: str) -> Path:
    """Return the file of a module as it is used here."""
    package, _, name = module.partition("/")
    return CHECKOUT / module if module.startswith(EDITORS) else root_of(package) / name


@contextmanager
def copied(*defects: Defect) -> Iterator[Path]:
    """Yield a folder with a copy of the packages and the defects in it; remove it at the end. Raises Moved.

    Files of the tests lie next to it: what may read the packages must not read them for that reason.
    """
    folder = Path(tempfile.mkdtemp(prefix="ldx-planted-", dir=os.path.realpath("/tmp")))
    try:
        copy = folder / "packages"
        for package in PACKAGES:
            shutil.copytree(root_of(package), copy / package)  # with compiled files: their times are kept
        shutil.copytree(CHECKOUT / EDITORS, copy / place_in_copy(EDITORS), dirs_exist_ok=True)
        for defect in defects:
            defect.plant(copy)
        yield copy
    finally:
        shutil.rmtree(folder)


# `make test` tries fewer cases of some rules; a defect must be noticed whichever these are.
THOROUGH = {
    **{"LIVEDEX_EXAMPLES": "1", "LIVEDEX_RULES": "100000", "LIVEDEX_ROUNDS": "1000", "LIVEDEX_FUZZ": "600"},
    **{"LIVEDEX_KILLS": "8", "LIVEDEX_WRITES": "4", "LIVEDEX_CHECKOUTS": "3", "LIVEDEX_MADE_AGAIN": "12"},
    **{"LIVEDEX_FOLDER_CHECKOUTS": "4", "LIVEDEX_TREES": "120", "LIVEDEX_FORESTS": "60", "LIVEDEX_PATTERNS": "80"},
    **{"LIVEDEX_OVERFLOW": "4000", "LIVEDEX_RULE_ROUNDS": "150", "LIVEDEX_HISTORIES": "12", "LIVEDEX_SWAPS": "1500"},
    **{"LIVEDEX_WORDS": "200", "LIVEDEX_HOSTILE": "400", "LIVEDEX_CALL_CELLS": "13"},
}


def environment(copy: Path) -> dict[str, str]:
    """Return the environment in which every Python that is started runs the copy."""
    return {
        **THOROUGH,
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy), str(CHECKOUT / "tests")]),
        "PLANTED_COPY": str(copy),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(
            copy.parent / "hypothesis"
        ),  # a failing example must not be tried elsewhere
    }


def run(copy: Path, tests: Iterable[str], *options: str) -> Verdict:
    """Run the tests on a copy, with options of pytest: ``missed`` if all pass."""
    report = copy.parent / "report.json"
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "planted.on_copy", "-p", "no:cacheprovider"]
    command += ["-p", "no:xdist", f"--timeout={TIMEOUT_S}", f"--basetemp={copy.parent / 'tmp'}", *options]
    command += sorted(set(tests))
    env = {**environment(copy), "PLANTED_REPORT": str(report)}
    env.pop("PYTEST_ADDOPTS", None)
    env.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        command, cwd=CHECKOUT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    reported = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
    if not report.exists():
        return Verdict("broken", reported)
    counts = json.loads(report.read_text())
    if counts["failed"]:
        return Verdict("caught", reported)
    if done.returncode:
        return Verdict("broken", reported)
    return Verdict("missed" if counts["passed"] else "skipped", reported)


def try_defect(defect: Defect) -> Verdict:
    """Return whether the named test notices the defect. Raises Moved."""
    with copied(defect) as copy:
        return run(copy, [defect.test], "--exitfirst")
