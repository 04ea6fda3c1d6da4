"""Defects of what is found in files that are no code: configurations, style sheets, texts with marks."""

from __future__ import annotations

from planted.defect import Defect

SETTINGS = "tests/indexing/search/test_settings.py"

DEFECTS = (
    Defect(
        "path-of-keys-as-text",
        "`spec.template` finds texts with both words, not the key in a file where it is nested",
        "livedex_indexing/rank/name_places.py",
        (("self._keyed = {} if word is None else", "self._keyed = {} if True else"),),
        f"{SETTINGS}::test_a_nested_key_is_found_by_its_path",
    ),
    Defect(
        "key-below-any-other",
        "a key is found by the last part of its path, whatever it is below",
        "livedex_indexing/query/key_path.py",
        (('path.endswith(f".{typed}")', 'path.endswith(typed.rpartition(".")[2])'),),
        "tests/indexing/query/test_key_path.py::test_a_path_ends_in_whole_keys",
    ),
)
