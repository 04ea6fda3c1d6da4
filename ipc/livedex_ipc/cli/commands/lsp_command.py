"""``livedex lsp``: serves an editor on stdin and stdout."""

from __future__ import annotations

from livedex_ipc.cli.context import Context


def lsp(_context: Context) -> int:
    """Serve until the client ends."""
    from livedex_ipc import core_dumps
    from livedex_ipc.lsp.lsp_stdio import serve

    core_dumps.disable()
    return serve()
