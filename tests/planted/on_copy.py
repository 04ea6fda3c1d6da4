"""A pytest plugin for runs against a copy of the packages: proves that the copy is used, and reports the results.

Invariant: no test runs if a package is imported from elsewhere; a test counts as failed only if its own body failed.
"""

from __future__ import annotations

import importlib
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from planted.copies import PACKAGES

_counts: Counter[str] = Counter(passed=0, failed=0, skipped=0)


def pytest_configure() -> None:
    copy = Path(os.environ["PLANTED_COPY"])
    for package in PACKAGES:
        file = importlib.import_module(package).__file__
        if file is None or not Path(file).is_relative_to(copy):
            raise pytest.UsageError(f"{package} is {file}, not the copy in {copy}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.skipped or (report.when == "teardown" and report.failed):
        _counts[report.outcome] += 1


def pytest_sessionfinish() -> None:
    Path(os.environ["PLANTED_REPORT"]).write_text(json.dumps(_counts))
