"""The configuration in force, and why the newest edit of its file is not.

Invariant: only a configuration that passed every check is ever in force.
"""

from __future__ import annotations

from livedex_daemon.config.settings import Config


class CurrentConfig:
    """``fault``: why the file was refused when it was last read, None when it was not. Changed on the event loop."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.fault: str | None = None
