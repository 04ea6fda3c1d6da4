"""Knows the commands whose options have one dash and several letters: ``go test -run``, ``find -name``, ``java -jar``.

Invariant: only a table, of options that people type often; a dash in front of any other word excludes that word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_COMPILER: Final = (
    r"W\w\S*|f[a-z]\S+|m[a-z]\S+|[lILD]\w\S*|O\w+|std|shared|static|pedantic|ansi|pthread|nostd\w+|isystem|include|rdynamic|"
    r"ggdb\d?|print-\S+"
)
_OPTIONS: Final[dict[str, str]] = {
    **dict.fromkeys(("cc", "c++", "clang", "clang++", "g++", "gcc", "ld"), _COMPILER),
    "find": "amin|atime|cmin|ctime|delete|depth|empty|execdir|exec|group|iname|ipath|iregex|links|maxdepth|mindepth|"
    "mmin|mtime|name|newer|nogroup|not|nouser|okdir|ok|path|perm|print0|printf|print|prune|quit|readable|regex|size|type|"
    "user|writable|xdev",
    "go": "asmflags|benchmem|benchtime|bench|count|covermode|coverpkg|coverprofile|cover|cpuprofile|failfast|gcflags|"
    r"json|ldflags|list|memprofile|modfile|mod|msan|parallel|race|run|short|tags|timeout|trimpath|vet",
    "java": r"X\S+|D\S+|classpath|cp|ea|jar|javaagent\S*|server|version",
    "javac": r"X\S+|classpath|cp|proc\S*|source|target|parameters",
    "mvn": r"D\S+|P\S+|amd|am|pl|rf",
    "openssl": "CAfile|CA|addext|connect|days|inform|inkey|in|keyout|key|newkey|new|nodes|noout|outform|out|pubout|req|"
    "servername|subj|text|x509",
    "ffmpeg": "acodec|af|crf|filter_complex|hide_banner|map|preset|ss|to|vcodec|vf|vframes|ac|ar",
    "terraform": "auto-approve|backend-config|chdir|input|lock|out|reconfigure|refresh-only|replace|target|upgrade|"
    "var-file|var",
    "xargs": "print0|null",
}
_KNOWN: Final = {command: re.compile(rf"(?:{options})\W*") for command, options in _OPTIONS.items()}
_BEFORE: Final = ("$", "#", ">", "sudo", "time", "nohup", "exec")  # … a command


def has_option(words: Sequence[str], excluded: Sequence[str]) -> bool:
    """Whether a query's ``words`` begin with such a command, and one of the ``excluded`` ones is an option of it."""
    command = next((word for word in words if word not in _BEFORE), "")
    known = _KNOWN.get(command.rpartition("/")[2])
    return known is not None and any(map(known.fullmatch, excluded))
