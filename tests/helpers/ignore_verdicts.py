"""Applies the rules of a folder to paths, for the tests of what is ignored.

Invariant: the rules made here see only the git configuration of the test's own user.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from livedex_indexing.ignore.rules import RuleTree, Verdict

Rules = Callable[..., RuleTree]  # rules("pattern", …, root=…, **options of RuleTree)


def shut_out(rules: RuleTree, *paths: str) -> list[str]:
    """Return those of the paths that the rules exclude. A path that ends in / is a folder."""
    return [path for path in paths if rules.explain(os.fsencode(path.rstrip("/")), path.endswith("/")) is not None]


def why(rules: RuleTree, path: str) -> Verdict:
    """Return the rule that excludes the path; an AssertionError if none does."""
    verdict = rules.explain(os.fsencode(path.rstrip("/")), path.endswith("/"))
    assert verdict is not None
    return verdict
