"""The initial configuration file: every setting as a comment with its default, and an example of a root.

Invariant: it means the defaults, both unchanged and with any ``# key = value`` line uncommented.
"""

from __future__ import annotations

from typing import Any

import tomlkit
from tomlkit.items import Item

from livedex_daemon.config.settings_schema import SETTINGS, TABLES

_HEAD = """\
# livedex: which folders are searched, and how. `livedex config validate` checks this file, `livedex config show` prints
# what is in force. A change takes effect when the file is saved; with a fault in it the old settings stay.
"""

_ROOTS = """
# The watched folders. `livedex up PATH` and `livedex roots add PATH` write them here; by hand:
# [[roots]]
# path = "~/notes"
# ignore = ["*.tmp"]   # gitignore patterns; they rank above the ignore files and may negate ("!…")
# encoding = "cp1250"  # of text that is not UTF-8; without it livedex finds it out
"""

_STANDING = """
# New content that matches a query becomes a message of the exchange, once for each content:
# [[standing]]
# query = "TODO lang:python"
# topic = "todo.found"
"""


def as_toml(value: Any) -> str:
    """Return the value as TOML on one line, as it is written after ``key =``."""
    if not isinstance(value, dict):
        item: Item = tomlkit.item(value)
        return item.as_string()
    table = tomlkit.inline_table()
    table.update(value)
    return table.as_string()


def template() -> str:
    parts = [_HEAD]
    for table, names in TABLES.items():
        parts.append(f"\n[{table}]\n")
        for name in names:
            setting = SETTINGS[f"{table}.{name}"]
            parts.append(f"{f'# {name} = {as_toml(setting.default)}':<36}# {setting.doc}\n")
    return "".join([*parts, _ROOTS, _STANDING])
