"""``livedex exchange ollama``, ``openai`` and ``wrap``: ready-made plugins for ``livedex exchange run``.

Invariant: text leaves the machine only for the address that the command line names, and only when the command is run.
No redirect is followed and no proxy is used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NoReturn

from livedex_ipc.cli.commands.exchange_command import stdin_text
from livedex_ipc.cli.context import Context
from livedex_ipc.errors import InvalidParams, Unavailable
from livedex_ipc.http_gateways import authorization, gateway_address
from livedex_ipc.params import shown

TRY_AGAIN = os.EX_TEMPFAIL  # `exchange run` gives the message back
ANSWER_S = 3600.0  # of a model that is slow; `exchange run --timeout` ends it earlier
MOST_ANSWER_BYTES = 16 * 1024 * 1024
_BUSY = (408, 425, 429)


def ollama(context: Context) -> int:
    """Answer the prompt on stdin with a model of an Ollama server."""
    url = context.values.get("url", "http://localhost:11434")
    request = {"model": context.values["model"], "messages": _messages(context), "stream": False}
    return _answer(context, f"{url.rstrip('/')}/api/chat", request, {}, lambda found: found["message"]["content"])


def openai(context: Context) -> int:
    """Answer the prompt on stdin with a model behind an OpenAI-compatible address."""
    if "url" not in context.values:
        raise InvalidParams("--url is missing: the address, such as https://api.example.com/v1", {"field": "--url"})
    headers = {}
    variable = context.values.get("api_key_env")
    if variable is not None:
        if not os.environ.get(variable):
            raise InvalidParams(f"--api-key-env: the variable {variable} is not set", {"field": "--api-key-env"})
        try:
            headers = authorization(os.environ[variable])
        except ValueError as error:
            raise InvalidParams(f"--api-key-env: the variable {variable} {error}", {"field": "--api-key-env"}) from None
    request = {"model": context.values["model"], "messages": _messages(context)}
    url = f"{context.values['url'].rstrip('/')}/chat/completions"
    return _answer(context, url, request, headers, lambda found: found["choices"][0]["message"]["content"])


def wrap(context: Context) -> NoReturn:
    """Run a program that takes its input as an argument or a file, in this process's place."""
    from livedex_ipc.scratch_file import scratch_file

    body = stdin_text()
    words = []
    for word in context.values["words"]:
        if "{file}" in word:
            with scratch_file(body.encode()) as file:
                descriptor = os.dup(file.fileno())
            word = word.replace("{file}", f"/dev/fd/{descriptor}")  # noqa: PLW2901
            os.set_inheritable(descriptor, True)
        words.append(word.replace("{body}", body))
    with scratch_file(body.encode()) as file:
        os.dup2(file.fileno(), 0)
    try:
        os.execvp(words[0], words)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Unavailable(f"{words[0]} cannot be run: {reason}") from error


def _messages(context: Context) -> list[dict[str, str]]:
    system = context.values.get("system")
    first = [] if system is None else [{"role": "system", "content": system}]
    return [*first, {"role": "user", "content": stdin_text()}]


def _answer(context: Context, url: str, request: object, headers: Mapping[str, str], text_of: Any) -> int:
    """Post ``request`` and print the text that ``text_of`` finds in the answer. Raises Unavailable."""
    try:
        status, content = _post(url, json.dumps(request).encode(), headers)
    except OSError as error:
        context.streams.error(Unavailable(f"{url} cannot be reached: {error.strerror or error}"))
        return TRY_AGAIN
    if status != 200:
        refusal = Unavailable(f"{url} answered {status}: {_shortened(content)}", {"status": status})
        if status not in _BUSY and status < 500:
            raise refusal
        context.streams.error(refusal)
        return TRY_AGAIN
    try:
        text = text_of(json.loads(content))
        assert isinstance(text, str)
    except (ValueError, LookupError, TypeError, AssertionError, RecursionError) as error:
        raise Unavailable(f"{url} gave an answer without a text: {_shortened(content)}") from error
    context.show({"text": text}, lambda _result: text if text.endswith("\n") else text + "\n")
    return 0


def _shortened(content: bytes) -> str:
    from livedex_ipc.cli.render.terminal_text import visible

    return visible(content[:500].decode("utf-8", "replace"))


def _post(url: str, content: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """Return the status and the content of the answer. Raises InvalidParams for the address, and OSError."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    try:
        parts = gateway_address(url)
    except ValueError as error:
        raise InvalidParams(f"--url {error}, not {shown(url)}", {"field": "--url"}) from None
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=ANSWER_S)
    try:
        connection.request("POST", parts.path, content, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        answer = response.read(MOST_ANSWER_BYTES)
        if response.length and len(answer) < MOST_ANSWER_BYTES:
            raise OSError(0, "it ended in the middle of its answer")
        return response.status, answer
    except HTTPException as error:
        raise OSError(0, f"it does not speak HTTP: {error!r}") from error
    finally:
        connection.close()
