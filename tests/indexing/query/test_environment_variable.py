"""A variable of the environment, as programs read it."""

from __future__ import annotations

import pytest

from livedex_indexing.query.environment_variable import variable_read


@pytest.mark.parametrize(
    "text",
    [
        "process.env.LAMP_OIL",
        "import.meta.env.LAMP_OIL",
        "process.env['LAMP_OIL']",
        'os.environ["LAMP_OIL"]',
        "os.environ.get('LAMP_OIL')",
        'os.getenv("LAMP_OIL");',
        'std::env::var("LAMP_OIL")',
        'ENV["LAMP_OIL"]',
        'System.getenv("LAMP_OIL")',
        "$env:LAMP_OIL",
    ],
)
def test_the_variable_is_read(text: str) -> None:
    assert variable_read(text) == "LAMP_OIL"


@pytest.mark.parametrize("text", ["process.env.port", "LAMP_OIL", "x = os.environ['LAMP_OIL']", "env.LAMP_OIL", ""])
def test_another_text_is_none(text: str) -> None:
    assert variable_read(text) == ""
