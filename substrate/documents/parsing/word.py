"""DOCX: paragraphs, lists and tables in the order of the body, with the levels its styles give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from substrate.documents.blocks import Block
from substrate.documents.parsing.limits import reject
from substrate.documents.parsing.tables import looks_like_header, table_block
from substrate.documents.parsing.text import one_line

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
# Struck out or moved text is not shown; the fallback repeats a text box; boxes are read by themselves.
_NOT_HERE = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}txbxContent", _FALLBACK})
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def read_docx(content: bytes, filename: str) -> Iterator[Block]:
    """Blocks anchored by paragraph number; page headers come first, footers and notes last."""
    import docx

    try:
        document = docx.Document(BytesIO(content))
    except (KeyError, ValueError) as error:
        reject(filename, "truncated", f"is not a whole DOCX file ({error}); save it again from Word")
    styles = _Styles(document)
    yield from _margins(document, "header")
    for number, node in enumerate(_children(document.element.body), start=1):
        anchor: dict[str, object] = {"paragraph": number}
        if node.tag == f"{_W}tbl":
            yield from _table(node, anchor)
        else:
            yield from _paragraph(node, styles, anchor)
    yield from _notes(document)
    yield from _margins(document, "footer")


class _Styles:
    """Heading level and list membership by style id, following the chain of parent styles."""

    def __init__(self, document: Any) -> None:
        self._of = {style.style_id: style for style in document.styles}
        used = {node.get(f"{_W}val") for node in document.element.body.iter(f"{_W}pStyle")}
        self._shift = any(self._named(name, "title") for name in used)

    def _named(self, style_id: str | None, name: str) -> bool:
        style = self._of.get(style_id)
        return style is not None and (style.name or "").lower() == name

    def _chain(self, style_id: str | None) -> Iterator[Any]:
        style, steps = self._of.get(style_id), 0
        while style is not None and steps < 12:
            yield style
            style, steps = getattr(style, "base_style", None), steps + 1

    def level(self, style_id: str | None, node: Any) -> int:
        """Heading depth; a Title is 1 and pushes Heading 1 down to 2."""
        if self._named(style_id, "title"):
            return 1
        for style in self._chain(style_id):
            if found := _HEADING.match(style.name or ""):
                return int(found[1]) + self._shift
        for owner in (node, *(style.element for style in self._chain(style_id))):
            outline = owner.find(f"{_W}pPr/{_W}outlineLvl")
            if outline is not None and (depth := int(outline.get(f"{_W}val"))) < 9:
                return depth + 1 + self._shift
        return 0

    def is_list(self, style_id: str | None, node: Any) -> bool:
        """Whether numbering applies, by the paragraph itself or its style."""
        owners = (node, *(style.element for style in self._chain(style_id)))
        numbered = next((n for o in owners if (n := o.find(f"{_W}pPr/{_W}numPr/{_W}numId")) is not None), None)
        if numbered is not None:
            return bool(numbered.get(f"{_W}val") != "0")
        return any((style.name or "").startswith("List ") for style in self._chain(style_id))


def _children(body: Any) -> Iterator[Any]:
    """Paragraphs and tables, looking through content controls and tracked insertions, without recursion."""
    stack = [iter(body)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif node.tag in (f"{_W}p", f"{_W}tbl"):
            yield node
        elif node.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml"):
            stack.append(iter(node))


def _paragraph(node: Any, styles: _Styles, anchor: dict[str, object]) -> Iterator[Block]:
    mark = node.find(f"{_W}pPr/{_W}pStyle")
    style_id = mark.get(f"{_W}val") if mark is not None else None
    text = _text(node)
    if text:
        level = styles.level(style_id, node)
        if level:
            yield Block("heading", one_line(text), level=level, anchor=anchor)
        else:
            listed = styles.is_list(style_id, node)
            yield Block("list_item" if listed else "paragraph", text, anchor=anchor)
    for box in node.iter(f"{_W}txbxContent"):
        if next(box.iterancestors(_FALLBACK), None) is None:
            for part in box.iter(f"{_W}p"):
                if words := _text(part):
                    yield Block("paragraph", words, anchor=anchor)


def _text(node: Any) -> str:
    from lxml import etree

    parts: list[str] = []
    events = etree.iterwalk(node, events=("start",))
    for _, part in events:
        if part is not node and part.tag in _NOT_HERE:
            events.skip_subtree()
        elif part.tag == f"{_W}t":
            parts.append(part.text or "")
        elif part.tag in _BREAKS and part.getparent().tag == f"{_W}r":
            parts.append(_BREAKS[part.tag])
    return "\n".join(filter(None, map(one_line, "".join(parts).split("\n"))))


def _table(node: Any, anchor: dict[str, object]) -> Iterator[Block]:
    """Merged cells are repeated in each place they cover; tables inside a cell follow as tables."""
    rows: list[list[str]] = []
    heads, above = 0, dict[int, str]()
    for line in node.iterchildren(f"{_W}tr"):
        row: list[str] = []
        for cell in _cells(line):
            across = int(_value(cell, "gridSpan") or 1)
            merge = cell.find(f"{_W}tcPr/{_W}vMerge")
            goes_on = merge is not None and merge.get(f"{_W}val", "continue") == "continue"
            words = above.get(len(row), "") if goes_on else _cell(cell)
            row.extend([words] * min(across, 200))
        above = dict(enumerate(row))
        heads += heads == len(rows) and line.find(f"{_W}trPr/{_W}tblHeader") is not None
        rows.append(row)
    width = max(map(len, rows), default=0)
    squared = [tuple(row + [""] * (width - len(row))) for row in rows]
    if any(any(row) for row in squared):
        yield _table_block(squared, heads, anchor)
    for inner in node.iterfind(f"{_W}tr/{_W}tc/{_W}tbl"):
        yield from _table(inner, anchor)


def _table_block(rows: list[tuple[str, ...]], heads: int, anchor: dict[str, object]) -> Block:
    if len(rows[0]) == 1 and len(rows) == 1:
        return Block("paragraph", rows[0][0], anchor=anchor)
    heads = heads or int(looks_like_header(rows[0], rows[1:]))
    heads = 0 if heads == len(rows) else heads
    stacked = (" › ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows[:heads], strict=True))
    return table_block(tuple(stacked), filter(any, rows[heads:]), {**anchor, "row": heads + 1})


def _cells(line: Any) -> Iterator[Any]:
    for child in line:
        if child.tag == f"{_W}tc":
            yield child
        elif child.tag == f"{_W}sdt":
            yield from child.iterfind(f"{_W}sdtContent/{_W}tc")


def _value(cell: Any, name: str) -> str | None:
    found = cell.find(f"{_W}tcPr/{_W}{name}")
    return found.get(f"{_W}val") if found is not None else None


def _cell(cell: Any) -> str:
    return one_line(" ".join(_text(part) for part in cell.iterfind(f"{_W}p")))


def _margins(document: Any, which: str) -> Iterator[Block]:
    """Page headers or footers that hold words, each once."""
    seen = set()
    for section in document.sections:
        part = getattr(section, which)
        if part.is_linked_to_previous:
            continue
        for node in part._element.iter(f"{_W}p"):
            text = _text(node)
            if text not in seen and re.search(r"[^\W\d_]{2}", text):
                seen.add(text)
                yield Block("paragraph", text, anchor={"part": which})


def _notes(document: Any) -> Iterator[Block]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    for relation in document.part.rels.values():
        kind = relation.reltype.rsplit("/", 1)[-1]
        if kind in ("footnotes", "endnotes") and not relation.is_external:
            for node in etree.fromstring(relation.target_part.blob, parser).iter(f"{_W}p"):
                if text := _text(node):
                    yield Block("paragraph", text, anchor={"part": kind})
