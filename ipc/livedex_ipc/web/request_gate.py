"""Decides whether a request may be answered, from its method, target and headers alone.

Invariant: nothing but the page's own files is served without the token, and nothing at all to a request that names
another host or port, or that another origin makes.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import NamedTuple

API = "/api/"


class Refused(Exception):
    """The request is refused. ``status``: of HTTP; the message is for people; ``allow``: the methods of a 405."""

    def __init__(self, status: int, message: str, allow: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.allow = allow


class Request(NamedTuple):
    """The head of a request. ``headers``: lower-case names; of a name that is repeated, the last value."""

    method: str
    target: str
    headers: Mapping[str, str]


class Gate:
    """The rules for one server. ``host``: the address that it is bound to, with the port; ``token``: ASCII text."""

    def __init__(self, host: str, token: str) -> None:
        self._host = host
        self._origin = f"http://{host}"
        self._authorization = f"Bearer {token}".encode()

    def check(self, request: Request) -> bool:
        """Return whether the request has the token. Raise Refused unless it may be answered."""
        # A name that an attacker's server answers for may lead here (DNS rebinding): then only the Host header tells.
        if request.headers.get("host") != self._host:
            raise Refused(421, f"this server answers for {self._host} alone")
        if request.headers.get("origin", self._origin) != self._origin:
            raise Refused(403, "another origin may not ask")
        if request.target.startswith(API):
            self._check_call(request)
            return True
        self._check_file(request)
        return False

    def _check_call(self, request: Request) -> None:
        if request.method != "POST":
            raise Refused(405, "a call is a POST", "POST")
        if "origin" not in request.headers:
            raise Refused(403, "a call must name its origin")
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise Refused(403, "another site may not ask")
        given = request.headers.get("authorization", "").encode("latin-1")
        if not hmac.compare_digest(given, self._authorization):
            raise Refused(401, "the token is wrong: open the address that `livedex web` printed")
        if request.headers.get("content-type") != "application/json":
            raise Refused(415, "a call is JSON")

    def _check_file(self, request: Request) -> None:
        if request.method not in ("GET", "HEAD"):
            raise Refused(405, "a file is read by GET", "GET, HEAD")
        site = request.headers.get("sec-fetch-site", "none")
        # A link on another site may lead to the page, which shows nothing without the token.
        if site not in ("same-origin", "none") and request.headers.get("sec-fetch-dest") != "document":
            raise Refused(403, "another site may not load this")
