"""The tree-sitter grammars that come with livedex, loaded when a file first needs one.

Invariant: nothing is downloaded, and a grammar that is not installed is treated as absent (the code is then cut without
its syntax). One that could not be loaded for a moment is not.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from livedex_indexing.child.installed_versions import is_there

if TYPE_CHECKING:
    from tree_sitter import Language

# language: the distribution that contains its grammar
DISTRIBUTIONS = {
    "c": "tree-sitter-c",
    "cpp": "tree-sitter-cpp",
    "css": "tree-sitter-css",
    "go": "tree-sitter-go",
    "html": "tree-sitter-html",
    "java": "tree-sitter-java",
    "javascript": "tree-sitter-javascript",
    "json": "tree-sitter-json",
    "php": "tree-sitter-php",
    "python": "tree-sitter-python",
    "ruby": "tree-sitter-ruby",
    "rust": "tree-sitter-rust",
    "shell": "tree-sitter-bash",
    "toml": "tree-sitter-toml",
    "tsx": "tree-sitter-typescript",
    "typescript": "tree-sitter-typescript",
    "yaml": "tree-sitter-yaml",
}
_FUNCTIONS = {"php": "language_php", "tsx": "language_tsx", "typescript": "language_typescript"}


@cache
def grammar(language: str | None) -> Language | None:
    """Return the grammar of a language; None if there is none. It stays loaded: 0.2 to 3 MB each.

    Raises ImportError or OSError if it cannot be loaded, or looked for, now.
    """
    distribution = DISTRIBUTIONS.get(language or "")
    if distribution is None:
        return None
    from tree_sitter import Language

    package = distribution.replace("-", "_")
    try:
        module = import_module(package)
    except ModuleNotFoundError:  # Python says so, too, of what it could not look for
        if is_there(package):
            raise
        return None
    if module.__file__ is None:  # a mere folder: Python did not see the file in it
        del sys.modules[package]
        raise ImportError(package)
    return Language(getattr(module, _FUNCTIONS.get(language or "", "language"))())
