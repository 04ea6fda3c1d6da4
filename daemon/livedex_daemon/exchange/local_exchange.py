"""``livedex exchange …`` without a daemon: the same command, whose calls go to the file in this process.

Invariant: params are checked, and results are made, as the daemon does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from livedex_daemon.config import settings
from livedex_daemon.exchange import waiting
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.process.locations import locate, make_private
from livedex_ipc.cli.main import main
from livedex_ipc.cli.streams import Streams
from livedex_ipc.methods import check_params

_CALLS: Final[dict[str, Callable[[Exchange, Any], Any]]] = {
    "exchange/publish": Exchange.publish,
    "exchange/read": Exchange.read,
    "exchange/check": lambda exchange, params: exchange.check(params["conversation_id"]),
    "exchange/request": waiting.request,
    "exchange/notify": lambda exchange, _params: exchange.notify(),
    "exchange/inspect": Exchange.inspect,
    "exchange/stats": lambda exchange, _params: exchange.stats(),
}


Work = Callable[[Mapping[str, Any], Streams], int]


def run(argv: Sequence[str], work: Work) -> int:
    """Run the command line ``argv`` (without the program's name) and return its exit code.

    ``work``: is a worker with the options of the command line, and returns the exit code.
    """
    local = LocalExchange(work)
    try:
        return main(list(argv), local_exchange=local)
    finally:
        local.close()


class LocalExchange:
    """Opens the file at the first call."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._exchange: Exchange | None = None

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Return the method's result. Raises its errors; ConfigInvalid or Unavailable if there is no file to use."""
        checked = check_params(method, dict(params))
        if self._exchange is None:
            self._exchange = open_exchange()
        return _CALLS[method](self._exchange, checked)

    def close(self) -> None:
        if self._exchange is not None:
            self._exchange.remove_old()
            self._exchange.close()


def open_exchange() -> Exchange:
    """Open the exchange of this home, with the limits of its configuration. Raises ConfigInvalid or Unavailable."""
    places = locate()
    config = settings.load(places.config_path)
    make_private(places.data_dir)
    return Exchange(places.exchange_db, config.exchange)
