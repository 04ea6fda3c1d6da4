"""Workbooks to Markdown: a heading for each sheet, and its cells as a table.

Invariant: a cell has the text that it was given, or the digits that its number has; an empty one has none. Runs in the
child only.
"""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Final

DIGITS: Final = 15  # of a number, as spreadsheets show at most: what comes after them is no part of what was typed

Row = list[str]


def xlsx_text(data: bytes) -> str:
    """Return a workbook of Excel 2007 or later as Markdown. Raises what openpyxl raises."""
    try:
        return _xlsx_text(data)
    except TypeError as error:
        if "showZeroes" not in str(error):
            raise
        return _xlsx_text(_with_its_proper_name(data))


def _xlsx_text(data: bytes) -> str:
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    sheets: list[str] = []
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # those of the file may be wrong
        rows = ([_shown(value) for value in row] for row in sheet.iter_rows(values_only=True))
        sheets.append(_sheet(sheet.title, rows))
    return "\n".join(sheets)


def _with_its_proper_name(data: bytes) -> bytes:
    """Return a workbook with the attribute ``showZeros`` as the standard spells it; some programs do not."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            is_sheet = name.startswith("xl/worksheets/")
            part = source.read(name)
            target.writestr(name, part.replace(b" showZeroes=", b" showZeros=") if is_sheet else part)
    return made.getvalue()


def xls_text(data: bytes) -> str:
    """Return a workbook of an older Excel as Markdown. Raises what xlrd raises."""
    import xlrd

    book = xlrd.open_workbook(file_contents=data)

    def cell(kind: int, value: object) -> str:
        if kind == xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(value, ""))
        if kind == xlrd.XL_CELL_BOOLEAN:
            return _shown(bool(value))
        if kind == xlrd.XL_CELL_DATE:
            try:
                return _shown(xlrd.xldate_as_datetime(value, book.datemode))
            except (ValueError, OverflowError):  # no day that a calendar has
                return _shown(value)
        return _shown(value)

    sheets: list[str] = []
    for sheet in book.sheets():
        kinds_and_values = ((sheet.row_types(row), sheet.row_values(row)) for row in range(sheet.nrows))
        rows = ([cell(*each) for each in zip(*row, strict=True)] for row in kinds_and_values)
        sheets.append(_sheet(sheet.name, rows))
    return "\n".join(sheets)


def _sheet(name: str, rows: Iterable[Row]) -> str:
    """Return a sheet; its first row that is not empty is the head of the table."""
    filled = list(_filled(rows))
    if not filled:
        return f"## {name}\n"
    width = max(len(row) for row in filled)
    head = filled[0] + [""] * (width - len(filled[0]))
    lines = [_line(head), _line(["---"] * width), *map(_line, filled[1:])]
    return f"## {name}\n" + "\n".join(lines) + "\n"


def _filled(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows with text, each up to its last cell with text."""
    for row in rows:
        end = next((end for end in range(len(row), 0, -1) if row[end - 1]), 0)
        if end:
            yield row[:end]


def _line(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(value: object) -> str:
    """Return a cell's value in one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 10**DIGITS else f"{value:.{DIGITS}g}"
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time.min else value)
    return " ".join(str(value).split())
