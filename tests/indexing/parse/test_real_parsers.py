"""Damaged documents as the real parsers refuse them: the reason says what is known, and quotes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedex_indexing.parse.parse_process import Failure, Request, convert

documents = pytest.importorskip("helpers.documents", reason="the parsers and writers of documents are not installed")


def test_a_pdf_that_breaks_no_rule_that_pdfium_names_is_damaged(tmp_path: Path) -> None:
    documents.write_pdf(tmp_path / "whole.pdf", ["okapi"])
    without_pages = (tmp_path / "whole.pdf").read_bytes().replace(b"/Pages 6 0", b"/Paces 6 0")
    assert b"/Paces" in without_pages
    found = convert(Request(without_pages, ".pdf", "pypdfium2", 30.0, str(tmp_path)))
    assert found == Failure("damaged"), "PDFium says Success"


def test_a_broken_stream_is_named_by_its_library(tmp_path: Path) -> None:
    documents.write_docx(tmp_path / "whole.docx", ["okapi"])
    data = bytearray((tmp_path / "whole.docx").read_bytes())
    start = data.index(b"word/document.xml") + len("word/document.xml")
    data[start : start + 8] = b"\xff" * 8
    found = convert(Request(bytes(data), ".docx", "markitdown", 30.0, str(tmp_path)))
    assert found == Failure("damaged (zlib.error)")
