"""Packages that some tests need: looked for where a module of tests begins, imported where they are used.

Invariant: nothing is imported here. The parsers and writers of documents take seconds, in each worker of the tests.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def require(*packages: str) -> None:
    """Skip the module that is being imported unless each top-level package is installed."""
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed", allow_module_level=True)
