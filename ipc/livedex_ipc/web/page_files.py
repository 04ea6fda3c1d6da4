"""The files of the page, and the headers of every response.

Invariant: a file is served only if it was in this package's folder when the server started; a request names one of
them and never a path.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "page"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Scripts and styles come from files alone, and no script can make HTML of text (trusted types).
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = (
    ("Content-Security-Policy", POLICY),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Cache-Control", "no-store"),
)


class PageFile(NamedTuple):
    """One file, as it is sent."""

    content_type: str
    body: bytes


def page_files() -> dict[str, PageFile]:
    """Return the files by their targets."""
    files = {f"/{path.name}": PageFile(_TYPES[path.suffix], path.read_bytes()) for path in FOLDER.iterdir()}
    return {"/": files["/index.html"], **files}
