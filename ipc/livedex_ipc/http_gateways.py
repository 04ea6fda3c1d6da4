"""The address of a gateway behind HTTP and the key for it: what a request can name, and what is wrong with the rest.

Invariant: no error contains a key.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

_NEVER_IN_A_NAME = re.compile(r"[\0-\x20\x7f]")


def gateway_address(text: str) -> SplitResult:
    """Split an address of http or https. Raises ValueError, which says what it must be, if no request can name it."""
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        host.encode("idna")
        is_one = parts.scheme in ("http", "https") and bool(host) and parts.port != 0 and parts.path.isascii()
    except ValueError:  # an IPv6 address without its end, a port out of range, a label that is empty or too long
        is_one = False
    if not is_one or _NEVER_IN_A_NAME.search(host + parts.path):
        raise ValueError('must be an address such as "http://localhost:11434"')
    return parts


def authorization(key: str) -> dict[str, str]:
    """Return the header with a key. Raises ValueError, which says what is wrong, if no header can have it."""
    if not (key.isascii() and key.isprintable()):
        raise ValueError("has a line break or another sign that no key has")
    return {"Authorization": f"Bearer {key}"}
