"""Recognises a path of keys as programs read it, ``t("labels.paste")``, and as commands set it, ``-Dserver.port=80``.

Invariant: pure; what is found is a part of the typed text.
"""

from __future__ import annotations

import re
from typing import Final

_PATH: Final = r"([A-Za-z_][\w@/-]*(?:\.[\w@/-]+)+)"
_READ: Final = re.compile(
    # "labels.paste"    t("labels.paste")    config["server.port"]    @Value("${server.port:80}")
    rf"(?:[\w.$@]{{0,60}}[(\[])?[\"'`](?:[$#]\{{)?{_PATH}(?::[^{{}}\"'`]*)?\}}?[\"'`](?:,[^\n]*)?[)\]]?;?|"
    # ${server.port:80}    -Dserver.port=80    --server.port=80
    rf"[$#]\{{{_PATH}(?::[^{{}}]*)?\}}|-(?:[DP]|-){_PATH}(?:=\S*)?"
)


def setting_read(text: str) -> str:
    """Return the path of keys that a text reads or sets; empty for any other text."""
    found = _READ.fullmatch(text.strip())
    return "" if found is None else next(filter(None, found.groups()))
