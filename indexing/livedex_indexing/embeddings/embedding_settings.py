"""The settings of an embedder, read from the configuration that each factory gets.

Invariant: a key of a gateway is never part of the settings, only the name of the variable that holds it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit


class EmbedderUnavailable(Exception):
    """The embedder gives no vectors now: it is not installed, does not answer, or answers nonsense. The message names
    the cause and, where there is one, the remedy; it never contains a key or a text. ``again_s``: for how many seconds
    a gateway that is busy wants to be left alone; None of any other fault, also one of the texts."""

    def __init__(self, message: str, again_s: float | None = None) -> None:
        super().__init__(message)
        self.again_s = again_s


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """``embedder`` is a name, "" for none; ``model`` a name or a folder; ``api_base`` the address of a gateway;
    ``api_key_env`` the variable with its key; ``batch`` texts of one request; ``timeout`` seconds for one."""

    embedder: str = ""
    model: str = ""
    api_base: str = ""
    api_key_env: str = ""
    batch: int = 32
    timeout: float = 30.0

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    @property
    def host(self) -> str | None:
        """The host of ``api_base``; None without one."""
        return urlsplit(self.api_base).hostname if self.api_base else None


def settings_of(config: Mapping[str, object]) -> EmbeddingSettings:
    """Return the settings of an effective configuration: its table ``embedding``."""
    table = config.get("embedding")
    if not isinstance(table, Mapping):
        return EmbeddingSettings()
    usual = EmbeddingSettings()
    return EmbeddingSettings(
        embedder=str(table.get("embedder", usual.embedder)),
        model=os.path.expanduser(str(table.get("model", usual.model))),
        api_base=str(table.get("api_base", usual.api_base)),
        api_key_env=str(table.get("api_key_env", usual.api_key_env)),
        batch=int(table.get("batch", usual.batch)),
        timeout=float(table.get("timeout", usual.timeout)),
    )
