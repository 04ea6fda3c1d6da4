"""Recognises numbers and addresses in what was typed that files may have with other signs: ``14153`` for ``14,153``,
``4 KB`` for ``4KB``, ``version 2.15`` for ``v2.15``, a telephone number or an IBAN without its blanks, an address
without its scheme.

Invariant: pure; what the files have is for the index to say. Signs between digits are blanks to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

_ADDRESS: Final = re.compile(r"https?://(?:www\.)?(\S+)")
_THOUSANDS: Final = re.compile(r"([1-9]\d{3,11})(?=\s|\Z)")
_GROUPED: Final = re.compile(r"(\d{1,3}(?:[,._' ]\d{3})+)(?=\s|\Z)")
_AMOUNT: Final = re.compile(r"(?<![\w.,:/-])(\d+(?:[.,]\d+)?)( ?)([^\W\d_]{1,5}|%)(?![\w:/-])")
_VERSION: Final = re.compile(
    r"(?<![\w.:/-])(?:(?:version|release|ver\.?) +)?(v?)(\d{1,4}(?:\.\d{1,4}){1,3})(?![\w:/-]|\.\d)", re.I
)
_IDENTIFIER: Final = re.compile(r"(?=.*\d)[0-9A-Za-z]+(?:[ :.-][0-9A-Za-z]+)*")
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_IBAN: Final = re.compile(r"[A-Za-z]{2}\d{2}[0-9A-Za-z]{11,30}|\d{16}")
_UUID: Final = (8, 4, 4, 4, 12)
_MAC: Final = (2,) * 6
_TELEPHONE: Final = re.compile(r"(?!\d+(?:\.\d+){3}\Z)\+?\(?\d[\d ()/.-]{5,24}\d")
_LONGEST: Final = 50  # characters of an identifier
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
    for found in _VERSION.finditer(text):
        yield OtherForm(*found.span(), f"{'' if found[1] else 'v'}{found[2]}")
    for found in _AMOUNT.finditer(text):
        yield OtherForm(*found.span(), f"{found[1]}{'' if found[2] else ' '}{found[3]}")


def identifier_forms(text: str) -> Iterator[str]:
    """Yield the other ways to write a text that is a UUID, the address of a network card, an IBAN, or the number of a
    card or a book, and nothing else: in one word, and in its usual groups."""
    if len(text) > _LONGEST or _IDENTIFIER.fullmatch(text.strip()) is None:
        return
    joined = re.sub(r"[ :.-]", "", text)
    is_iban = _IBAN.fullmatch(joined) is not None
    groups = (4,) * -(-len(joined) // 4) if is_iban else next((g for g in (_UUID, _MAC) if sum(g) == len(joined)), ())
    if not groups or not (is_iban or _HEX.fullmatch(joined)):
        return
    yield joined
    ends = [*accumulate(groups)]
    yield " ".join(joined[end - size : end] for size, end in zip(groups, ends, strict=True))


def telephone_digits(text: str) -> str:
    """Return the digits of a text that may be a telephone number and nothing else, "" for any other."""
    digits = re.sub(r"\D", "", text) if _TELEPHONE.fullmatch(text.strip()) else ""
    return digits if len(digits) in _DIGITS else ""
