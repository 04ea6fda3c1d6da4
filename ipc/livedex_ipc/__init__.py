"""Talks to the livedex daemon: a thin client, the ``livedex`` command, and the server's side.

``from livedex_ipc import connect`` gives a ``Client``. The two names are loaded on first use, so that importing the
package costs nothing, and everything but the server's side needs the standard library alone.
"""

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.client import Client, connect

__all__ = ["Client", "connect"]

__version__ = "0.1.0"


if not TYPE_CHECKING:  # a type checker would otherwise accept any name

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from livedex_ipc import client

        found = globals()[name] = getattr(client, name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
