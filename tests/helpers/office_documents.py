"""Documents written by LibreOffice, pandoc and reportlab: prose, a table and code, with words of the caller's choice.

Invariant: each document of ``written`` has its word in prose, ``WORDcell`` in a table and ``keep_WORD`` in code.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.packages import require

require("reportlab")

_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{place}:1.0"'
    for name, place in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "svg": "svg-compatible", "fo": "xsl-fo-compatible", "presentation": "presentation",
    }.items()
)  # fmt: skip
_FLAT = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document {spaces} office:version="1.3"'
    ' office:mimetype="application/vnd.oasis.opendocument.{kind}"><office:body><office:{kind}>{body}'
    "</office:{kind}></office:body></office:document>"
)
_MARKDOWN = """---
title: About the {word}
---

# The {word}

Prose about the {word}.

| animal | count |
|--------|-------|
| {word}cell | 3 |

```python
keep_{word} = 1
```
"""


class Written(NamedTuple):
    """``writer`` and ``suffix`` of a document with ``word``; its name is made of all three."""

    writer: str
    suffix: str
    word: str

    @property
    def name(self) -> str:
        return f"{self.writer}-{self.word}{self.suffix}"


def _flat(kind: str, body: str) -> str:
    return _FLAT.format(spaces=_SPACES, kind=kind, body=body)


def _table(word: str) -> str:
    cells = [["animal", "count", "code"], [f"{word}cell", "3", f"keep_{word} = 1"]]
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in row
        )
        + "</table:table-row>"
        for row in cells
    )
    columns = f'<table:table-column table:number-columns-repeated="{len(cells[0])}"/>'
    return f'<table:table table:name="Sheet1">{columns}{rows}</table:table>'


def _text(word: str) -> str:
    return _flat(
        "text",
        f'<text:h text:outline-level="1">The {word}</text:h><text:p>Prose about the {word}.</text:p>{_table(word)}'
        f"<text:p>keep_{word} = 1</text:p>",
    )


def _sheet(word: str) -> str:
    return _flat("spreadsheet", _table(word).replace("animal", f"about {word}"))


def _slides(word: str) -> str:
    pages = (f"About the {word}", f"{word}cell", f"keep_{word} = 1")
    return _flat(
        "presentation",
        "".join(
            f'<draw:page draw:name="page{number}">'
            '<draw:frame svg:width="20cm" svg:height="4cm" svg:x="2cm" svg:y="2cm">'
            f"<draw:text-box><text:p>{line}</text:p></draw:text-box></draw:frame></draw:page>"
            for number, line in enumerate(pages)
        ),
    )


# The form in which LibreOffice gets each kind of document, and what makes it.
_OFFICE: dict[str, tuple[str, Callable[[str], str]]] = {
    ".pdf": (".fodt", _text),
    ".docx": (".fodt", _text),
    ".epub": (".fodt", _text),
    ".xlsx": (".fods", _sheet),
    ".xls": (".fods", _sheet),
    ".pptx": (".fodp", _slides),
}


def by_libreoffice(folder: Path, scratch: Path, suffix: str, words: Sequence[str]) -> Iterator[Written]:
    """Write a document for each word, all with one start of LibreOffice."""
    form, make = _OFFICE[suffix]
    drafts = scratch / f"drafts{suffix}"
    drafts.mkdir()
    made = [Written("libreoffice", suffix, word) for word in words]
    sources = [drafts / each.name.replace(suffix, form) for each in made]
    for source, each in zip(sources, made, strict=True):
        source.write_text(make(each.word))
    profile = f"-env:UserInstallation={(scratch / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", suffix[1:], "--outdir", str(drafts / "out")]
    subprocess.run([*command, *map(str, sources)], check=True, capture_output=True, timeout=300)
    for each in made:
        (drafts / "out" / each.name).rename(folder / each.name)
    yield from made


def by_pandoc(folder: Path, suffix: str, words: Sequence[str]) -> Iterator[Written]:
    for word in words:
        each = Written("pandoc", suffix, word)
        command = ["pandoc", "-f", "markdown", "-o", str(folder / each.name)]
        subprocess.run(command, input=_MARKDOWN.format(word=word).encode(), check=True, timeout=60)
        yield each


def by_reportlab(folder: Path, words: Sequence[str]) -> Iterator[Written]:
    from reportlab import platypus
    from reportlab.lib import styles

    sheet = styles.getSampleStyleSheet()
    for word in words:
        each = Written("reportlab", ".pdf", word)
        platypus.SimpleDocTemplate(str(folder / each.name)).build([
            platypus.Paragraph(f"Prose about the {word}.", sheet["Normal"]),
            platypus.Table([["animal", "count"], [f"{word}cell", "3"]]),
            platypus.PageBreak(),
            platypus.Preformatted(f"keep_{word} = 1", sheet["Code"]),
        ])  # fmt: skip
        yield each
