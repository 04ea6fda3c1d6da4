"""Recognises a case of a test as its runner names it: ``TestWalk/sub_case`` of Go, ``walk > turns left`` of JavaScript.

Invariant: pure; what is found is a part of the typed text, with blanks for the underscores of Go.
"""

from __future__ import annotations

import re
from typing import Final

_OF_GO: Final = re.compile(r"(?:Benchmark|Fuzz|Test)\w*(?:/\S+)*/(?P<case>[^\s/]+)")
# walk > turns left    ● walk › turns left    ✓ src/walk.test.ts > walk > turns left 12ms
_OF_SCRIPT: Final = re.compile(r"[^\n]*\S [>›] (?P<case>(?=[^\n>›]*[^\W\d])[^\n>›]+?)(?:\s+\(?[\d.]+ ?m?s\)?)?")
_SERIAL: Final = re.compile(r"#\d\d\Z")  # of a case of Go with the name of another one
_LONGEST: Final = 400  # characters


def line_of_case(text: str) -> tuple[str, str]:
    """Return the text by which a test calls the case, and the pattern of the line that has it; empty for any other
    text."""
    line = text.strip()
    if len(line) > _LONGEST:
        return "", ""
    of_go = _OF_GO.fullmatch(line)
    of_script = None if of_go is not None else _OF_SCRIPT.fullmatch(line)
    if of_go is not None:
        case, before = _SERIAL.sub("", of_go["case"]).replace("_", " ").strip(), r"[^\n]*"
    elif of_script is not None:
        case, before = of_script["case"].strip(), r"[ \t]*(?:context|describe|it|suite|test)\b[^\n]*"
    else:
        return "", ""
    words = r"[\s_]+".join(map(re.escape, case.split()))
    return case, rf"{before}[\"'`]{words}[\"'`]"
