"""What a plugin's end means for its message: the status of the claim, and the follow-up to publish.

Invariant: pure. Exit 0 is a success, 75 (EX_TEMPFAIL) gives the message back, and any other exit is an answer too.
"""

from __future__ import annotations

import codecs
import os
from typing import Final, Literal, NamedTuple

from livedex_daemon.exchange.conversations import TIMED_OUT
from livedex_daemon.exchange.topics import derived
from livedex_daemon.worker_host.plugin_process import PluginRun
from livedex_ipc.request_params import FollowUp

TRY_AGAIN: Final = os.EX_TEMPFAIL
MOST_BACK_OFF_S: Final = 60

Status = Literal["completed", "failed", "timed_out"]


class Topics(NamedTuple):
    """Where follow-ups go; ``success`` and ``failure`` None: to the topic's own ones."""

    topic: str
    success: str | None
    failure: str | None


class PluginAnswer(NamedTuple):
    status: Status
    follow_up: FollowUp


def answer_of(run: PluginRun, topics: Topics, most_bytes: int) -> PluginAnswer | None:
    """Return what a run answers; None if its message is to be given back. ``most_bytes``: of a body, in UTF-8."""
    if run.cause in ("stop", "lost") or (run.cause is None and run.exit_status == TRY_AGAIN):
        return None
    status: Status
    if run.cause == "timeout":
        status, topic = "timed_out", derived(topics.topic, TIMED_OUT)
    elif run.exit_status == 0:
        status, topic = "completed", topics.success or derived(topics.topic, "completed")
    else:
        status, topic = "failed", topics.failure or derived(topics.topic, "failed")
    body, is_lossy = _text(run.stdout, run.is_truncated, most_bytes)
    metadata: dict[str, object] = {
        "exit_status": run.exit_status,
        "stderr": run.stderr.decode("utf-8", "replace"),
        "duration_ms": round(run.duration_s * 1000),
        "truncated": run.is_truncated,
    }
    if is_lossy:
        metadata["lossy"] = True
    return PluginAnswer(status, {"topic": topic, "body": body, "metadata": metadata})


def _text(stdout: bytes, is_truncated: bool, most_bytes: int) -> tuple[str, bool]:
    """Return the output as text, and whether bytes of it were replaced. A character that was cut off is dropped."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return decoder.decode(stdout, final=not is_truncated), False
    except UnicodeDecodeError:
        # The replacement of one byte has three.
        replaced = stdout.decode("utf-8", "replace").encode()[:most_bytes]
        return replaced.decode("utf-8", "ignore"), True


def back_off_s(attempt: int) -> int:
    """Return how many seconds a message that was given back waits before its next attempt."""
    return min(MOST_BACK_OFF_S, 1 << min(attempt - 1, 10))
