"""What a command does about a daemon of another version: it is upgraded, downgraded or installed elsewhere.

Invariant: a daemon that is needed by anyone goes on; the command works with it as far as both know the same.
"""

from __future__ import annotations

from livedex_ipc import __version__
from livedex_ipc.cli.process_end import has_ended
from livedex_ipc.cli.streams import Streams
from livedex_ipc.client import Client, connect, may_spawn
from livedex_ipc.errors import MethodNotFound

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.wire_results import RestartResult, ServerInfo

ANSWER_S = 10.0
END_S = 6.0  # a daemon ends within 5 s


def replaced(client: Client, info: ServerInfo, streams: Streams, *, spawn: bool) -> Client:
    """Return a connection to a daemon of this version if the other one is idle; else ``client``, and say what to do.

    ``spawn`` False, or ``LIVEDEX_NO_SPAWN``: only say it.
    """
    if spawn and may_spawn() and _is_ending(client):
        client.close()
        if has_ended(info["pid"], END_S):
            return connect()
        client = connect()
    streams.message(
        f"livedex: the daemon is version {info['version']} and this command {__version__}:"
        " the daemon is busy; `livedex down` ends it, and the next command starts the new one"
    )
    return client


def _is_ending(client: Client) -> bool:
    """Ask the daemon to end once it is idle; return whether that is now."""
    try:
        result: RestartResult = client.call("server/restart", timeout_s=ANSWER_S)
    except MethodNotFound:
        return False
    return result["ending"]
