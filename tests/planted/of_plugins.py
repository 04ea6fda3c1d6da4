"""Defects of loading and using plugins."""

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
    Defect(
        "plugin-that-hangs",
        "a plugin whose module never returns keeps the daemon from starting",
        "livedex_indexing/plugins/plugin_loader.py",
        (
            (
                'within(limit_s, lambda: _register_of(source)(registrar), f"plugin {source.name}")',
                "_register_of(source)(registrar)",
            ),
        ),
        "tests/daemon/plugin_host/test_plugin_host.py::test_a_plugin_that_hangs_is_given_up",
    ),
    Defect(
        "pipeline-spans-unchecked",
        "a pipeline's overlapping spans put text into the index twice",
        "livedex_indexing/chunk/plugin_pipeline.py",
        (("return next(span_faults(spans, text), None)", "return None"),),
        "tests/indexing/chunk/test_plugin_pipelines.py::test_only_spans_in_order_and_inside_pass",
    ),
    Defect(
        "pipeline-blames-the-file",
        "a plugin that ends its process quarantines the files",
        "livedex_daemon/write/worker_slot.py",
        (("if culprit.plan.plugin is not None and culprit.plugin_fault is None:", "if False:"),),
        "tests/system/test_plugin_pipelines.py::test_pipelines_cut_or_degrade",
    ),
)
