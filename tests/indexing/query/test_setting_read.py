"""A path of keys, as programs read it and as commands set it."""

from __future__ import annotations

import pytest

from livedex_indexing.query.setting_read import setting_read


@pytest.mark.parametrize(
    "text",
    [
        '"lamp.oil-level"',
        't("lamp.oil-level")',
        "i18n.t('lamp.oil-level', { count: 1 });",
        'config["lamp.oil-level"]',
        '@Value("${lamp.oil-level:80}")',
        "${lamp.oil-level}",
        "${lamp.oil-level:80}",
        "-Dlamp.oil-level=80",
        "--lamp.oil-level=80",
    ],
)
def test_the_path_is_read(text: str) -> None:
    assert setting_read(text) == "lamp.oil-level"


@pytest.mark.parametrize(
    "text", ["lamp.oil", '"lamp"', '"lamp. oil"', "-lamp.oil", "--lamp", 't("lamp.oil") + 1', "${lamp}", ""]
)
def test_another_text_is_none(text: str) -> None:
    assert setting_read(text) == ""
