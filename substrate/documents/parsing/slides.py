"""PPTX: each slide a section under its title; tables and charts as tables; speaker notes last."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from substrate.documents.blocks import Block
from substrate.documents.parsing.limits import reject
from substrate.documents.parsing.tables import looks_like_header, table_block
from substrate.documents.parsing.text import one_line

_DEEPEST_GROUP = 20


def read_pptx(content: bytes, filename: str) -> Iterator[Block]:
    """Blocks anchored by slide number. A slide without a title is a section with an empty heading."""
    import pptx

    try:
        deck = pptx.Presentation(BytesIO(content))
    except (KeyError, ValueError) as error:
        reject(filename, "truncated", f"is not a whole PPTX file ({error}); save it again from PowerPoint")
    for number, slide in enumerate(deck.slides, start=1):
        yield from _slide(slide, {"slide": number})


def _slide(slide: Any, anchor: dict[str, object]) -> Iterator[Block]:
    title = slide.shapes.title
    name = one_line(title.text_frame.text) if title is not None else ""
    yield Block("heading", name, level=1, anchor=anchor)
    shapes = [shape for shape in _flat(slide.shapes, 0) if title is None or shape.shape_id != title.shape_id]
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        yield from _shape(shape, anchor)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        for paragraph in slide.notes_slide.notes_text_frame.paragraphs:
            if text := one_line(paragraph.text):
                yield Block("paragraph", text, anchor={**anchor, "notes": True})


def _flat(shapes: Any, depth: int) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEEPEST_GROUP:
            yield from _flat(shape.shapes, depth + 1)
        else:
            yield shape


def _shape(shape: Any, anchor: dict[str, object]) -> Iterator[Block]:
    if getattr(shape, "has_table", False):
        yield from _table(shape.table, anchor)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart, anchor)
    elif shape.has_text_frame:
        texts = [text for p in shape.text_frame.paragraphs if (text := one_line(p.text))]
        listed = len(texts) > 1 and shape.is_placeholder
        for text in texts:
            yield Block("list_item" if listed else "paragraph", text, anchor=anchor)


def _table(table: Any, anchor: dict[str, object]) -> Iterator[Block]:
    rows = [tuple(_cell(table, y, x) for x in range(len(table.columns))) for y in range(len(table.rows))]
    rows = [row for row in rows if any(row)]
    if rows:
        headed = len(rows) > 1 and (table.first_row or looks_like_header(rows[0], rows[1:]))
        first = int(headed)
        yield table_block(rows[0] if headed else (), rows[first:], {**anchor, "row": first + 1})


def _cell(table: Any, y: int, x: int) -> str:
    """Merged cells are repeated in each place they cover."""
    cell = table.cell(y, x)
    if not cell.is_spanned:
        return one_line(cell.text)
    for up in range(y, -1, -1):
        for left in range(x, -1, -1):
            origin = table.cell(up, left)
            if origin.is_merge_origin and up + origin.span_height > y and left + origin.span_width > x:
                return one_line(origin.text)
    return ""


def _chart(chart: Any, anchor: dict[str, object]) -> Iterator[Block]:
    caption = one_line(chart.chart_title.text_frame.text) if chart.has_title else ""
    for plot in chart.plots:
        series = list(plot.series)
        header = ("", *(one_line(str(one.name)) for one in series))
        rows = [
            (one_line(str(category)), *(_at(one.values, index) for one in series))
            for index, category in enumerate(plot.categories)
        ]
        if rows:
            yield table_block(header, rows, {**anchor, "row": 2}, caption)


def _at(values: Any, index: int) -> str:
    value = values[index] if index < len(values) else None
    return "" if value is None else f"{value:.15g}"
