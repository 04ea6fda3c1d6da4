"""The built-in pipeline ``chonkie``: a ``chonkie.Pipeline`` made of the steps that the configuration lists.

Invariant: chonkie is imported when a text is cut, not when the name is registered. A fetcher is no step: livedex reads
the files itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from livedex_indexing.plugins import ChonkiePipeline, Pipeline, Registrar

NAME = "chonkie"
STEPS = {"process": "process_with", "chunk": "chunk_with", "refine": "refine_with"}


def register(registry: Registrar) -> None:
    registry.register_pipeline(NAME, pipeline_of)


def pipeline_of(config: Mapping[str, object]) -> Pipeline:
    """Return the pipeline of ``[plugin.chonkie] steps``. Raises ValueError for a table that is none."""
    from chonkie import Pipeline as ChonkiePipelineBuilder

    settings = config["plugin"]
    steps = settings.get("steps", ()) if isinstance(settings, Mapping) else ()
    if not isinstance(steps, Iterable) or not steps:
        raise ValueError('steps is missing: [plugin.chonkie] steps = [{ chunk = "sentence", chunk_size = 1024 }]')
    built = ChonkiePipelineBuilder()
    for step in steps:
        kinds = [kind for kind in STEPS if kind in step]
        if len(kinds) != 1:
            raise ValueError(f"a step has one of {', '.join(STEPS)}, which names a component of chonkie: {dict(step)}")
        options = {name: value for name, value in step.items() if name != kinds[0]}
        built = getattr(built, STEPS[kinds[0]])(step[kinds[0]], **options)
    return ChonkiePipeline(built)
