"""A reference in a text with marks leads to what it refers to, not to the other references."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed

FILES = {
    "oven.rst": "Ovens\n=====\n\n.. _hot-oven:\n\nHeat\n----\n\nMuch of it.\n",
    "books.bib": "@book{mill:1999,\n  title = {Mills},\n}\n",
    "mill.adoc": "[[_old_mill]]\n== The old one\n\nIt grinds.\n",
    "doors.tex": "\\section{Doors}\\label{sec:doors}\n",
    "uses.rst": ":ref:`hot-oven` and :ref:`the oven <hot-oven>`, see :ref:`hot-oven`: a hot oven\n" * 3,
    "uses.tex": "as \\cite{mill:1999} and \\cite[p. 3]{mill:1999} say, see \\ref{sec:doors} and \\ref{sec:doors}\n" * 3,
    "uses.adoc": "see <<_old_mill>>, and <<_old_mill,the mill>>, xref:_old_mill[it], [@mill:1999], @mill:1999\n" * 3,
    "oven.py": "def hot_oven(mill):\n    return old_mill\n",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("texts")) as made:
        for name, text in FILES.items():
            made.write(f"root/{name}", text)
        yield made


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (":ref:`hot-oven`", "oven.rst"),
        (":ref:`the oven <hot-oven>`", "oven.rst"),
        ("hot-oven", "oven.rst"),
        ("\\cite{mill:1999}", "books.bib"),
        ("\\citep[p. 3]{mill:1999}", "books.bib"),
        ("[@mill:1999]", "books.bib"),
        ("@mill:1999", "books.bib"),
        ("<<_old_mill>>", "mill.adoc"),
        ("<<_old_mill,the mill>>", "mill.adoc"),
        ("xref:_old_mill[it]", "mill.adoc"),
        ("\\ref{sec:doors}", "doors.tex"),
    ],
)
def test_it_leads_to_the_label(texts: Indexed, query: str, name: str) -> None:
    assert texts.search(query)[0]["relative_path"] == name
