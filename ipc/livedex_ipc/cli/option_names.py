"""Says in terms of the command line what the daemon says of its params: who types ``--timeout`` knows no
``timeout_ms``.

Invariant: a word of plain English is never taken for a param: only names that no text has otherwise are replaced.
"""

from __future__ import annotations

import re

from livedex_ipc.cli.argument_types import Command

# A param by its form; and params that are ordinary words too, if they are next to each other.
_PARAM = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_PAGE = "offset plus limit"


def in_options(text: str, command: Command) -> str:
    """Return a message of the daemon with the options of ``command`` in the place of its params."""
    names = {option.param: option.flags[-1] for option in command.options}
    text = text.replace(_PAGE, "--offset plus --limit")
    return _PARAM.sub(lambda match: names.get(match[0], match[0]), text)
