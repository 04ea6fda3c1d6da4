"""Links a path on a terminal to the file (OSC 8), where the terminal is known to show links.

Invariant: a link has no character that a terminal would obey: every byte of a path but plain ASCII is percent-encoded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_LINK = re.compile("\x1b]8;;[^\x1b]*\x1b\\\\")
_PROGRAMS = frozenset(("iTerm.app", "WezTerm", "ghostty", "Hyper", "rio", "Tabby"))
_VTE = 5000  # the first version of VTE (GNOME's terminal and others) with links


def link_form(environ: Mapping[str, str] = os.environ) -> str:
    """Return how links are written for this terminal: ``file``, ``line`` (a file with a line), ``code`` or ``""``."""
    forced = environ.get("FORCE_HYPERLINK", "")
    if forced == "0" or (not forced and ("TMUX" in environ or "STY" in environ)):  # these may drop or print them
        return ""
    program = environ.get("TERM_PROGRAM", "")
    if program == "vscode":
        return "code"
    if "KITTY_WINDOW_ID" in environ:
        return "line"
    version = environ.get("VTE_VERSION", "")
    known = (
        program in _PROGRAMS
        or (version.isdecimal() and int(version) >= _VTE)
        or environ.get("TERM", "").startswith(("alacritty", "foot"))
        or not {"WT_SESSION", "KONSOLE_VERSION", "DOMTERM"}.isdisjoint(environ)
    )
    return "file" if forced or known else ""


def linked(text: str, path: str, line: int, form: str) -> str:
    """Return ``text`` as a link to a line of the file at the absolute ``path``; unchanged without a ``form``."""
    if not form:
        return text
    encoded = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(path))
    if form == "code":
        address = f"vscode://file{encoded}:{line}"
    else:
        from socket import gethostname

        address = f"file://{gethostname()}{encoded}" + (f"#{line}" if form == "line" else "")
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def without_links(text: str) -> str:
    """Return ``text`` without links: older pagers print them."""
    return _LINK.sub("", text)
