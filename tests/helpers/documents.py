"""Documents made by real writers, each with words of the caller's choice in prose, a table and code where it can."""

from __future__ import annotations

import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from helpers.packages import require

require("docx", "openpyxl", "pptx", "reportlab", "markitdown", "pypdfium2", "ebooklib")

Writer = Callable[[Path, list[str]], None]


def write_pdf(path: Path, words: list[str]) -> None:
    """One page for each word."""
    from reportlab.pdfgen import canvas

    made = canvas.Canvas(str(path))
    for word in words:
        made.drawString(72, 700, f"This page is about the {word}.")
        made.showPage()
    made.save()


def write_locked_pdf(path: Path, words: list[str]) -> None:
    from reportlab.pdfgen import canvas

    made = canvas.Canvas(str(path), encrypt="secret")
    made.drawString(72, 700, " ".join(words))
    made.save()


def write_docx(path: Path, words: list[str]) -> None:
    import docx

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
    import pptx

    made = pptx.Presentation()
    for word in words:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = f"About the {word}"
        slide.placeholders[1].text = f"The {word} lives in the hills."
    made.save(str(path))


def write_xlsx(path: Path, words: list[str]) -> None:
    import openpyxl

    made = openpyxl.Workbook()
    made.active.append(["animal", "count"])
    for count, word in enumerate(words):
        made.active.append([word, count])
    made.save(str(path))


def write_epub(path: Path, words: list[str]) -> None:
    from ebooklib import epub

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


def mutant(whole: bytes, chance: random.Random) -> bytes:
    """Return a document with some bytes changed, cut short, or, mostly, with a member changed that is packed again: its
    checksum is right, so that the change comes as far as the parser."""
    if whole.startswith(b"PK") and chance.random() < 0.7:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice([name for name, data in members.items() if len(data) > 1])
        members[name] = _changed(members[name], chance)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for each, data in members.items():
                archive.writestr(each, data)
        return made.getvalue()
    changed = _changed(whole, chance)
    return changed[: chance.randrange(len(changed) // 2, len(changed))] if chance.random() < 0.3 else changed


def _changed(data: bytes, chance: random.Random) -> bytes:
    """Change up to eight bytes, or take out, double or move a piece."""
    changed = bytearray(data)
    if chance.random() < 0.5:
        for _ in range(1 + chance.randrange(8)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed)
    start, end = sorted((chance.randrange(len(changed)), chance.randrange(len(changed))))
    piece = changed[start:end]
    if chance.random() < 0.6:
        del changed[start:end]
    at = chance.randrange(len(changed) + 1)
    changed[at:at] = piece * chance.choice((0, 1, 2, 50))
    return bytes(changed)


def write_entity_bomb(path: Path, suffix: str) -> None:
    """Write a document whose main part says 10⁹ times a word, in a few lines of XML."""
    part = {".docx": "word/document.xml", ".pptx": "ppt/slides/slide1.xml", ".xlsx": "xl/worksheets/sheet1.xml"}
    WRITERS[suffix](path, ["okapi"])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = part.get(suffix, "EPUB/one.xhtml")
    _head, _, rest = (
        members[name].decode().rpartition("?>")
        if members[name].startswith(b"<?xml")
        else ("", "", members[name].decode())
    )
    levels = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
    root = re.search(r"<(\w+(?::\w+)?)", rest.split("<!DOCTYPE html>")[-1])
    assert root is not None and "okapi" in rest, name
    doctype = f'<!DOCTYPE {root[1]} [<!ENTITY l0 "gnu ">{levels}]>'
    body = rest.split("<!DOCTYPE html>")[-1].replace("okapi", "&l9;", 1)
    members[name] = f'<?xml version="1.0" encoding="UTF-8"?>{doctype}{body}'.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, data in members.items():
            archive.writestr(each, data)


def write_bomb(path: Path, megabytes: int = 220, *, says: int | None = None) -> None:
    """Write an archive that unpacks to so many MiB; ``says``: the size that its directory claims, in bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb, bomb.open("word/document.xml", "w") as member:
        for _ in range(megabytes):
            member.write(bytes(1 << 20))
    if says is not None:
        data = path.read_bytes().replace(struct.pack("<I", megabytes << 20), struct.pack("<I", says))
        path.write_bytes(data)


WRITERS: Mapping[str, Writer] = {
    ".pdf": write_pdf,
    ".docx": write_docx,
    ".pptx": write_pptx,
    ".xlsx": write_xlsx,
    ".epub": write_epub,
    ".html": write_html,
    ".ipynb": write_ipynb,
}
