"""Cells to table blocks: which row is the header, what is a caption, where one table ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from substrate.documents.blocks import Block
from substrate.documents.parsing.text import one_line

Row = tuple[str, ...]
_FIGURE = re.compile(r"[-+(]?[$€£¥￥]?\s?[-+]?\d[\d,. '’]*\s?[%)]?$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b.*$")
_CAPTION = re.compile(r"(?:table|tab\.|表)\s*\d+", re.IGNORECASE)
_CAPTION_BYTES = 200


def table_block(
    header: Sequence[str], rows: Iterable[Sequence[str]], anchor: Mapping[str, object], caption: str = ""
) -> Block:
    """A table block; ``anchor`` says where the first of ``rows`` lies. The header is not among ``rows``."""
    head, body = tuple(header), tuple(tuple(row) for row in rows)
    shown = [head, *body] if head else list(body)
    text = "\n".join(" | ".join(row) for row in shown)
    return Block("table", text, rows=body, header=head, caption=caption, anchor=anchor)


def looks_like_header(row: Row, below: Sequence[Row]) -> bool:
    """Whether a first row names columns: words only, none twice, at most the corner cell blank."""
    named = [cell for cell in row if cell]
    return (
        bool(below)
        and len(row) > 1
        and len(named) >= len(row) - 1
        and len(set(named)) == len(named)
        and not any(_FIGURE.match(cell) for cell in named)
    )


def regions(numbered: Iterable[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, list[Row]]]:
    """Runs of rows without a blank row between: (number of the first row, rows), cells on one line each."""
    start, run = 0, list[Row]()
    for number, cells in numbered:
        row = tuple(one_line(cell) for cell in cells)
        gap = not any(row) or (run and number != start + len(run))
        if gap and run:
            yield start, _squared(run)
            run = []
        if any(row):
            start = start if run else number
            run.append(row)
    if run:
        yield start, _squared(run)


def _squared(rows: list[Row]) -> list[Row]:
    """Without columns that are blank throughout at either side; every row as long as the widest."""
    used = [index for row in rows for index, cell in enumerate(row) if cell]
    left, right = min(used), max(used) + 1
    return [row[left:right] + ("",) * (right - max(len(row), left)) for row in rows]


def grid_blocks(numbered: Iterable[tuple[int, Sequence[str]]], anchor: Mapping[str, object]) -> Iterator[Block]:
    """Blocks of a sheet or a delimited file, whose tables are set apart by blank rows.

    A first row with one filled cell above a wider table is its caption. A region below a table of the same
    width goes on under the same header.
    """
    header: Row = ()
    for start, rows in regions(numbered):
        width = len(rows[0])
        at = {**anchor, "row": start}
        if width == 1:
            yield from (
                Block("paragraph", row[0], anchor={**anchor, "row": start + index}) for index, row in enumerate(rows)
            )
            continue
        title = [cell for cell in rows[0] if cell]
        caption = ""
        if len(title) == 1 and len(rows) > 1:
            caption, rows, start = title[0], rows[1:], start + 1
        if looks_like_header(rows[0], rows[1:]) and (len(header) != width or caption):
            header, rows, start = rows[0], rows[1:], start + 1
        elif len(header) != width:
            header = ()
        yield table_block(header, rows, {**at, "row": start}, caption)


def adopt_captions(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Move a short paragraph that announces the table below it into that table's caption."""
    kept: list[Block] = []
    for block in blocks:
        before = kept[-1] if kept else None
        if block.kind == "table" and not block.caption and before is not None and _announces(before):
            kept[-1] = replace(block, caption=before.text)
        else:
            kept.append(block)
    return tuple(kept)


def _announces(block: Block) -> bool:
    short = len(block.text.encode()) <= _CAPTION_BYTES and "\n" not in block.text
    return (
        block.kind == "paragraph" and short and (block.text.endswith((":", "：")) or bool(_CAPTION.match(block.text)))
    )
