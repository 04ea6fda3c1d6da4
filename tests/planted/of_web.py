"""Defects of the web page's server."""

from __future__ import annotations

from planted.defect import Defect

REQUESTS = "tests/ipc/web/test_web_requests.py"
CONNECTION = "tests/ipc/web/test_http_connection.py"
LINKS = "tests/ipc/web/test_editor_links.py"
RESTARTS = "tests/ipc/web/test_web_restarts.py"
GATE = "livedex_ipc/web/request_gate.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "page-waits-for-a-hung-daemon",
        "while the daemon hangs the page stays empty",
        "livedex_ipc/web/daemon_calls.py",
        (('await client.call("server/ping", timeout_s=SILENT_S)', "pass"),),
        f"{RESTARTS}::test_a_daemon_that_hangs_is_said_with_its_remedy",
    ),
    Defect(
        "host-unchecked",
        "a site whose name is made to lead to this machine reads the page's answers",
        GATE,
        (('if request.headers.get("host") != self._host:', "if False:"),),
        f"{REQUESTS}::test_a_rebound_name_gets_nothing",
    ),
    Defect(
        "host-by-its-beginning",
        "a name that begins with the server's address is taken for it",
        GATE,
        (
            (
                'if request.headers.get("host") != self._host:',
                'if not request.headers["host"].startswith(self._host.partition(":")[0]):',
            ),
        ),
        f"{REQUESTS}::test_a_rebound_name_gets_nothing",
    ),
    Defect(
        "origin-unchecked",
        "a script of another origin that has the token calls the daemon",
        GATE,
        (('if request.headers.get("origin", self._origin) != self._origin:', "if False:"),),
        f"{REQUESTS}::test_a_call_of_somebody_else_is_refused",
    ),
    Defect(
        "token-unchecked",
        "another user of the machine searches the files",
        GATE,
        (("if not hmac.compare_digest(given, self._authorization):", "if False:"),),
        f"{REQUESTS}::test_a_call_of_somebody_else_is_refused",
    ),
    Defect(
        "call-by-get",
        "a link or an image of another site makes a call",
        GATE,
        (('if request.method != "POST":', "if False:"),),
        f"{REQUESTS}::test_only_a_post_calls",
    ),
    Defect(
        "page-changes-the-index",
        "who has the token can forget files and remove roots",
        "livedex_ipc/web/daemon_calls.py",
        (("if method not in METHODS:", "if False:"),),
        f"{REQUESTS}::test_the_page_can_change_nothing",
    ),
    Defect(
        "inline-scripts-allowed",
        "a script in the text of a file would run, if ever it became HTML",
        "livedex_ipc/web/page_files.py",
        (("        \"script-src 'self'\",\n", "        \"script-src 'self' 'unsafe-inline'\",\n"),),
        f"{REQUESTS}::test_every_response_has_the_strict_headers",
    ),
    Defect(
        "connections-pile-up",
        "a program that opens connections and sends nothing keeps the page out",
        "livedex_ipc/web/web_server.py",
        (("if not connection.is_trusted and not task.cancelling():", "if False:"),),
        f"{REQUESTS}::test_half_requests_and_many_connections_keep_no_page_out",
    ),
    Defect(
        "stream-ended-for-room",
        "connections without the token push out the pages that have it",
        "livedex_ipc/web/http_connection.py",
        (("self.is_trusted = self._check(request) or self.is_trusted", "self._check(request)"),),
        f"{REQUESTS}::test_half_requests_and_many_connections_keep_no_page_out",
    ),
    Defect(
        "request-without-a-time-limit",
        "a client that never ends its request keeps its connection",
        "livedex_ipc/web/http_connection.py",
        (("async with asyncio.timeout(READ_S):", "async with asyncio.timeout(None):"),),
        f"{CONNECTION}::test_a_client_that_does_not_finish_a_request_is_disconnected[G]",
    ),
    Defect(
        "answer-for-nobody",
        "a search goes on, and a stream stays open, after the page was closed",
        "livedex_ipc/web/http_connection.py",
        (("        if data:\n            self._http.receive_data(data)\n", "        if True:\n"),),
        f"{CONNECTION}::test_an_answer_is_given_up_when_its_client_closes",
    ),
    Defect(
        "editor-link-runs",
        "a link to the editor is a script of the page",
        "livedex_ipc/web/editor_links.py",
        (("if found[1].lower() in _OF_BROWSERS:", "if False:"),),
        f"{LINKS}::test_what_is_no_link_to_an_editor_is_refused",
    ),
    Defect(
        "daemon-not-found-again",
        "after a restart of the daemon the page gets errors for ever",
        "livedex_ipc/web/daemon_calls.py",
        (("if self._client is None or self._client.is_lost:", "if self._client is None:"),),
        f"{RESTARTS}::test_a_killed_daemon_is_started_by_the_next_call",
    ),
)
