"""PDF by PDFium: text with its boxes, page by page; the order of reading is found in `layout`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

from substrate.documents.blocks import Block
from substrate.documents.parsing.layout import Cell, Row, blocks_of, in_reading_order, rows_of
from substrate.documents.parsing.limits import Limits, reject
from substrate.documents.parsing.text import one_line

_TAIL = 1 << 16
_PASSWORD, _SECURITY = 4, 5
_EDGE_ROWS = 2


def read_pdf(content: bytes, filename: str, limits: Limits) -> Iterator[Block]:
    """Blocks anchored by page, from 1. Refuses passwords, damage, too many pages, mere scans."""
    import pypdfium2

    if b"%%EOF" not in content[-_TAIL:]:
        reject(filename, "truncated", "the PDF ends early; copy or download it again")
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        _refuse(filename, getattr(error, "err_code", None), str(error))
    try:
        count = len(document)
        if count > limits.pdf_pages:
            reject(filename, "too_large", f"has {count} pages; at most {limits.pdf_pages} are read, split it")
        pages = [rows_of(_cells(document, index, filename)) for index in range(count)]
    finally:
        document.close()
    if not any(pages):
        reject(filename, "no_text", "holds no text, only pictures of pages; run text recognition (OCR) first")
    pages = _without_furniture(pages)
    yield from _blocks(pages)


def _refuse(filename: str, code: int | None, why: str) -> NoReturn:
    if code in (_PASSWORD, _SECURITY):
        reject(filename, "encrypted", "is protected by a password; remove the password and send it again")
    reject(filename, "truncated", f"the PDF is damaged ({why}); copy or download it again")


def _cells(document: Any, index: int, filename: str) -> list[Cell]:
    """Runs of text with boxes; where boxes miss some of the text, PDFium's own lines in its own order."""
    import pypdfium2

    try:
        page = document[index]
        text = page.get_textpage()
    except pypdfium2.PdfiumError:
        reject(filename, "truncated", f"page {index + 1} cannot be read; copy or download the PDF again")
    cells = [cell for i in range(text.count_rects()) if (cell := _cell(text, text.get_rect(i))) is not None]
    whole = text.get_text_range() if text.count_chars() > 0 else ""
    page.close()
    if sum(len(_bare(cell.text)) for cell in cells) == len(_bare(whole)):
        return cells
    lines = [line for line in whole.split("\n") if line.strip()]
    return [Cell(0.0, -12.0 * n, 500.0, 10.0 - 12.0 * n, 10.0, line) for n, line in enumerate(lines)]


def _bare(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\xad\ufffe\uffff-]+", "", text)


def _cell(text: Any, box: tuple[float, float, float, float]) -> Cell | None:
    words = text.get_text_bounded(*box)
    if not words.strip():
        return None
    left, bottom, right, top = box
    at = text.get_index(left + 0.5, (bottom + top) / 2, 2.0, 2.0)
    size = top - bottom
    if at is not None:
        loose = text.get_charbox(at, loose=True)
        size = max(loose[3] - loose[1], 1.0)
    return Cell(left, bottom, right, top, round(size, 1), words)


def _without_furniture(pages: list[list[Row]]) -> list[list[Row]]:
    """Running heads and feet are kept where they first stand; page numbers alone are dropped."""
    keys = [{_key(row) for row in _edges(rows)} for rows in pages]
    often = Counter(key for page in keys for key in page)
    running = {key for key, n in often.items() if n >= 3 and n >= 0.5 * len(pages)}
    seen: set[str] = {key for key in running if not re.search(r"[^\W\d]{3}", key)}
    kept = []
    for rows in pages:
        edge = {id(row) for row in _edges(rows)}
        kept.append([row for row in rows if id(row) not in edge or _key(row) not in running & seen])
        seen |= {_key(row) for row in _edges(rows)} & running
    return kept


def _edges(rows: list[Row]) -> list[Row]:
    return rows if len(rows) <= 2 * _EDGE_ROWS else rows[:_EDGE_ROWS] + rows[-_EDGE_ROWS:]


def _key(row: Row) -> str:
    return re.sub(r"\d+", "#", one_line(" ".join(cell.text for cell in row)))


def _blocks(pages: list[list[Row]]) -> Iterator[Block]:
    sizes: Counter[float] = Counter()
    for rows in pages:
        for row in rows:
            for cell in row:
                sizes[cell.size] += len(cell.text)
    body = sizes.most_common(1)[0][0] if sizes else 10.0
    levels: list[float] = []
    for size in sorted(sizes, reverse=True):
        if size > 1.12 * body and (not levels or size < 0.97 * levels[-1]):
            levels.append(size)
    for number, rows in enumerate(pages, start=1):
        for run in in_reading_order(rows):
            yield from blocks_of(run, body, levels, number)
