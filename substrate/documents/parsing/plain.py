"""Plain text, delimited files and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from substrate.documents.blocks import Block
from substrate.documents.parsing.limits import MEBIBYTE, Limits, reject
from substrate.documents.parsing.tables import grid_blocks
from substrate.documents.parsing.text import LIST_MARK, unwrap
from substrate.documents.parsing.transcript import conversation_of, read_conversation

_DEEPEST = 60
_LONGEST_CELL = MEBIBYTE


def read_text(text: str) -> Iterator[Block]:
    """Messages of a conversation; else paragraphs set apart by blank lines, and list items where a mark begins them."""
    conversation = read_conversation(text)
    yield from conversation
    if not conversation:
        yield from _read_prose(text)


def _read_prose(text: str) -> Iterator[Block]:
    run: list[str] = []
    start = 1
    for number, line in enumerate(text.split("\n"), start=1):
        marked = LIST_MARK.match(line)
        if run and (not line.strip() or marked):
            yield _paragraph(run, start)
            run = []
        if line.strip():
            start = start if run else number
            run.append(line)
    if run:
        yield _paragraph(run, start)


def _paragraph(lines: list[str], start: int) -> Block:
    kind = "list_item" if LIST_MARK.match(lines[0]) else "paragraph"
    return Block(kind, unwrap(lines), anchor={"line": start})  # type: ignore[arg-type]


def read_delimited(text: str, filename: str, limits: Limits, delimiter: str | None = None) -> Iterator[Block]:
    """A table per run of records; the delimiter is the one that splits the first lines most evenly."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or _delimiter(text))
    yield from grid_blocks(_records(reader, filename, limits), {})


def _records(reader: Iterable[list[str]], filename: str, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    cells = 0
    try:
        for number, record in enumerate(reader, start=1):
            cells += len(record)
            if cells > limits.table_cells:
                reject(filename, "too_large", f"holds more than {limits.table_cells} cells; split the file")
            yield number, record
    except csv.Error as error:
        reject(filename, "malformed", f"is not a delimited table ({error}); check its quotes")


def _delimiter(text: str) -> str:
    lines = [line for line in text[:65536].split("\n")[:20] if line.strip()]

    def evenness(mark: str) -> tuple[float, int]:
        counts = [line.count(mark) for line in lines]
        usual = max(set(counts), key=lambda count: (counts.count(count), count))
        return (counts.count(usual) / len(counts) if usual else 0.0, usual)

    return max(",;\t|", key=evenness) if lines else ","


def read_json(text: str, filename: str, *, lines: bool = False) -> Iterator[Block]:
    """Objects become ``key: value`` items, with dotted keys below; lists of flat objects become tables.

    A list of objects that each have a speaker and a text is a conversation. Numbers are kept as they are written.
    """
    try:
        if lines:
            value: Any = [_load(line) for line in text.split("\n") if line.strip()]
        else:
            value = _load(text)
    except (ValueError, RecursionError) as error:
        reject(filename, "malformed", f"is not valid JSON ({error})")
    yield from conversation_of(value) or _json_blocks("", value, filename, 0)


def _load(text: str) -> Any:
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)


def _json_blocks(path: str, value: Any, filename: str, depth: int) -> Iterator[Block]:
    if depth > _DEEPEST:
        reject(filename, "malformed", f"nests deeper than {_DEEPEST} levels; flatten it")
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _json_blocks(f"{path}.{key}" if path else str(key), below, filename, depth + 1)
    elif isinstance(value, list) and value and all(_is_flat(item) for item in value):
        keys = list(dict.fromkeys(key for item in value for key in item))
        if path:
            yield Block("paragraph", f"{path}:", anchor={"path": path})
        table = [keys, *([_scalar(item.get(key)) for key in keys] for item in value)]
        yield from grid_blocks(enumerate(table), {"path": path})
    elif isinstance(value, list):
        for index, below in enumerate(value):
            name = f"{path}[{index}]"
            plain = not isinstance(below, (dict, list))
            yield from _json_blocks(path if plain else name, below, filename, depth + 1)
    elif (shown := _scalar(value)) != "":
        text = f"{path}: {shown}" if path else shown
        yield Block("list_item" if path else "paragraph", text, anchor={"path": path})


def _is_flat(item: Any) -> bool:
    return isinstance(item, dict) and bool(item) and not any(isinstance(v, (dict, list)) for v in item.values())


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else re.sub(r"\s+", " ", str(value)).strip()
