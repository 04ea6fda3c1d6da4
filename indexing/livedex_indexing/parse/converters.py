"""The built-in parsers: a document's file in, Markdown and the beginnings of its pages out.

Invariant: what goes wrong with a document is a ``Refused`` that quotes nothing of it. Runs in the child only.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from importlib import import_module
from itertools import accumulate
from typing import Any, Final, NamedTuple

from livedex_indexing.child.lazy_modules import defer
from livedex_indexing.parse.docx_margins import with_margins
from livedex_indexing.parse.notebooks import notebook_text
from livedex_indexing.parse.parsers import MARKITDOWN, PDFIUM
from livedex_indexing.parse.spreadsheets import xls_text, xlsx_text
from livedex_indexing.text import decoder

UNPACKED_BYTES: Final = 200 << 20  # of an archive
_HYPHEN: Final = re.compile("[\x02\ufffe\xad]\r?\n?")  # at the end of a line, inside a word
_SLIDE: Final = re.compile(r"^<!-- Slide number: \d+ -->$", re.MULTILINE)
_CONVERTERS: Final = {
    ".docx": "DocxConverter",
    ".pptx": "PptxConverter",
    ".pdf": "PdfConverter",
    ".epub": "EpubConverter",
}
_LIBRARIES: Final = {".docx": "mammoth", ".pptx": "pptx"}
_PAGES: Final = frozenset((".html", ".htm", ".xhtml"))
_WORKBOOKS: Final = {".xlsx": ("openpyxl", xlsx_text), ".xls": ("xlrd", xls_text)}
_AS_TYPED: Final = {  # else `a_b` becomes `a\\_b`, and a word that is bold in part two words
    "escape_underscores": False,
    "escape_asterisks": False,
    "strip": ["b", "strong", "i", "em"],
}
_HEAD_BYTES: Final = 4096
_CHARSET: Final = re.compile(
    rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_MEANT: Final = {  # the WHATWG's names: what pages call so is a superset
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}


class Refused(Exception):
    """The document cannot be converted; the message says why, in words of our own or as the name of an error."""


class Markdown(NamedTuple):
    """``pages``: the offset at which each page begins, in characters; empty where the format has no pages."""

    text: str
    pages: list[int]


Convert = Callable[[str], Markdown]


def converter(parser: str, suffix: str) -> Convert:
    """Load a built-in parser, and return it as a function of the document's path. Raises ImportError."""
    if parser == PDFIUM:
        return _pdfium()
    if parser == MARKITDOWN:
        return _markitdown(suffix)
    raise ImportError(parser)


def cleaned(text: str) -> str:
    """Return the text as it is stored: lines end in LF, no NUL, nothing that UTF-8 cannot say."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return text.encode("utf-8", "replace").decode("utf-8")


def _pdfium() -> Convert:
    import pypdfium2

    def convert(path: str) -> Markdown:
        try:
            document = pypdfium2.PdfDocument(path)
            texts = [_page_text(document, number) for number in range(len(document))]
        except pypdfium2.PdfiumError as error:
            raise Refused(_pdf_reason(str(error))) from None
        pages = [cleaned(_HYPHEN.sub("", text)).strip("\n") + "\n\n" for text in texts]
        return Markdown("".join(pages), [0, *accumulate(len(page) for page in pages[:-1])] if pages else [])

    return convert


def _page_text(document: Any, number: int) -> str:
    page = document[number]
    found = page.get_textpage()
    text: str = found.get_text_bounded()
    found.close()
    page.close()
    return text


def _pdf_reason(message: str) -> str:
    if "assword" in message:
        return "the document is encrypted"
    cause = message.rsplit("(", maxsplit=1)[-1].rstrip(").")
    return "damaged" if cause.endswith("Success") else f"damaged ({cause})"


def _markitdown(suffix: str) -> Convert:
    made = _own(suffix) or _markitdowns(suffix)

    def convert(path: str) -> Markdown:
        with open(path, "rb") as file:
            data = file.read()
        _refuse_bomb(data)
        try:
            text = made(data)
        except MemoryError:
            raise
        except RecursionError:
            raise Refused("nested too deeply") from None
        except Exception as error:
            raise Refused(_reason(error, data)) from None
        text = cleaned(text.replace("\xad", ""))  # a word may be cut there, and is none
        return Markdown(text, [found.start() for found in _SLIDE.finditer(text)] if suffix == ".pptx" else [])

    return convert


def _own(suffix: str) -> Callable[[bytes], str] | None:
    """Return what reads the formats of which markitdown loses text, or takes too long; None for the others."""
    if suffix == ".ipynb":
        return lambda data: notebook_text(decoder.decode(data).text)
    if suffix in _PAGES:
        from livedex_indexing.parse.pages import page_text

        return lambda data: page_text(decoder.decode(data, _declared(data)).text)
    if suffix in _WORKBOOKS:
        library, read = _WORKBOOKS[suffix]
        import_module(library)
        return read
    return None


def _markitdowns(suffix: str) -> Callable[[bytes], str]:
    # What other formats need, what guesses formats and what loads pages: most of the time that an import takes.
    for unused in {"magika", "requests", "pandas", *_LIBRARIES.values()} - {_LIBRARIES.get(suffix)}:
        defer(unused, annotations=("Magika", "Response", "Session"))
    import markitdown
    from markitdown import converters

    made = getattr(converters, _CONVERTERS[suffix])()
    info = markitdown.StreamInfo(extension=suffix)

    def convert(data: bytes) -> str:
        text = str(made.convert(io.BytesIO(data), info, **_AS_TYPED).markdown)
        return with_margins(text, data) if suffix == ".docx" else text

    return convert


def _declared(page: bytes) -> str:
    """Return the encoding that a page names at its beginning, as browsers read the name; "" without one."""
    found = _CHARSET.search(page[:_HEAD_BYTES])
    name = decoder.codec_name((found[1] or found[2]).decode("ascii")) if found else None
    return _MEANT.get(name, name) if name else ""


def _reason(error: BaseException, data: bytes) -> str:
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return "the document is encrypted, or of an older format"
    cause = error.__cause__ or error
    kind = type(cause)
    return f"damaged ({kind.__name__ if kind.__name__ != 'error' else f'{kind.__module__}.error'})"


def _refuse_bomb(data: bytes) -> None:
    if not data.startswith(b"PK"):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise Refused("damaged (BadZipFile)") from None
    if any(member.flag_bits & 1 for member in members):
        raise Refused("the document is encrypted")
    if sum(member.file_size for member in members) > UNPACKED_BYTES:
        raise Refused(f"too large: it unpacks to more than {UNPACKED_BYTES >> 20} MiB")
