"""The messages between the daemon and the child that converts one document.

Invariant: one job on its stdin; on its stdout ``READY``, then, after the conversion, one answer to the end. Whatever
comes before ``READY`` is no fault of the document.
"""

from __future__ import annotations

from typing import Final

import msgspec

READY: Final = b"R"
MOST_TEXT_BYTES: Final = 32 << 20  # of Markdown; more is a failure
MOST_ANSWER_BYTES: Final = MOST_TEXT_BYTES + (4 << 20)


class ParseJob(msgspec.Struct, frozen=True, array_like=True):
    """``path``: a private copy of the document. ``parser``: its name. If it is a plugin's: ``owner`` is the
    plugin's name, ``plugins`` the folders of plugin modules."""

    path: str
    suffix: str
    parser: str
    timeout_s: float
    owner: str
    plugins: list[str]
    config: dict[str, object]


class Converted(msgspec.Struct, frozen=True, array_like=True):
    """The Markdown of a document in UTF-8. ``pages``: the offset at which each page begins, in bytes."""

    text: bytes
    pages: list[int]


class Failure(msgspec.Struct, frozen=True, array_like=True):
    """Why a document was not converted, quoting nothing of it. ``is_exhausted``: it used up what it was given."""

    message: str
    is_exhausted: bool = False


class _Answer(msgspec.Struct, frozen=True, array_like=True):
    converted: Converted | None
    failure: Failure | None


_encoder: Final = msgspec.msgpack.Encoder()
_answers: Final = msgspec.msgpack.Decoder(_Answer)
_jobs: Final = msgspec.msgpack.Decoder(ParseJob)


def job_bytes(job: ParseJob) -> bytes:
    return _encoder.encode(job)


def read_job(data: bytes) -> ParseJob:
    return _jobs.decode(data)


def answer_bytes(answer: Converted | Failure) -> bytes:
    is_text = isinstance(answer, Converted)
    return _encoder.encode(_Answer(answer if is_text else None, None if is_text else answer))  # type: ignore[arg-type]


def read_answer(data: bytes) -> Converted | Failure | None:
    """Decode an answer; None if it is none, or if it names places outside its text."""
    try:
        answer = _answers.decode(data)
    except msgspec.MsgspecError:
        return None
    found = answer.converted
    if found is None:
        return answer.failure
    inside = all(0 <= place <= len(found.text) for place in found.pages) and sorted(found.pages) == found.pages
    try:
        found.text.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return found if inside else None
