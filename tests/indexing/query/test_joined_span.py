"""Names in a text that have the parts of a typed name, or more."""

from __future__ import annotations

import pytest

from livedex_indexing.query.joined_span import JoinedName
from livedex_indexing.query.typed_name import TypedName

TEXT = "def sea_lamp_oil(SeaLampOil, lampSea, sealamp_oiled, sea_oil): pass"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("sea oil", ["sea_lamp_oil", "SeaLampOil", "sea_oil"]),
        ("sea lamp oil", ["sea_lamp_oil", "SeaLampOil"]),
        ("oil sea", []),
        ("sea tar", []),
        ("sea", []),
    ],
)
def test_longer_names_have_all_words_in_their_order(words: str, names: list[str]) -> None:
    assert JoinedName(TypedName(words)).longer(TEXT, TEXT.lower()) == names
