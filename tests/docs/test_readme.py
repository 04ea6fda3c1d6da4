"""The README's examples are commands that exist, and all documents have links with a target and lines that show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from helpers.support import CHECKOUT
from livedex_ipc.cli import arguments

LONGEST_README = 150  # lines
LONGEST_LINE = 120  # characters, in every document
DOCUMENTS = sorted([CHECKOUT / "README.md", *(CHECKOUT / "docs").rglob("*.md")])


def console_lines() -> list[list[str]]:
    """Each `livedex …` of the README's console blocks, as words; comments, pipes and other programs are left out."""
    blocks = re.findall(r"```console\n(.*?)```", (CHECKOUT / "README.md").read_text(), re.DOTALL)
    found = []
    for line in re.findall(r"(?<!/)livedex [^|&\n]*", "\n".join(blocks)):
        words = shlex.split(line, comments=True)
        if len(words) > 1 and not words[1].startswith("-") and words[1:] not in found:
            found.append(words[1:])
    return found


@pytest.mark.parametrize("words", console_lines(), ids=" ".join)
def test_an_example_is_a_command_that_exists(words: list[str]) -> None:
    command = arguments.ROOT.subcommand(words[0])
    assert command is not None
    if command.subcommands:
        command = command.subcommand(words[1])
        assert command is not None
    flags = {flag for option in (*command.options, *arguments.GLOBAL_OPTIONS) for flag in option.flags}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= flags


def test_the_readme_is_short() -> None:
    assert len((CHECKOUT / "README.md").read_text().splitlines()) <= LONGEST_README


def test_no_line_is_too_long() -> None:
    """A program writes planted-defects.md, one row for each defect."""
    found = {
        f"{path.relative_to(CHECKOUT)}:{number}"
        for path in DOCUMENTS
        if path.name != "planted-defects.md"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST_LINE
    }
    assert not found


def test_no_line_of_prose_is_a_comment() -> None:
    """The site leaves out a line that begins with `%`: a code span must not be broken in front of one."""
    found = {
        f"{path.relative_to(CHECKOUT)}: {line}"
        for path in DOCUMENTS
        for line in re.findall(r"^ *%.*", re.sub(r"^ *```.*?^ *```$", "", path.read_text(), flags=re.M | re.S), re.M)
    }
    assert not found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text()
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif "://" not in target:
            assert (document.parent / target).exists(), target
