"""Talks to the livedex daemon: a thin client, the ``livedex`` command, and the server's side.

``from livedex_ipc import connect`` gives a ``Client``, ``connect_async`` its twin for asyncio. The names are loaded on
first use, so that importing the package costs nothing. Everything but the server's side needs the standard library
alone.
"""

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.async_client import AsyncClient, connect_async
    from livedex_ipc.client import Client, connect

__all__ = ["AsyncClient", "Client", "connect", "connect_async"]

__version__ = "0.1.0"


if not TYPE_CHECKING:  # a type checker would otherwise accept any name

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if "sync" in name.lower():
            from livedex_ipc import async_client as module
        else:
            from livedex_ipc import client as module
        found = globals()[name] = getattr(module, name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
