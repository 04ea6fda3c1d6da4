"""``livedex web``: serves the page for the user's browser until Ctrl-C."""

from __future__ import annotations

from livedex_ipc.cli.context import Context
from livedex_ipc.errors import InvalidParams

_TOKEN_BYTES = 32


def web(context: Context) -> int:
    """Print the address, and serve."""
    import os
    import secrets

    from livedex_ipc import __version__, core_dumps
    from livedex_ipc.web.daemon_calls import DaemonCalls
    from livedex_ipc.web.editor_links import editor_template
    from livedex_ipc.web.web_server import serve

    values, streams = context.values, context.streams
    port = values.get("port", 0)
    if not 0 <= port < 1 << 16:
        raise InvalidParams(f"--port: {port} is not a port: 0 to 65535, 0 for a free one")
    try:
        editor = editor_template(values.get("editor"), os.environ)
    except ValueError as error:
        raise InvalidParams(f"--editor: {error}") from error
    context.connect().close()  # so that a fault of the daemon is said here, and not to a browser

    def say(url: str) -> None:
        if streams.json:
            streams.write_json({"url": url})
        else:
            streams.write(f"{url}\n")
            streams.message("Open this address in a browser; whoever has it can search your files. Ctrl-C ends.")
        streams.flush()

    core_dumps.disable()
    calls = DaemonCalls(not context.line.no_spawn, {"editor": editor, "version": __version__})
    serve(port, secrets.token_urlsafe(_TOKEN_BYTES), calls, say)
    return 0
