"""The lines of a PDF page in reading order, from the boxes in which its text is set.

PDF knows no columns, tables or paragraphs; they are told from white space. A *row* is what stands on one
height; its *cells* are set apart by gaps wider than the letters are high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from substrate.documents.blocks import Block
from substrate.documents.parsing.tables import looks_like_header, table_block
from substrate.documents.parsing.text import LIST_MARK, one_line, unwrap

_COLUMN_ROWS = 4
_COLUMN_CHARS = 18
_SOFT_HYPHENS = "\x02\xad\ufffe"
_ENDS_SENTENCE = re.compile(r"[.!?。！？:：][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class Cell:
    """A run of text and its box in points, y upwards; ``size`` is the height of its letters' line."""

    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    text: str


Row = tuple[Cell, ...]


def rows_of(cells: Sequence[Cell]) -> list[Row]:
    """Rows from top to bottom, each from left to right, runs of one phrase joined."""
    grouped: list[list[Cell]] = []
    for cell in sorted(cells, key=lambda cell: (-(cell.y0 + cell.y1), cell.x0)):
        middle = (cell.y0 + cell.y1) / 2
        if grouped and grouped[-1][0].y0 <= middle <= grouped[-1][0].y1:
            grouped[-1].append(cell)
        else:
            grouped.append([cell])
    return [_joined(sorted(group, key=lambda cell: cell.x0)) for group in grouped]


def _joined(cells: list[Cell]) -> Row:
    kept = cells[:1]
    for cell in cells[1:]:
        last = kept[-1]
        gap = cell.x0 - last.x1
        if gap > max(last.size, cell.size):
            kept.append(cell)
            continue
        space = "" if gap < 0.1 * cell.size or last.text.endswith(" ") else " "
        kept[-1] = replace(
            last,
            x1=max(last.x1, cell.x1),
            y0=min(last.y0, cell.y0),
            y1=max(last.y1, cell.y1),
            size=max(last.size, cell.size),
            text=last.text + space + cell.text,
        )
    return tuple(kept)


def in_reading_order(rows: list[Row], depth: int = 0) -> list[list[Row]]:
    """Runs of rows to be read one after the other: columns of prose are read down, not across."""
    gutter = _gutter(rows) if depth < 3 else None
    if gutter is None:
        return [rows] if rows else []
    runs: list[list[Row]] = []
    band: list[Row] = []
    tabular = _in_tables(rows)
    for index, row in enumerate([*rows, ()]):
        across = index in tabular or any(cell.x0 < gutter < cell.x1 for cell in row)
        if row and not across:
            band.append(row)
            continue
        left = [part for r in band if (part := tuple(cell for cell in r if cell.x1 <= gutter))]
        right = [part for r in band if (part := tuple(cell for cell in r if cell.x0 >= gutter))]
        runs += [*in_reading_order(left, depth + 1), *in_reading_order(right, depth + 1)]
        if row and runs and not band:
            runs[-1].append(row)
        elif row:
            runs.append([row])
        band = []
    return runs


def _in_tables(rows: list[Row]) -> set[int]:
    """Rows that stand in a table of short cells, which is read across."""
    found: set[int] = set()
    for index in range(len(rows)):
        length = 0 if index in found else _table_length(rows, index)
        cells = [cell for row in rows[index : index + length] for cell in row]
        if cells and sum(len(cell.text) for cell in cells) < _COLUMN_CHARS * len(cells):
            found.update(range(index, index + length))
    return found


def _gutter(rows: list[Row]) -> float | None:
    """An x that lies in the gap of many rows with prose on both sides; short cells are a table's."""
    gaps = [
        (left.x1, right.x0)
        for row in rows
        for left, right in pairwise(row)
        if min(len(left.text), len(right.text)) >= _COLUMN_CHARS
    ]
    if len(gaps) < _COLUMN_ROWS:
        return None
    edges = sorted([(start, 1) for start, _ in gaps] + [(end, -1) for _, end in gaps])
    best, open_gaps, at = 0, 0, 0.0
    for (x, step), (following, _) in pairwise(edges):
        open_gaps += step
        if open_gaps > best:
            best, at = open_gaps, (x + following) / 2
    return at if best >= _COLUMN_ROWS else None


def blocks_of(run: list[Row], body: float, levels: Sequence[float], page: int) -> Iterator[Block]:
    """Tables, headings and paragraphs of one run of rows. ``body`` is the size of running text in points;
    ``levels`` are the larger sizes, largest first."""
    anchor: dict[str, object] = {"page": page}
    lines, index = list[Cell](), 0
    while index < len(run):
        length = _table_length(run, index)
        if length:
            yield from _paragraphs(lines, body, levels, page)
            lines = []
            yield _table(run[index : index + length], anchor)
            index += length
        else:
            row = run[index]
            text = " ".join(one_line_keeping_hyphen(cell.text) for cell in row)
            lines.append(replace(row[0], x1=row[-1].x1, text=text))
            index += 1
    yield from _paragraphs(lines, body, levels, page)


def one_line_keeping_hyphen(text: str) -> str:
    """White space collapsed; a mark of hyphenation at the end survives as a soft hyphen."""
    ended = text.rstrip()
    return one_line(text.rstrip(_SOFT_HYPHENS + " \r\n")) + ("\xad" if ended[-1:] in _SOFT_HYPHENS and ended else "")


def _table_length(run: list[Row], start: int) -> int:
    """How many rows from here stand in the same columns: two of three or more cells, or three of two."""
    width = len(run[start])
    if width < 2:
        return 0
    spans = [(cell.x0, cell.x1) for cell in run[start]]
    length = 1
    for above, row in pairwise(run[start:]):
        near = min(c.y0 for c in above) - max(c.y1 for c in row) < 2.5 * row[0].size
        places = _places(row, spans)
        if not near or places is None or len(row) < 2:
            break
        for place, cell in zip(places, row, strict=True):
            spans[place] = (min(spans[place][0], cell.x0), max(spans[place][1], cell.x1))
        length += 1
    return length if length >= (2 if width > 2 else 3) else 0


def _places(row: Row, spans: Sequence[tuple[float, float]]) -> list[int] | None:
    """The column each cell stands in, if each stands in just one of its own."""
    places = []
    for cell in row:
        hit = [i for i, (x0, x1) in enumerate(spans) if cell.x0 < x1 and cell.x1 > x0]
        if len(hit) != 1 or hit[0] in places:
            return None
        places.append(hit[0])
    return places


def _table(run: list[Row], anchor: dict[str, object]) -> Block:
    spans = [(cell.x0, cell.x1) for cell in run[0]]
    rows = []
    for row in run:
        cells = [""] * len(spans)
        for place, cell in zip(_places(row, spans) or (), row, strict=True):
            cells[place] = one_line(cell.text)
            spans[place] = (min(spans[place][0], cell.x0), max(spans[place][1], cell.x1))
        rows.append(tuple(cells))
    heads = int(looks_like_header(rows[0], rows[1:]))
    return table_block(rows[0] if heads else (), rows[heads:], {**anchor, "row": heads + 1})


def _paragraphs(lines: list[Cell], body: float, levels: Sequence[float], page: int) -> Iterator[Block]:
    if not lines:
        return
    steps = [above.y0 - below.y0 for above, below in pairwise(lines) if above.y0 > below.y0]
    usual = median(steps) if steps else 0.0
    right = max(line.x1 for line in lines)
    group = lines[:1]
    for above, line in pairwise(lines):
        if _parts(above, line, min(usual, 1.6 * body), right):
            yield _running(group, body, levels, page)
            group = []
        group.append(line)
    yield _running(group, body, levels, page)


def _parts(above: Cell, line: Cell, usual: float, right: float) -> bool:
    """Whether a new paragraph begins: a wider step, another size, a list mark, or an early end."""
    early = above.x1 < right - 0.2 * (right - above.x0) and bool(_ENDS_SENTENCE.search(above.text))
    return (
        above.y0 - line.y0 > 1.35 * usual
        or above.y0 < line.y0
        or abs(above.size - line.size) > 0.1 * above.size
        or bool(LIST_MARK.match(line.text))
        or early
    )


def _running(group: list[Cell], body: float, levels: Sequence[float], page: int) -> Block:
    anchor = {"page": page}
    text = _unhyphenated(group)
    size = group[0].size
    if size > 1.12 * body and len(text) <= 160 and not text.endswith((".", "。")):
        level = 1 + next((i for i, big in enumerate(levels) if size >= big * 0.97), len(levels))
        return Block("heading", one_line(text), level=min(level, 6), anchor=anchor)
    return Block("list_item" if LIST_MARK.match(text) else "paragraph", text, anchor=anchor)


def _unhyphenated(group: list[Cell]) -> str:
    """Lines joined; a word divided at a line's end is made whole."""
    lines: list[str] = []
    for cell in group:
        if lines and lines[-1].endswith("\xad"):
            lines[-1] = lines[-1][:-1] + cell.text
        elif lines and re.search(r"\w-$", lines[-1]) and cell.text[:1].islower():
            lines[-1] = lines[-1] + cell.text
        else:
            lines.append(cell.text)
    return unwrap([line.rstrip("\xad") for line in lines])
