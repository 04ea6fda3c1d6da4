"""The manual page is made from the argument tree, and troff accepts it without a warning."""

from __future__ import annotations

import subprocess

import pytest

from helpers.manual_page import PAGE, manual
from livedex_ipc.cli.arguments import ROOT


def test_it_is_made_of_the_tree() -> None:
    assert PAGE.read_text() == manual(), "PYTHONPATH=tests python -m helpers.manual_page"


def test_it_names_every_command_and_option() -> None:
    text = PAGE.read_text().replace("\\-", "-")
    for command in ROOT.subcommands:
        for leaf in command.subcommands or (command,):
            assert f"livedex {command.name}" in text
            assert all(flag in text for option in leaf.options for flag in option.flags)


@pytest.mark.needs("groff")
def test_troff_reads_it_without_a_warning() -> None:
    words = ["groff", "-man", "-Tutf8", "-P-cbou", "-ww", str(PAGE)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    assert "livedex search [OPTION ...] QUERY" in done.stdout
    assert "livedex search -e '^static .*_init\\(' -g '*.c'" in done.stdout
