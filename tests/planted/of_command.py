"""Defects of the command: what a person or a pipe gets to read."""

from __future__ import annotations

from planted.defect import Defect

TERMINAL = "tests/ipc/cli/test_cli_terminal.py"

DEFECTS = (
    Defect(
        "environment-beats-the-colour-option",
        "`--color always` has no effect where NO_COLOR is set",
        "livedex_ipc/cli/streams.py",
        (('    if color != "auto":', '    if color != "auto" and not environ.get("NO_COLOR"):'),),
        f"{TERMINAL}::test_a_pipe_has_the_text_of_a_terminal_and_colours_on_request",
    ),
    Defect(
        "early-fault-is-text",
        "a fault of the command line is text though `--json` stands behind it",
        "livedex_ipc/cli/command_parser.py",
        (('    line.json = "--json" in own\n', ""),),
        "tests/ipc/cli/test_cli.py::test_wrong_usage_is_exit_code_2",
    ),
)
