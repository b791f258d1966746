"""HTML: one walk without recursion over the tree, and tables with their spans filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from substrate.documents.blocks import Block, BlockKind
from substrate.documents.parsing.limits import Limits, reject
from substrate.documents.parsing.tables import looks_like_header, table_block
from substrate.documents.parsing.text import clean, one_line

_UNSHOWN = frozenset(
    re.findall(
        r"\w+",
        "script style template noscript svg math iframe object head nav button select textarea input",
    )
)
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body center dd details div dl dt fieldset figcaption figure "
        "footer form header hgroup hr li main ol p pre section summary table tbody td th tr ul caption",
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_WIDEST_SPAN = 200
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
# Browsers read these labels as the larger encodings that contain them.
_LARGER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "iso-8859-1": "cp1252",
}


@dataclass
class _Walk:
    """Where the walk stands: the text gathered since the last block began."""

    anchor: Mapping[str, object]
    parts: list[str] = field(default_factory=list)
    heading: int = 0
    items: int = 0
    pre: int = 0
    title: str = ""

    def take(self) -> Iterator[Block]:
        """The gathered text as a block, if there is any."""
        raw, self.parts = "".join(self.parts), []
        text = clean(raw).strip("\n") if self.pre else "\n".join(filter(None, map(one_line, raw.split("\v"))))
        if not text.strip():
            return
        kind: BlockKind = "paragraph"
        if self.heading:
            kind, text = "heading", one_line(text)
        elif self.pre:
            kind = "code"
        elif self.items:
            kind = "list_item"
        yield Block(kind, text, level=self.heading, anchor=self.anchor)

    def say(self, text: str | None) -> None:
        """Add running text; a line end in the source is only white space unless preformatted."""
        if text:
            self.parts.append(text if self.pre else text.replace("\v", " "))


def declared_encoding(content: bytes) -> str | None:
    """What the page's own meta element names, as browsers understand it."""
    found = _CHARSET.search(content[:4096])
    name = found[1].decode("ascii").lower() if found else ""
    return _LARGER.get(name, name) or None


def read_html(text: str, filename: str, limits: Limits, **anchor: object) -> tuple[str, list[Block]]:
    """Title and blocks of a page or a fragment. Navigation, scripts and form controls are left out."""
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:
        return "", []  # nothing but comments
    except etree.XMLSyntaxError:
        # A parser that recovers from anything stops for one thing only.
        raise MemoryError from None
    for entry in parser.error_log.filter_from_fatals():
        # The tree ends where this happened, and what follows would be lost unseen.
        if entry.type_name == "ERR_NO_MEMORY":
            raise MemoryError
        reject(filename, "malformed", f"cannot be read to its end ({entry.message}); simplify the page")
    title = root.findtext(".//title")
    return one_line(title or ""), list(_blocks(root, filename, limits, anchor))


def _blocks(root: Any, filename: str, limits: Limits, anchor: Mapping[str, object]) -> Iterator[Block]:
    from lxml import etree

    walk = _Walk(anchor)
    events = etree.iterwalk(root, events=("start", "end"))
    skipped = None
    for event, node in events:
        tag = node.tag if isinstance(node.tag, str) else ""
        if event == "end":
            if node is not skipped:
                if tag in _BLOCKS or tag in _HEADINGS:
                    yield from walk.take()
                _leave(walk, tag)
            walk.say(node.tail)
        elif (unshown := _is_unshown(node, tag)) or (tag == "table" and _is_data(node)):
            skipped = node
            events.skip_subtree()
            if not unshown:
                yield from walk.take()
                yield from _table(node, filename, limits, anchor)
        else:
            yield from _enter(walk, tag)
            walk.say(node.text)
    yield from walk.take()


def _is_unshown(node: Any, tag: str) -> bool:
    return tag in _UNSHOWN or node.get("hidden") is not None or node.get("aria-hidden") == "true"


def _enter(walk: _Walk, tag: str) -> Iterator[Block]:
    if tag in _BLOCKS or tag in _HEADINGS:
        yield from walk.take()
    walk.heading = _HEADINGS.get(tag, walk.heading)
    walk.items += tag == "li"
    walk.pre += tag == "pre"
    if tag == "br":
        walk.parts.append("\n" if walk.pre else "\v")


def _leave(walk: _Walk, tag: str) -> None:
    if tag in _HEADINGS:
        walk.heading = 0
    walk.items -= tag == "li"
    walk.pre -= tag == "pre"


def _is_data(table: Any) -> bool:
    """A table of cells; one that holds tables, headings or lists is page layout and read as running text."""
    return next(table.iterdescendants("table", "h1", "h2", "h3"), None) is None


def _table(table: Any, filename: str, limits: Limits, anchor: Mapping[str, object]) -> Iterator[Block]:
    caption = table.find("caption")
    rows, heads = _grid(table, filename, limits)
    if not any(any(row) for row in rows):
        return
    if not heads and looks_like_header(rows[0], rows[1:]):
        heads = 1
    header = tuple(_stacked(column) for column in zip(*rows[:heads], strict=True)) if heads else ()
    words = one_line(_words(caption)) if caption is not None else ""
    if len(rows) == heads:
        header, heads = (), 0
    yield table_block(header, (row for row in rows[heads:] if any(row)), {**anchor, "row": heads + 1}, words)


def spans_filled(table: Any, filename: str, limits: Limits) -> None:
    """Replace the rows of a table element by rows in which every cell stands by itself, in place."""
    from lxml import etree

    rows, heads = _grid(table, filename, limits)
    for part in table.xpath("./*[not(self::caption)]"):
        part.drop_tree()
    for group, cell, lines in (("thead", "th", rows[:heads]), ("tbody", "td", rows[heads:])):
        made = etree.SubElement(table, group)
        for line in lines:
            row = etree.SubElement(made, "tr")
            for words in line:
                etree.SubElement(row, cell).text = words


def _stacked(column: tuple[str, ...]) -> str:
    return " › ".join(dict.fromkeys(cell for cell in column if cell))


def _grid(table: Any, filename: str, limits: Limits) -> tuple[list[tuple[str, ...]], int]:
    """Cells with every spanned place filled, and how many of the first rows are headings."""
    filled: dict[tuple[int, int], str] = {}
    heads, lines = 0, list(table.iter("tr"))
    for y, line in enumerate(lines):
        x, cells = 0, [cell for cell in line if cell.tag in ("td", "th")]
        within_head = line.getparent().tag == "thead" or all(cell.tag == "th" for cell in cells)
        heads += heads == y and bool(cells) and within_head
        for cell in cells:
            while (y, x) in filled:
                x += 1
            across, down = _span(cell, "colspan"), min(_span(cell, "rowspan"), len(lines) - y)
            words = one_line(_words(cell))
            filled.update({(y + dy, x + dx): words for dy in range(down) for dx in range(across)})
            x += across
            if len(filled) > limits.table_cells:
                reject(filename, "too_large", f"a table has over {limits.table_cells} cells; split the file")
    width = max((x for _, x in filled), default=-1) + 1
    return [tuple(filled.get((y, x), "") for x in range(width)) for y in range(len(lines))], heads


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(max(int(value), 1), _WIDEST_SPAN) if value.isdecimal() and len(value) < 6 else 1


def _words(node: Any) -> str:
    from lxml import etree

    parts: list[str] = []
    events = etree.iterwalk(node, events=("start", "end"))
    for event, part in events:
        if event == "start" and _is_unshown(part, str(part.tag)):
            events.skip_subtree()
        elif event == "start":
            parts.append(part.text or "")
        else:
            parts.append(" " if part.tag in _BLOCKS or part.tag == "br" else "")
            parts.append((part.tail or "") if part is not node else "")
    return "".join(parts)
