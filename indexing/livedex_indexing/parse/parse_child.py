"""The process that converts one document, shut in before it opens it.

Invariant: it reads one job, answers it, and ends; it ends with its parent, too. Its libraries are loaded before
``READY``, so that a broken installation is no fault of the document.
"""

from __future__ import annotations

import mimetypes
import os
import shutil
import sys
from collections.abc import Callable
from itertools import accumulate, pairwise

from livedex_indexing.child.child_pipes import keep_from_copies, silence, write_all
from livedex_indexing.child.parent_process import follow_parent
from livedex_indexing.parse import sandbox
from livedex_indexing.parse.converters import Markdown, Refused, cleaned, converter
from livedex_indexing.parse.parse_messages import (
    MOST_TEXT_BYTES,
    READY,
    Converted,
    Failure,
    ParseJob,
    answer_bytes,
    read_job,
)
from livedex_indexing.parse.parsers import BUILT_IN, PANDOC, PANDOC_FORMATS

_NICE = 10
_HEAP = "-M700m"  # of pandoc: less than its address space


def main() -> None:
    follow_parent(int(sys.argv[1]), _NICE)
    job = read_job(_read_all(0))
    answers = os.dup(1)
    silence(0, 1, 2)  # a library may print text of the document: neither answer nor log is the place
    keep_from_copies(answers)
    if job.parser == PANDOC:
        _become_pandoc(job, answers)
    mimetypes.init(files=[])
    convert = _loaded(job)
    sandbox.limit(int(job.timeout_s) + 2)
    sandbox.enter(job.path, [*sandbox.library_folders(), *job.plugins])
    os.write(answers, READY)
    write_all(answers, answer_bytes(_converted(convert, job.path)))


def _loaded(job: ParseJob) -> Callable[[str], Markdown]:
    if job.parser in BUILT_IN:
        return converter(job.parser, job.suffix)
    from livedex_indexing.parse.plugin_parser import plugin_parser

    return plugin_parser(job.parser, job.owner, job.plugins, job.config)


def _converted(convert: Callable[[str], Markdown], path: str) -> Converted | Failure:
    try:
        text, pages = convert(path)
        return in_bytes(cleaned(text), pages)
    except MemoryError:
        return Failure("out of memory", is_exhausted=True)
    except Refused as refused:
        return Failure(str(refused))
    except Exception as error:
        return Failure(f"the parser failed ({type(error).__name__})")


def in_bytes(text: str, pages: list[int]) -> Converted | Failure:
    """Return the text in UTF-8, with the pages counted in its bytes."""
    data = text.encode("utf-8")
    if len(data) > MOST_TEXT_BYTES:
        return Failure(f"too large: it has more than {MOST_TEXT_BYTES >> 20} MiB of text")
    if not pages:
        return Converted(data, [])
    places = [0, *pages]
    lengths = (len(text[start:end].encode("utf-8")) for start, end in pairwise(places))
    return Converted(data, list(accumulate(lengths)))


def _become_pandoc(job: ParseJob, answers: int) -> None:
    """Execute pandoc, which writes its Markdown to ``answers``. Its limits and its parent stay as they are."""
    program = shutil.which(PANDOC)
    if program is None:
        sys.exit(1)
    form = PANDOC_FORMATS[job.suffix]
    os.dup2(answers, 1)
    sandbox.limit(int(job.timeout_s) + 2)
    sandbox.enter(job.path, [*sandbox.library_folders(), program], may_execute=True)
    os.write(1, READY)
    command = [program, "-f", form, "-t", "gfm-raw_html", "--wrap=none", "+RTS", _HEAP, "-RTS", job.path]
    os.execve(program, command, {"PATH": os.environ.get("PATH", ""), "HOME": "/", "LANG": "C.UTF-8"})


def _read_all(descriptor: int) -> bytes:
    pieces = []
    while piece := os.read(descriptor, 1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


if __name__ == "__main__":
    main()
