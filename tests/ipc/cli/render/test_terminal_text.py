"""Output for people: nothing hidden or harmful reaches a terminal, and matches are highlighted in place."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.cli.render.files_text import chunks_text, files_text, why_text
from livedex_ipc.cli.render.terminal_text import (
    count_text,
    display_width,
    error_text,
    size_text,
    state_lines,
    table,
    visible,
)
from livedex_ipc.errors import ConfigInvalid, Unavailable
from livedex_ipc.file_results import ExplainResult, RuleFields
from livedex_ipc.wire_results import AnswerWarning

# Characters that Unicode classifies as formats although they are drawn and have a width.
DRAWN_FORMATS = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}

FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters and marks by class, drawn as nothing or a blank
VARIATIONS = "\u180b\ufe0f\U000e0100"


def test_every_control_format_and_separator_character_is_made_visible() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and code not in DRAWN_FORMATS:
            assert visible(character).isascii(), hex(code)


@given(st.text(st.characters() | st.sampled_from(f"\x1b\u202e\u200b\n\udce9{FILLERS}{VARIATIONS}")))
def test_only_what_is_hidden_is_changed(text: str) -> None:
    assert visible(text) == "".join(visible(character) for character in text)
    plain = [character for character in text if character.isprintable() and character not in FILLERS]
    assert visible("".join(plain)) == "".join(plain)


def test_fillers_are_shown_and_forms_of_characters_are_kept() -> None:
    assert all(visible(f"a{filler}").isascii() for filler in FILLERS)
    assert visible(f"葛{VARIATIONS}") == f"葛{VARIATIONS}"


def test_escapes_name_what_they_represent() -> None:
    assert visible("a\x1b[31m\u202eb\n\udce9\U000e0041") == "a\\e[31m\\u202eb\\n\\xe9\\U000e0041"
    assert visible("a\tb\n", "\t") == "a\tb\\n"


def test_a_table_is_aligned_also_where_characters_are_wide() -> None:
    lines = table([("a", "1", "x"), ("日本", "22", "y")], right=frozenset({1}))
    assert lines == ["a      1  x", "日本  22  y"]
    assert {display_width(line) for line in lines} == {11}


def test_sizes_are_in_units_people_read() -> None:
    assert [size_text(count) for count in (0, 1023, 1024, 12_345_678)] == ["0 B", "1023 B", "1.0 KiB", "11.8 MiB"]


def test_an_error_says_what_happened_and_what_to_do() -> None:
    text = error_text(Unavailable("the disk\x1b is full", {"remedy": "make room"}), colour=False)
    assert text == "livedex: the disk\\e is full\n  try: make room"


def test_every_fault_of_a_configuration_is_printed_with_its_place() -> None:
    faults = [
        {"key": "index.max_size", "line": 4, "column": 1, "message": "unknown key", "nearest": "max_file_size"},
        {"key": "log.level", "line": None, "column": None, "message": "must be text", "nearest": None},
        {"key": "indx", "line": 9, "column": 2, "message": "unknown key", "nearest": None},
    ]
    text = error_text(ConfigInvalid("the configuration is not valid", {"faults": faults}), colour=False)
    further = ["  log.level: must be text", "  line 9:2: indx: unknown key"]
    first = "  line 4:1: index.max_size: unknown key (did you mean max_file_size?)"
    assert text.splitlines() == ["livedex: the configuration is not valid", first, *further]
    text = error_text(ConfigInvalid("line 4: index.max_size: unknown key", {"faults": faults}), colour=False)
    assert text.splitlines() == ["livedex: line 4: index.max_size: unknown key", *further], "the first is there"


@pytest.mark.parametrize("faults", [[], [None, 3, "x"], [{}], {"message": "m"}, 3])
def test_faults_of_another_form_cost_nothing_else(faults: object) -> None:
    text = error_text(ConfigInvalid("line 4: unknown key", {"faults": faults}), colour=False)
    assert text.splitlines()[0] == "livedex: line 4: unknown key"


def test_what_an_answer_lacks_is_said_with_its_remedy() -> None:
    few: AnswerWarning = {"code": "watch_limit", "message": "too few watches", "remedy": "raise it"}
    assert list(state_lines({"fresh": False, "reason": "deadline"}, 3, [few], colour=False)) == [
        "livedex: not fresh: the time ran out before the newest changes were indexed, 3 pending",
        "livedex: watch_limit: too few watches (raise it)",
    ]
    assert not list(state_lines({"fresh": True}, colour=False))


def test_why_names_the_rule_that_decided() -> None:
    rule: RuleFields = {"file": "/r/.gitignore", "line": 4, "pattern": "*.log"}
    answer: ExplainResult = {
        "path": "/r/a.log",
        "status": "ignored",
        "reason": None,
        "rule": rule,
        "fresh": True,
    }
    assert why_text(answer, colour=False) == "/r/a.log: ignored by /r/.gitignore:4: *.log\n"
    built_in: ExplainResult = {**answer, "rule": {"file": "built-in", "line": 0, "pattern": "node_modules/"}}
    assert why_text(built_in, colour=False) == "/r/a.log: ignored by built-in: node_modules/\n"
    indexed: ExplainResult = {**answer, "path": "/r/a", "status": "skipped", "reason": "binary", "rule": None}
    assert why_text(indexed, colour=False) == "/r/a: skipped (binary)\n"
    let_in: ExplainResult = {**answer, "status": "indexed", "rule": {**rule, "pattern": "!a.log"}}
    assert why_text(let_in, colour=False) == "/r/a.log: indexed, let in by /r/.gitignore:4: !a.log\n"


def test_why_says_everything_once() -> None:
    rule: RuleFields = {"file": "/r/.gitignore", "line": 1, "pattern": "*.log"}
    ignored: ExplainResult = {
        "path": "/r/a.log",
        "status": "ignored",
        "reason": "ignored by /r/.gitignore",
        "rule": rule,
        "fresh": True,
    }
    assert why_text(ignored, colour=False) == "/r/a.log: ignored by /r/.gitignore:1: *.log\n"
    missing: ExplainResult = {**ignored, "status": "outside", "reason": "there is no such file", "rule": None}
    assert why_text(missing, colour=False) == "/r/a.log: missing (there is no such file)\n"


def test_one_thing_is_singular() -> None:
    assert [count_text(count, "file") for count in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]


def test_a_file_is_listed_with_its_reason() -> None:
    entry: Any = {"path": "/r/a", "status": "failed", "size": 0, "chunks": 0, "language": None, "reason": "denied"}
    shown = files_text({"files": [entry], "total": 1, "warnings": [], "fresh": True}, colour=False)
    assert shown.splitlines()[1:] == ["failed   0 B       0            /r/a  (denied)", "1 file"]


def test_a_cut_list_says_of_how_many_files_it_is() -> None:
    entry: Any = {"path": "/r/a", "status": "indexed", "size": 0, "chunks": 0, "language": None}
    shown = files_text({"files": [entry, entry], "total": 3000, "warnings": [], "fresh": True}, colour=False)
    assert shown.splitlines()[-1] == "2 of 3,000 files"


def test_a_chunk_is_shown_with_its_lines() -> None:
    chunk = {"ordinal": 0, "text": "a\tb\r\n\x1bc", "kind": "plain", "language": None, "heading": None, "symbol": None}
    result: Any = {"path": "/r/a", "chunks": [{**chunk, "start_line": 1, "end_line": 2}]}
    assert chunks_text(result, colour=False) == "/r/a\n#0 · lines 1-2 · plain\na\tb\n\\ec\n"
