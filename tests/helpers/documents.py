"""Documents made by real writers, each with words of the caller's choice in prose, a table and code where it can."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

docx = pytest.importorskip("docx", reason="python-docx is not installed")
openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
pptx = pytest.importorskip("pptx", reason="python-pptx is not installed")
canvas = pytest.importorskip("reportlab.pdfgen.canvas", reason="reportlab is not installed")
pytest.importorskip("markitdown", reason="markitdown is not installed")
pytest.importorskip("pypdfium2", reason="pypdfium2 is not installed")
epub = pytest.importorskip("ebooklib.epub", reason="EbookLib is not installed")

Writer = Callable[[Path, list[str]], None]


def write_pdf(path: Path, words: list[str]) -> None:
    """One page for each word."""
    made = canvas.Canvas(str(path))
    for word in words:
        made.drawString(72, 700, f"This page is about the {word}.")
        made.showPage()
    made.save()


def write_locked_pdf(path: Path, words: list[str]) -> None:
    made = canvas.Canvas(str(path), encrypt="secret")
    made.drawString(72, 700, " ".join(words))
    made.save()


def write_docx(path: Path, words: list[str]) -> None:
    made = docx.Document()
    made.add_heading("Report", 1)
    for word in words:
        made.add_paragraph(f"This paragraph is about the {word}.")
    table = made.add_table(2, len(words))
    for column, word in enumerate(words):
        table.cell(0, column).text = f"column{column}"
        table.cell(1, column).text = f"{word}cell"
    made.save(str(path))


def write_pptx(path: Path, words: list[str]) -> None:
    """One slide for each word."""
    made = pptx.Presentation()
    for word in words:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = f"About the {word}"
        slide.placeholders[1].text = f"The {word} lives in the hills."
    made.save(str(path))


def write_xlsx(path: Path, words: list[str]) -> None:
    made = openpyxl.Workbook()
    made.active.append(["animal", "count"])
    for count, word in enumerate(words):
        made.active.append([word, count])
    made.save(str(path))


def write_epub(path: Path, words: list[str]) -> None:
    made = epub.EpubBook()
    made.set_identifier(path.name)
    made.set_title("A book")
    chapter = epub.EpubHtml(title="One", file_name="one.xhtml")
    code = "\n".join(f"keep_{word} = 1" for word in words)
    text = "".join(f"<p>This chapter is about the {word}.</p>" for word in words)
    chapter.content = f"<h1>One</h1>{text}<pre><code>{code}</code></pre>"
    made.add_item(chapter)
    made.spine, made.toc = [chapter], (chapter,)
    made.add_item(epub.EpubNcx())
    made.add_item(epub.EpubNav())
    epub.write_epub(str(path), made)


def write_html(path: Path, words: list[str]) -> None:
    cells = "".join(f"<td>{word}cell</td>" for word in words)
    heads = "".join(f"<th>h{number}</th>" for number in range(len(words)))
    text = "".join(f"<p>This page is about the {word}.</p>" for word in words)
    code = "\n".join(f"keep_{word} = 1" for word in words)
    path.write_text(
        f"<html><body><h1>Page</h1>{text}<table><tr>{heads}</tr><tr>{cells}</tr></table>"
        f"<pre><code>{code}</code></pre></body></html>"
    )


def write_ipynb(path: Path, words: list[str]) -> None:
    text = {"cell_type": "markdown", "metadata": {}, "source": [f"About the {word}.\n" for word in words]}
    lines = [f"keep_{word} = 1\n" for word in words]
    code = {"cell_type": "code", "metadata": {}, "source": lines, "outputs": [], "execution_count": 1}
    path.write_text(json.dumps({"cells": [text, code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


WRITERS: Mapping[str, Writer] = {
    ".pdf": write_pdf,
    ".docx": write_docx,
    ".pptx": write_pptx,
    ".xlsx": write_xlsx,
    ".epub": write_epub,
    ".html": write_html,
    ".ipynb": write_ipynb,
}
