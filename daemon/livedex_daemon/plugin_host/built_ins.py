"""What livedex itself provides under names that the configuration may use, in the same registry as plugins.

Invariant: to register imports no optional package; a factory does, when it is called.
"""

from __future__ import annotations

from collections.abc import Callable

from livedex_indexing.backends import extra_backends
from livedex_indexing.chunk import built_in_pipelines, chonkie_steps
from livedex_indexing.embeddings import built_in
from livedex_indexing.plugins import Registrar

BUILT_INS: tuple[Callable[[Registrar], None], ...] = (
    built_in_pipelines.register,
    chonkie_steps.register,
    built_in.register,
    extra_backends.register,
)
