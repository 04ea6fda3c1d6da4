"""What the real parsers make of a document: its words as they were written, and none of them lost."""

from __future__ import annotations

import datetime
import io
import json
import struct
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from livedex_indexing.parse.parse_process import Converted, Failure, Request, convert
from livedex_indexing.parse.parsers import identity_of

documents = pytest.importorskip("helpers.documents", reason="the parsers and writers of documents are not installed")


def failed(data: bytes, suffix: str, folder: Path) -> str:
    found = convert(Request(data, suffix, "markitdown", 60.0, str(folder)))
    assert isinstance(found, Failure), found
    return found.message


def text_of(data: bytes, suffix: str, folder: Path) -> str:
    found = convert(Request(data, suffix, "markitdown", 60.0, str(folder)))
    assert isinstance(found, Converted), found
    return found.text.decode()


def workbook(*rows: list[Any]) -> bytes:
    import openpyxl

    made, book = io.BytesIO(), openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(made)
    return made.getvalue()


def test_a_cell_of_a_workbook_has_the_text_and_the_digits_that_it_was_given(tmp_path: Path) -> None:
    """A column with an empty cell is no column of fractions, and `NA` is a text like any other."""
    data = workbook(
        ["phone", "code", "day", "share"],
        [4915112345678, "007", datetime.date(2026, 1, 2), 0.1 + 0.2],
        [None, "NA", datetime.datetime(2026, 1, 2, 3, 4, 5), 1e-9],
        [3.0, "null", None, True],
        [],
        [None, "a|b c", None, 12.5],
    )
    assert text_of(data, ".xlsx", tmp_path).splitlines() == [
        "## Sheet",
        "| phone | code | day | share |",
        "| --- | --- | --- | --- |",
        "| 4915112345678 | 007 | 2026-01-02 | 0.3 |",
        "|  | NA | 2026-01-02 03:04:05 | 1e-09 |",
        "| 3 | null |  | TRUE |",
        "|  | a|b c |  | 12.5 |",
    ]


def test_a_workbook_of_a_program_that_misspells_an_attribute_is_read(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(["okapi"]))) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            part = source.read(name).replace(b"<sheetView ", b'<sheetView showZeroes="1" ')
            target.writestr(name, part)
    assert b"showZeroes" in made.getvalue()
    assert "| okapi |" in text_of(made.getvalue(), ".xlsx", tmp_path)


def test_an_old_workbook_has_the_same_cells(tmp_path: Path) -> None:
    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    def label(row: int, column: int, text: str) -> bytes:
        return record(4, struct.pack("<HH3sB", row, column, b"\0\0\0", len(text)) + text.encode())

    def number(row: int, column: int, value: float) -> bytes:
        return record(3, struct.pack("<HH3sd", row, column, b"\0\0\0", value))

    cells = label(0, 0, "phone") + label(0, 1, "code") + number(1, 0, 4915112345678.0) + label(2, 1, "NA")
    data = record(9, struct.pack("<HH", 2, 0x10)) + cells + number(3, 0, 12.5) + record(10, b"")
    lines = text_of(data, ".xls", tmp_path).splitlines()
    assert lines[1:] == ["| phone | code |", "| --- | --- |", "| 4915112345678 |", "|  | NA |", "| 12.5 |"]


def test_a_name_is_not_written_with_backslashes(tmp_path: Path) -> None:
    documents.write_docx(tmp_path / "a.docx", ["parse_header_of *okapi*"])
    found = text_of((tmp_path / "a.docx").read_bytes(), ".docx", tmp_path)
    assert "This paragraph is about the parse_header_of *okapi*." in found
    assert "call parse_header_of()" in text_of(b"<p>call parse_header_of()</p>", ".html", tmp_path)


def test_a_word_that_may_be_cut_is_one_word(tmp_path: Path) -> None:
    assert text_of(b"<p>Donau&shy;dampf&shy;schiff</p>", ".html", tmp_path) == "Donaudampfschiff"


def test_a_word_that_is_bold_in_part_is_one_word(tmp_path: Path) -> None:
    page = b"<p>The <b>O</b>kapi is <em>very</em> shy, see <code>a_b</code></p><ul><li><strong>one</strong></ul>"
    assert text_of(page, ".html", tmp_path) == "The Okapi is very shy, see `a_b`\n\n* one"


def test_a_page_has_its_title(tmp_path: Path) -> None:
    page = "<html><head><title>All about\n the okapi</title></head><body><h1>{}</h1><p>Text</p></body></html>"
    found = text_of(page.format("Welcome").encode(), ".html", tmp_path)
    assert found.splitlines() == ["# All about the okapi", "", "# Welcome", "", "Text"]
    assert text_of(page.format("All about the okapi").encode(), ".xhtml", tmp_path).count("All about the okapi") == 1


def test_a_list_of_all_items_of_a_large_page_is_converted_in_time(tmp_path: Path) -> None:
    items = "".join(f"<li>item of the okapi{number}</li>\n" for number in range(60_000))
    found = convert(Request(f"<ol>{items}</ol>".encode(), ".html", "markitdown", 20.0, str(tmp_path)))
    assert isinstance(found, Converted), found
    lines = found.text.decode().splitlines()
    assert (lines[0], lines[-1]) == ("1. item of the okapi0", "60000. item of the okapi59999")


def test_a_page_that_is_nested_very_deeply_has_its_text(tmp_path: Path) -> None:
    page = f"<h1>Okapi</h1>{'<ul><li>quokka' * 20_000}"
    assert text_of(page.encode(), ".html", tmp_path).split() == ["Okapi", *["quokka"] * 20_000]


def test_a_page_is_written_as_its_reader_sees_it(tmp_path: Path) -> None:
    page = r"""<nav><a href="/a">Menu</a></nav><form><label>Field</label></form>
        <p># no heading<p>1. no item, C:\_x, a\|b, `tick` &amp;lt;<br><code>grep 'a\|b\_'</code>
        <p><img src="data:image/png;base64,AAAA" alt="A drawing"> <cite>H</cite><sub>2</sub>O
        <table><tr><th>a|b<th><code>c|d</code><tr><td>1. x<td>C:\_y</table><script>unseen()</script>"""
    assert text_of(page.encode(), ".html", tmp_path).splitlines() == [
        "[Menu](/a)",
        "",
        "Field",
        "",
        "# no heading",
        "",
        r"1. no item, C:\_x, a\|b, `tick` &lt;  ",
        r"`grep 'a\|b\_'`",
        "",
        "A drawing H2O",
        "",
        "| a|b | `c|d` |",
        "| --- | --- |",
        r"| 1. x | C:\_y |",
    ]


def test_the_code_in_a_page_has_its_lines_and_no_links(tmp_path: Path) -> None:
    page = (
        r"<pre><a href='q.html'>quokka</a> = '\#'" + "\n\n    <span>okapi</span>(<a>x|y</a>)\n</pre><a href='/b'>b</a>"
    )
    assert text_of(page.encode(), ".html", tmp_path).splitlines() == [
        "```",
        r"quokka = '\#'",
        "",
        "    okapi(x|y)",
        "```",
        "",
        "[b](/b)",
    ]


def test_a_page_has_another_parser_with_each_version_of_its_library() -> None:
    identity = identity_of("markitdown", ".xhtml", {})
    assert identity is not None
    assert version("html-to-markdown") in identity.split()


@pytest.mark.parametrize("head", ['<meta charset="{}">', '<?xml version="1.0" encoding="{}"?>'])
@pytest.mark.parametrize(
    ("named", "encoding", "text"),
    [
        ("iso-8859-9", "cp1254", "Pijamalı hasta yağız şoföre"),
        ("ISO-8859-1", "cp1252", "“curly” naïve"),  # browsers read this name so
        ("iso-8859-9", "utf-8", "yağız"),  # it is UTF-8, whatever it says
        ("no-such", "cp1252", "naïve café"),
    ],
)
def test_a_page_is_in_the_encoding_that_it_names(
    head: str, named: str, encoding: str, text: str, tmp_path: Path
) -> None:
    page = f"{head.format(named)}<p>{text}</p>"
    assert text in text_of(page.encode(encoding), ".html", tmp_path)


def notebook(**parts: Any) -> bytes:
    return json.dumps(parts).encode()


def test_a_notebook_of_any_age_has_all_its_cells(tmp_path: Path) -> None:
    new = notebook(
        nbformat=4,
        metadata={"kernelspec": {"language": "R"}},
        cells=[
            {"cell_type": "markdown", "source": ["# One\n", "about the okapi"]},
            {"cell_type": "code", "source": "x <- 1\n```\n", "outputs": []},
            {"cell_type": "raw", "source": ["plain"]},
        ],
    )
    found = text_of(new, ".ipynb", tmp_path)
    assert found == "# One\nabout the okapi\n\n````r\nx <- 1\n```\n\n````\n\n```\nplain\n```"
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old"]},
        {"cell_type": "code", "language": "python", "input": ["quokka = 1"], "outputs": []},
    ]
    old = notebook(nbformat=3, metadata={"name": ""}, worksheets=[{"cells": cells}])
    assert text_of(old, ".ipynb", tmp_path) == "## Old\n\n```python\nquokka = 1\n```"


def test_a_notebook_has_the_text_that_its_code_put_out(tmp_path: Path) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["epoch 1\n", "epoch 2\n"]},
        {"output_type": "execute_result", "data": {"text/plain": ["{'okapi': 7}"], "text/html": "<b>no</b>"}},
        {"output_type": "display_data", "data": {"image/png": "aGVsbG8="}},
        {"output_type": "error", "ename": "KeyError", "evalue": "'a'", "traceback": ["\x1b[0;31mKeyError\x1b[0m: 'a'"]},
    ]
    code = {"cell_type": "code", "source": "f()", "outputs": outputs}
    found = text_of(notebook(nbformat=4, cells=[code]), ".ipynb", tmp_path)
    assert found == "```python\nf()\n```\n\n```\nepoch 1\nepoch 2\n{'okapi': 7}\nKeyError: 'a'\n```"


def test_an_old_notebook_has_the_text_that_its_code_put_out(tmp_path: Path) -> None:
    outputs = [
        {"output_type": "pyout", "text": ["quokka 1"], "metadata": {}},
        {"output_type": "pyerr", "ename": "NameError", "evalue": "no", "traceback": []},
    ]
    cells = [{"cell_type": "code", "language": "python", "input": ["f()"], "outputs": outputs}]
    found = text_of(notebook(nbformat=3, worksheets=[{"cells": cells}]), ".ipynb", tmp_path)
    assert found == "```python\nf()\n```\n\n```\nquokka 1\nNameError: no\n```"


def test_of_a_long_output_only_the_beginning_counts(tmp_path: Path) -> None:
    code = {"cell_type": "code", "source": "f()", "outputs": [{"output_type": "stream", "text": "a" * 9000}]}
    found = text_of(notebook(nbformat=4, cells=[code]), ".ipynb", tmp_path)
    assert found.splitlines()[4:] == ["```", "a" * 8192, "…", "```"]


def test_a_document_has_its_headers_and_footers_once(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    made = docx.Document()
    made.add_paragraph("About the okapi")
    first, second = made.sections[0], made.add_section()
    second.header.is_linked_to_previous = second.footer.is_linked_to_previous = False
    for section in (first, second):
        section.header.paragraphs[0].text = "Project\tQuokka"
    first.footer.paragraphs[0].add_run("confi")
    first.footer.paragraphs[0].add_run("dential")
    made.save(str(tmp_path / "a.docx"))
    found = text_of((tmp_path / "a.docx").read_bytes(), ".docx", tmp_path)
    assert found.split("\n\n") == ["About the okapi", "confidential", "Project Quokka"]


def test_what_has_no_cells_is_no_notebook(tmp_path: Path) -> None:
    assert failed(b'{"a": 1}', ".ipynb", tmp_path) == "damaged (KeyError)"
    assert failed(b"[1]", ".ipynb", tmp_path) == "damaged (AttributeError)"
    assert text_of(notebook(cells=[]), ".ipynb", tmp_path) == ""
