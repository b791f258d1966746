"""Spreadsheets: each sheet a heading, each run of rows a table; values as the sheet shows them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from substrate.documents.blocks import Block
from substrate.documents.parsing.limits import Limits, reject
from substrate.documents.parsing.tables import grid_blocks

_CURRENCY = re.compile(r"\[\$([^-\]]+)|([$€£¥])")
_CLOCK = re.compile(r"[hs]", re.IGNORECASE)
_LITERAL = re.compile(r"\[(?!\$)[^\]]*\]|\\.|_.|\*.")
Cells = tuple[int, list[str]]


def show(value: Any, number_format: str = "") -> str:
    """A cell's value as its number format shows it: dates ISO, per cent and currency signs kept."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        no_clock = value.time() == time() and not _CLOCK.search(_LITERAL.sub("", number_format))
        return value.date().isoformat() if no_clock else value.isoformat(" ", "seconds")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, (int, float)):
        return _number(value, number_format.split(";")[0])
    return str(value)


def _number(value: float, number_format: str) -> str:
    percent = "%" in number_format
    digits = f"{value * 100 if percent else value:.15g}"
    if "e" in digits:
        digits = repr(value)
    if percent:
        return digits + "%"
    sign = _CURRENCY.search(number_format)
    return (sign[1] or sign[2]).strip() + digits if sign else digits


def _sheet(title: str, rows: Iterable[Cells], filename: str, limits: Limits) -> Iterator[Block]:
    blocks = list(grid_blocks(_counted(rows, filename, limits), {"sheet": title}))
    if blocks:
        yield Block("heading", title, level=1, anchor={"sheet": title})
        yield from blocks


def _counted(rows: Iterable[Cells], filename: str, limits: Limits) -> Iterator[Cells]:
    cells = 0
    for number, row in rows:
        cells += len(row) + 1
        if cells > limits.table_cells:
            reject(filename, "too_large", f"a sheet has over {limits.table_cells} cells; split the file")
        yield number, row


def read_xlsx(content: bytes, filename: str, limits: Limits) -> Iterator[Block]:
    """Office Open XML workbooks, streamed row by row; formulas show their last stored result."""
    import openpyxl

    book = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        # The stated dimension is often wrong, and rows past it would be lost.
        sheet.reset_dimensions()
        rows = (
            (
                number,
                [show(cell.value, str(cell.number_format or "")) if cell.value is not None else "" for cell in row],
            )
            for number, row in enumerate(sheet.iter_rows(), start=1)
        )
        yield from _sheet(sheet.title, rows, filename, limits)


def read_xls(content: bytes, filename: str, limits: Limits) -> Iterator[Block]:
    """Workbooks of Excel 97 to 2003."""
    import xlrd

    try:
        book = xlrd.open_workbook(file_contents=content, logfile=BytesIO(), formatting_info=True, on_demand=True)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            reject(filename, "encrypted", "is protected by a password; remove the password and send it again")
        reject(filename, "truncated", f"is not a whole XLS file ({error}); copy or download it again")
    for sheet in book.sheets():
        rows = ((y + 1, _xls_row(book, sheet, y)) for y in range(sheet.nrows))
        yield from _sheet(sheet.name, rows, filename, limits)


def _xls_row(book: Any, sheet: Any, y: int) -> list[str]:
    import xlrd

    shown = []
    for cell in sheet.row(y):
        style = book.format_map.get(book.xf_list[cell.xf_index].format_key) if cell.xf_index is not None else None
        pattern = style.format_str if style is not None else ""
        if cell.ctype == xlrd.XL_CELL_DATE:
            shown.append(show(xlrd.xldate_as_datetime(cell.value, book.datemode), pattern))
        elif cell.ctype == xlrd.XL_CELL_BOOLEAN:
            shown.append(show(bool(cell.value)))
        elif cell.ctype == xlrd.XL_CELL_ERROR:
            shown.append(xlrd.error_text_from_code.get(cell.value, "#ERR"))
        else:
            shown.append(show(cell.value, pattern) if cell.ctype != xlrd.XL_CELL_EMPTY else "")
    return shown


_WIDEST = 16_384
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def read_ods(content: bytes, filename: str, limits: Limits) -> Iterator[Block]:
    """OpenDocument spreadsheets: the text that each cell shows."""
    from lxml import etree

    with zipfile.ZipFile(BytesIO(content)) as archive:
        if b"encryption-data" in archive.read("META-INF/manifest.xml"):
            reject(filename, "encrypted", "is protected by a password; remove the password and send it again")
        source = archive.read("content.xml")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    for sheet in etree.fromstring(source, parser).iter(f"{_TABLE}table"):
        yield from _sheet(sheet.get(f"{_TABLE}name") or "", _ods_rows(sheet), filename, limits)


def _ods_rows(sheet: Any) -> Iterator[Cells]:
    number = 1
    for row in sheet.iter(f"{_TABLE}table-row"):
        repeated = int(row.get(f"{_TABLE}number-rows-repeated") or 1)
        cells: list[str] = []
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            words = " ".join("".join(line.itertext()) for line in cell.iterchildren(f"{_TEXT}p"))
            times = int(cell.get(f"{_TABLE}number-columns-repeated") or 1)
            cells.extend([words] * min(times, _WIDEST))
        if any(cells):
            yield from ((number + offset, cells) for offset in range(repeated))
        number += repeated
