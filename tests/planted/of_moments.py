"""Defects of what is looked at in two moments: something changes in between."""

from __future__ import annotations

from planted.defect import Defect

STATUS = "tests/daemon/answer/test_status_report.py"

DEFECTS = (
    Defect(
        "status-of-two-moments",
        "the status calls a change done whose commit is not in its counts",
        "livedex_daemon/answer/status_report.py",
        (
            (
                "        state, work = self._state(wrong), self._work()\n        counts = self._counts()\n",
                "        counts = self._counts()\n        state, work = self._state(wrong), self._work()\n",
            ),
        ),
        f"{STATUS}::test_what_is_committed_while_the_files_are_counted_is_not_called_done",
    ),
)
