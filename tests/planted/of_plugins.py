"""Defects of what is loaded and used of plugins."""

from __future__ import annotations

from planted.defect import Defect

LOADER = "tests/indexing/plugins/test_plugin_loader.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "plugin-that-others-may-write",
        "another user of the machine puts code into the daemon",
        "livedex_indexing/plugins/owned_files.py",
        (("if others_may_write(found) and", "if False and"),),
        f"{LOADER}::test_a_file_that_others_may_write_is_not_run",
    ),
)
