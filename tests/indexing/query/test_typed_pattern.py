"""Regular expressions as people write them for grep, and texts that are none."""

from __future__ import annotations

import time

import pytest

from livedex_indexing.query.typed_pattern import text_of_pattern


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\brun\b", "run"),
        (r"\bTask.run\b", "Task.run"),
        (r"def run\(", "def run("),
        (r"fn run\b", "fn run"),
        (r"function\s+run", "function run"),
        (r"func .*Run\(", "func Run("),
        (r"^class Task", "class Task"),
        (r"^\s*def run", "def run"),
        (r"run.*task", "run task"),
        (r"class \w+\(Base\)", "class (Base)"),
        (r"task\.run\(", "task.run("),
        (r"^.*\brun_task\(", "run_task("),
        (r"[a-z]{2,3}_run\b", "_run"),
    ],
)
def test_what_an_expression_looks_for(pattern: str, text: str) -> None:
    assert text_of_pattern(pattern) == text


@pytest.mark.parametrize(
    "text",
    [
        "run|task",
        r"C:\bin\scripts",
        r"App\Service\Task",
        r"\bar\baz",
        "src/**/*.ts",
        "run*",
        "a.b",
        "https://x.y/a.*b",
        "hello. world",
        "x^2",
        "$task",
        "run(a, b)",
        "run...task",
        "\\bone\\b\ntwo",
        "",
    ],
)
def test_another_text_is_none(text: str) -> None:
    assert text_of_pattern(text) == ""


@pytest.mark.parametrize(
    "unit", ["\\b", "\\s", "[", "[a", "a\\b", "a.", "\\(", "{", "\\w{1", "a ", "^", "$", "\\", ".*"]
)
def test_time_is_linear(unit: str) -> None:
    began = time.process_time()
    text_of_pattern(unit * 10_000)
    text_of_pattern(f"\\brun\\b{unit * 10_000}\\brun\\b")
    assert time.process_time() - began < 0.5
