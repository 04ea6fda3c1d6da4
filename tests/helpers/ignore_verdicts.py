"""Asking the rules of a folder about paths, for the tests of what is ignored.

Invariant: the rules made here see no git configuration but that of the test's own user.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from livedex_indexing.ignore.rules import RuleTree, Verdict

Rules = Callable[..., RuleTree]  # rules("pattern", …, root=…, **options of RuleTree)


def shut_out(rules: RuleTree, *paths: str) -> list[str]:
    """Those of the paths that the rules shut out. One that ends in / is a folder."""
    return [path for path in paths if rules.explain(os.fsencode(path.rstrip("/")), path.endswith("/")) is not None]


def why(rules: RuleTree, path: str) -> Verdict:
    """The rule that shuts the path out; an AssertionError when none does."""
    verdict = rules.explain(os.fsencode(path.rstrip("/")), path.endswith("/"))
    assert verdict is not None
    return verdict
