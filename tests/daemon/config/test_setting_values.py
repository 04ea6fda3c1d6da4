"""Lists and tables of the configuration: each of their elements is read."""

from __future__ import annotations

import pytest

from livedex_daemon.config import settings as config_settings
from livedex_ipc.errors import ConfigInvalid


@pytest.mark.parametrize(("setting", "unit"), [("parsing.timeout", "seconds"), ("chunking.chunk_size", "characters")])
def test_a_number_without_its_unit_says_what_it_counts(setting: str, unit: str) -> None:
    """Durations and sizes are texts with their units elsewhere."""
    with pytest.raises(ConfigInvalid, match=f"must be a whole number of {unit}, not text"):
        config_settings.parse(f'{setting} = "20s"\n')


def test_each_element_of_a_list_and_a_table_has_its_faults() -> None:
    with pytest.raises(ConfigInvalid) as raised:
        config_settings.parse("""\
[index]
encodings = { "*.a" = "cp999", "*.b" = 5, "*.c" = "cp1252" }
[chunking]
pipelines = { org = "a", ".txt" = "b c" }
[plugins]
paths = ["here", 7]
[[roots]]
path = "/nowhere"
ignore = [1, "*.tmp", ""]
""")
    assert [fault["key"] for fault in (raised.value.data or {})["faults"]] == [
        'index.encodings."*.a"',
        'index.encodings."*.b"',
        "chunking.pipelines.org",
        'chunking.pipelines.".txt"',
        "plugins.paths[0]",
        "plugins.paths[1]",
        "roots[0].ignore[0]",
        "roots[0].ignore[2]",
    ]
