"""Keys of names: what is typed for a name has the key that the name has."""

from __future__ import annotations

import pytest

from livedex_indexing.text.name_beginnings import (
    MARK,
    keys_of,
    keys_of_beginnings,
    keys_of_joined,
    outline_words,
)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("QuayCraneDriver", ["qcd", "qucrdr"]),
        ("_quay_crane_driver", ["qcd", "qucrdr"]),
        ("quayCrane2", ["qc2", "qucr2"]),
        ("quay_crane", ["qucr"]),
        ("quay", []),
        ("QUAY_CRANE_DRIVER", []),
        ("a_b_c_d_e_f_g_h", []),
        ("größe_des_kais", []),
        ("test_quay_crane", []),
        ("testQuayCrane", []),
        ("TestQuayCrane", ["tqc", "tequcr"]),
        ("test_quay2", []),
        ("contest_quay2", ["cq2", "coqu2"]),
    ],
)
def test_a_name_has_the_keys_of_its_beginnings(name: str, keys: list[str]) -> None:
    assert keys_of(name) == [MARK + key for key in keys]


@pytest.mark.parametrize(
    ("parts", "keys"),
    [
        (["q", "c", "d"], ["qcd"]),
        (["quay", "c", "driv"], ["qcd"]),
        (["qua", "cra", "dr"], ["qucrdr"]),
        (["q", "c"], []),
        (["quay"], []),
    ],
)
def test_beginnings_have_one_key(parts: list[str], keys: list[str]) -> None:
    assert keys_of_beginnings(parts) == [MARK + key for key in keys]


@pytest.mark.parametrize("word", ["qcd", "qucrdr", "quacradri", "qucradri", "qucrdriver"])
def test_a_word_in_lower_case_may_have_the_keys_of_the_name(word: str) -> None:
    assert set(keys_of("QuayCraneDriver")) & set(keys_of_joined(word))


def test_a_long_word_has_few_keys() -> None:
    assert len(keys_of_joined("quaycranedriver" * 9)) <= 16


def test_the_index_has_names_parts_and_keys() -> None:
    assert outline_words(["Sea.quayCrane", "MAX"]) == f"Sea.quayCrane Sea quay Crane MAX {MARK}qucr"
