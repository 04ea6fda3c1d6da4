"""Defects of the editors' clients: what a user sees of a daemon that ends and comes back."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS = (
    Defect(
        "emacs-search-lost-with-the-daemon",
        "Emacs gives up a search that was under way as the daemon died, and lists nothing until the next key",
        "editors/emacs/livedex-daemon.el",
        (("  (unless livedex-daemon--starting\n    (let ((waiting", "  (progn\n    (let ((waiting"),),
        "tests/editors/test_emacs.py::test_a_search_under_way_outlives_the_daemon",
    ),
)
