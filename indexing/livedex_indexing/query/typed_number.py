"""Recognises numbers and addresses in what was typed that files may have with other signs: ``14153`` for ``14,153``,
``4 KB`` for ``4KB``, a telephone number without its blanks, an address without its scheme.

Invariant: pure; what the files have is for the index to say. Signs between digits are blanks to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_ADDRESS: Final = re.compile(r"https?://(?:www\.)?(\S+)")
_THOUSANDS: Final = re.compile(r"([1-9]\d{3,11})(?=\s|\Z)")
_GROUPED: Final = re.compile(r"(\d{1,3}(?:[,._' ]\d{3})+)(?=\s|\Z)")
_AMOUNT: Final = re.compile(r"(?<![\w.,:/-])(\d+(?:[.,]\d+)?)( ?)([^\W\d_]{1,5}|%)(?![\w:/-])")
_TELEPHONE: Final = re.compile(r"(?!\d+(?:\.\d+){3}\Z)\+?\(?\d[\d ()/.-]{5,24}\d")
_DIGITS: Final = range(7, 16)  # of a telephone number


class OtherForm(NamedTuple):
    """What a text has from ``start`` to ``end``, and the ``form`` that files may have instead."""

    start: int
    end: int
    form: str


def other_forms(text: str) -> Iterator[OtherForm]:
    """Yield an address that is all of a text, a number at its beginning (elsewhere it may be that of a line), and the
    amounts in it."""
    address = _ADDRESS.fullmatch(text.strip())
    if address is not None:
        yield OtherForm(0, len(text), address[1])
        return
    whole, grouped = _THOUSANDS.match(text), _GROUPED.match(text)
    if whole is not None:
        yield OtherForm(*whole.span(), f"{int(whole[1]):,}")
    if grouped is not None:
        yield OtherForm(*grouped.span(), re.sub(r"\D", "", grouped[1]))
    for found in _AMOUNT.finditer(text):
        yield OtherForm(*found.span(), f"{found[1]}{'' if found[2] else ' '}{found[3]}")


def telephone_digits(text: str) -> str:
    """Return the digits of a text that may be a telephone number and nothing else, "" for any other."""
    digits = re.sub(r"\D", "", text) if _TELEPHONE.fullmatch(text.strip()) else ""
    return digits if len(digits) in _DIGITS else ""
