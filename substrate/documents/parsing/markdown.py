"""Markdown by its own block structure; inline marks are taken off as a renderer would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from substrate.documents.blocks import Block, DocumentDate
from substrate.documents.parsing.dates import date_in_front_matter
from substrate.documents.parsing.limits import Limits
from substrate.documents.parsing.markup import read_html
from substrate.documents.parsing.plain import read_text
from substrate.documents.parsing.tables import table_block
from substrate.documents.parsing.text import one_line, unwrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_MARKS = re.compile(r"[*_`~\[\]<>&\\!]")
_LONGEST_INLINE = 20_000
"""Longer runs keep their inline marks: the inline grammar is not linear on hostile input."""
_LONGEST_FRONT_MATTER = 20_000


def front_matter(text: str) -> tuple[str, DocumentDate | None, str, int]:
    """(title, date, the rest, lines taken off) from a YAML header, if the text begins with a valid one."""
    found = _FRONT_MATTER.match(text[:_LONGEST_FRONT_MATTER])
    values = _yaml(found["yaml"]) if found else None
    if found is None or values is None:
        return "", None, text, 0
    date = date_in_front_matter(values["date"]) if values.get("date") is not None else None
    title = one_line(str(values.get("title") or ""))
    return title, date, text[found.end() :], text[: found.end()].count("\n")


def _yaml(source: str) -> dict[str, object] | None:
    import yaml

    # Aliases let a few lines expand without bound; a document's header needs none.
    if re.search(r"(?:^|[\s\[{,])[&*]\w", source):
        return None
    try:
        # Scalars stay as written, so that "2024-07" is not read as a number.
        values = yaml.load(source, Loader=yaml.BaseLoader)  # noqa: S506 - builds str, list and dict only
    except (yaml.YAMLError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def read_markdown(text: str, filename: str, limits: Limits, lines_before: int = 0) -> Iterator[Block]:
    """Blocks in order, anchored by line of the file."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"], ignoreInvalid=True)
    parser.core.ruler.enableOnly(["normalize", "block"])
    inline = MarkdownIt("commonmark")
    tokens = parser.parse(text)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        line = lines_before + (token.map[0] if token.map else 0) + 1
        if token.type == "table_open":
            end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
            yield _table(tokens[index:end], inline, line)
            index = end
        elif token.type in ("fence", "code_block"):
            yield Block("code", token.content.rstrip("\n"), anchor={"line": line})
        elif token.type == "html_block":
            yield from _html(token.content, filename, limits, line)
        elif token.type == "inline":
            yield from _running(tokens, index, inline, line)
        index += 1


def _html(source: str, filename: str, limits: Limits, line: int) -> Iterator[Block]:
    yield from read_html(source, filename, limits, line=line)[1]


def _running(tokens: Sequence[Token], index: int, inline: MarkdownIt, line: int) -> Iterator[Block]:
    around, anchor = tokens[index - 1], {"line": line}
    shown = _shown(tokens[index].content, inline)
    if around.type == "heading_open":
        yield Block("heading", one_line(shown), level=int(around.tag[1]), anchor=anchor)
    elif index > 1 and tokens[index - 2].type == "list_item_open":
        yield Block("list_item", unwrap(shown.split("\n")), anchor=anchor)
    else:
        for block in read_text(shown):
            yield Block(block.kind, block.text, anchor=anchor)


def _shown(source: str, inline: MarkdownIt) -> str:
    if len(source) > _LONGEST_INLINE or not _MARKS.search(source):
        return source
    parts = []
    for token in inline.parseInline(source)[0].children or ():
        if token.type in ("text", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "image":
            parts.append(token.content)
        elif token.type == "html_inline" and token.content.lower().startswith("<br"):
            parts.append("\n")
    return "".join(parts)


def _table(tokens: Sequence[Token], inline: MarkdownIt, line: int) -> Block:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(one_line(_shown(token.content, inline)))
    named = any(rows[0])
    return table_block(rows[0] if named else (), rows[1:], {"line": line + 2})
