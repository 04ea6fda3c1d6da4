"""Which parser converts which suffix, and the identity of each: its name and the versions of what it runs.

Invariant: two conversions of the same bytes under the same identity give the same text. A suffix has at most one
parser, and a parser that is not installed has no suffix.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple

from livedex_indexing.child.installed_versions import version_of

VERSION: Final = 3  # increase it whenever livedex changes the text that a parser gives

MARKITDOWN: Final = "markitdown"
PDFIUM: Final = "pypdfium2"
PANDOC: Final = "pandoc"
BUILT_IN: Final = (MARKITDOWN, PDFIUM, PANDOC)

# What each suffix of markitdown needs in addition to it.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    ".docx": ("mammoth", "lxml"),
    ".pptx": ("python-pptx",),
    ".xlsx": ("openpyxl",),
    ".xls": ("xlrd",),
    ".pdf": ("pdfminer.six", "pdfplumber"),
    ".epub": ("defusedxml",),
    ".html": ("html-to-markdown",),
    ".htm": ("html-to-markdown",),
    ".xhtml": ("html-to-markdown",),
    ".ipynb": (),
}
SUFFIXES: Final = tuple(_NEEDS)  # of the default parser
PANDOC_FORMATS: Final[Mapping[str, str]] = {
    ".docx": "docx",
    ".odt": "odt",
    ".epub": "epub",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".ipynb": "ipynb",
    ".rtf": "rtf",
    ".tex": "latex",
    ".fb2": "fb2",
    ".opml": "opml",
}
TEXT_SUFFIXES: Final = frozenset((".html", ".htm", ".xhtml", ".ipynb", ".tex", ".rtf", ".fb2", ".opml"))
_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0")  # zip, empty zip, the container of old or encrypted


class Missing(NamedTuple):
    """A parser that is configured and cannot be used. ``suffixes``: what it would convert. ``remedy``: what to do."""

    name: str
    suffixes: tuple[str, ...]
    reason: str
    remedy: str


class Parsers(NamedTuple):
    """``by_suffix``: a suffix in lower case, with its dot, to the identity of its parser, which begins with its name
    and a blank."""

    by_suffix: Mapping[str, str]
    missing: tuple[Missing, ...]


Foreign = Mapping[str, str]  # a plugin's parser by name: its version


def defaults() -> dict[str, str]:
    """Return the parser of each suffix in a configuration that says nothing."""
    return {suffix: PDFIUM if suffix == ".pdf" else MARKITDOWN for suffix in SUFFIXES}


def chosen(default: str, overrides: Mapping[str, str], foreign: Foreign, left_out: frozenset[str]) -> Parsers:
    """Return the parsers of a configuration. ``left_out``: suffixes that a pipeline was configured for."""
    wanted = defaults() if default == MARKITDOWN else dict.fromkeys(SUFFIXES, default)
    wanted |= overrides
    found: dict[str, str] = {}
    missing: dict[str, list[str]] = {}
    for suffix in sorted(wanted.keys() - left_out):
        name = wanted[suffix]
        identity = identity_of(name, suffix, foreign)
        if identity is not None:
            found[suffix] = identity
        elif suffix in overrides or _is_configured(name, suffix):
            missing.setdefault(name, []).append(suffix)
    return Parsers(found, tuple(_missing(name, tuple(suffixes)) for name, suffixes in missing.items()))


def _is_configured(name: str, suffix: str) -> bool:
    """Return False for a default parser that nobody configured, or that does not read the suffix."""
    return name not in (MARKITDOWN, PDFIUM) and (name != PANDOC or suffix in PANDOC_FORMATS)


def identity_of(name: str, suffix: str, foreign: Foreign) -> str | None:
    """Return the identity of a parser for a suffix; None if it is unknown, not installed, or cannot read the suffix."""
    if name in foreign:
        return f"{name} plugin {foreign[name]}"
    if name == PANDOC:
        version = pandoc_version() if suffix in PANDOC_FORMATS else None
        return None if version is None else f"{PANDOC} {version} {VERSION}"
    if name == PDFIUM:
        return _installed(PDFIUM, ()) if suffix == ".pdf" else None
    if name == MARKITDOWN and suffix in _NEEDS:
        return _installed(MARKITDOWN, _NEEDS[suffix])
    return None


def name_of(identity: str) -> str:
    """Return the parser's name, which hits have as ``metadata.parsed_by``."""
    return identity.partition(" ")[0]


def is_document(suffix: str, head: bytes, is_binary: Callable[[bytes], bool]) -> bool:
    """Return False for a file that only has the suffix of a document: an empty one, or plain text named ``.pdf``."""
    if not head:
        return False
    if suffix in TEXT_SUFFIXES or suffix not in (*SUFFIXES, *PANDOC_FORMATS):
        return True
    return b"%PDF-" in head[:1024] if suffix == ".pdf" and not is_binary(head) else (
        head.startswith(_MAGIC) or is_binary(head)
    )  # fmt: skip


def _installed(name: str, needs: tuple[str, ...]) -> str | None:
    versions = [version_of(each) for each in (name, *needs)]
    if None in versions:
        return None
    return f"{name} {' '.join(str(version) for version in versions)} {VERSION}"


@cache
def pandoc_version() -> str | None:
    """Return the version of the pandoc on the PATH; None if there is none, or it does not run."""
    program = shutil.which(PANDOC)
    if program is None:
        return None
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, timeout=20, check=False, cwd="/").stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = answer.split(maxsplit=2)
    return words[1].decode("ascii", "replace") if len(words) > 1 and words[0] == b"pandoc" else None


def _missing(name: str, suffixes: tuple[str, ...]) -> Missing:
    if name in (MARKITDOWN, PDFIUM):
        return Missing(name, suffixes, "is not installed, or does not read them", "pip install 'livedex[documents]'")
    if name == PANDOC:
        return Missing(name, suffixes, "is not on the PATH of the daemon, or does not read them", "install pandoc")
    known = ", ".join(BUILT_IN)
    remedy = f"correct [parsing]: built in are {known}; `livedex plugins` lists those of plugins"
    return Missing(name, suffixes, "is no parser that livedex knows", remedy)
