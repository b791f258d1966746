"""Tables: each row's subject with each other column as a relation, dated by the row's own date columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from substrate.extraction.builtin.amounts import parse_amount
from substrate.extraction.builtin.drafts import Draft, text_value
from substrate.extraction.builtin.fields import (
    DATE_KEYS,
    END_KEYS,
    NAME_KEYS,
    NOT_SUBJECTS,
    PERSON_KEYS,
    RESPONSIBLE_KEYS,
    START_KEYS,
    TOLD_KEYS,
    Key,
    field_drafts,
    field_time,
    holder_drafts,
    is_empty,
    joined_time,
    looks_like_name,
    named,
    read_key,
    speaks_of_person,
    tells_of_thing,
)
from substrate.extraction.builtin.roles import RELATION_OF_ROLE, is_role
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import UNDATED, ClaimTime, Drop
from substrate.extraction.times import Anchor

_NUMBERING = frozenset(("no", "#", "id", "nr", "number", "index", "row", "line", "序号", "编号"))
_OF_THINGS = frozenset(("project", "company", "team", "department", "organisation", "organization", "employer"))
_DATED = START_KEYS | END_KEYS | DATE_KEYS
_PARTIES = frozenset(
    "supplier vendor customer client partner contractor investor competitor subsidiary shareholder bank carrier "
    "distributor reseller insurer tenant landlord".split()
)
"""A first column so called lists organisations, and the rest of the row is about them."""
_ASSIGNED = RESPONSIBLE_KEYS | {"assignee", "assigned to"}
_LABELLED = (
    {"field", "value"},
    {"key", "value"},
    {"attribute", "value"},
    {"property", "value"},
    {"item", "value"},
    {"字段", "值"},
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A row as the passage shows it."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """A row whose cell says in words what happened: the sentence to read, opened by the row's date."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Found:
    """A claim in draft, a drop or a sentence still to be read, with the row it stands in."""

    quote: Quote
    item: Draft | Drop | Told


def table_drafts(
    text: str, header: Sequence[str], rows: Sequence[Sequence[str]], context: Term | None, anchor: Anchor | None
) -> list[Found]:
    """Claims of a table chunk; `text` is the chunk's text, in which each row is found as written."""
    keys = [read_key(h) for h in header]
    if not keys or {k.plain for k in keys} in [set(s) for s in _LABELLED]:
        return _labelled(text, rows, context, anchor)
    column = _subject_column(keys, rows)
    if column is None or any(k.plain in _ASSIGNED for k in keys):
        column = _thing_column(keys, rows, column)
    roles = _role_columns(keys, rows)
    if column is None and context is None and not roles and not any(k.plain in TOLD_KEYS for k in keys):
        return [Found(Quote(0, ""), Drop("no_subject_column", " | ".join(header), " | ".join(rows[0]) if rows else ""))]
    found: list[Found] = []
    at = 0
    for row in rows:
        if tuple(row) == tuple(header):
            continue
        quote = find_row(text, row, at)
        if quote is None:
            found.append(Found(Quote(0, ""), Drop("quote_not_in_chunk", "table row", " | ".join(row))))
            continue
        at = quote.start + len(quote.text)
        told = _told(keys, row)
        found.extend(Found(quote, t) for t in told)
        if roles is not None and context is not None:
            found.extend(Found(quote, d) for d in _role_row(keys, row, roles, context, anchor))
        elif column is not None:
            found.extend(Found(quote, d) for d in _row_drafts(keys, row, column, anchor, context))
        elif context is not None and not told:
            found.extend(Found(quote, d) for d in _about(keys, row, context, anchor))
    return found


def _thing_column(keys: Sequence[Key], rows: Sequence[Sequence[str]], found: int | None) -> int | None:
    """A column of tickets by their keys, or the first that is no number, no date and nobody: actions, levels, parts."""
    for i, key in enumerate(keys):
        cells = [r[i].strip() for r in rows if i < len(r) and not is_empty(r[i])]
        told = key.plain in TOLD_KEYS and any(_is_prose(c) and len(c) > 12 for c in cells)
        if not cells or told or key.plain in _DATED | _ASSIGNED | NOT_SUBJECTS | PERSON_KEYS:
            continue
        if key.plain in _NUMBERING and not all(re.fullmatch(r"[A-Z][A-Z0-9]*-\d+", c) for c in cells):
            continue
        short = all(len(c.split()) <= 6 and parse_amount(c).number is None for c in cells)
        if found is not None and found <= i and not any(k.plain in _ASSIGNED for k in keys[i + 1 :]):
            return found
        return i if short and len(set(cells)) == len(cells) else found
    return found


def _told(keys: Sequence[Key], row: Sequence[str]) -> list[Told]:
    """Prose cells of a log, each behind the row's date."""
    cells = list(zip(keys, row, strict=False))
    date = next((c.strip() for k, c in cells if k.plain in DATE_KEYS | START_KEYS and not is_empty(c)), "")
    prose = [c.strip() for k, c in cells if k.plain in TOLD_KEYS and _is_prose(c)]
    return [Told(f"{date}: {c}" if date else c) for c in prose]


def _is_prose(cell: str) -> bool:
    return len(cell.split()) > 3 or (len(cell) > 8 and bool(re.search(r"[\u4e00-\u9fff]", cell)))


def _role_columns(keys: Sequence[Key], rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """(column of roles, column of who holds them) of a table that lists both about the thing above it."""
    role = next(
        (i for i, k in enumerate(keys) if k.plain in {"role", "function", "position", "post", "job title"}), None
    )
    who = next((i for i, k in enumerate(keys) if k.plain in PERSON_KEYS | {"holder", "held by", "name"}), None)
    if role is None or who is None or any(k.plain in _OF_THINGS for k in keys):
        return None
    cells = [r[role].strip().lower() for r in rows if role < len(r) and not is_empty(r[role])]
    return (role, who) if cells and all(c in RELATION_OF_ROLE for c in cells) else None


def _role_row(
    keys: Sequence[Key], row: Sequence[str], columns: tuple[int, int], thing: Term, anchor: Anchor | None
) -> list[Draft]:
    role, who = columns
    if max(role, who) >= len(row) or is_empty(row[role]) or is_empty(row[who]):
        return []
    key = Key(row[role].strip().lower(), None, row[role].strip())
    return holder_drafts(thing, key, row[who].strip(), _row_time(keys, row, anchor), anchor)


def _row_time(keys: Sequence[Key], row: Sequence[str], anchor: Anchor | None) -> ClaimTime:
    sides = dict(f for k, v in zip(keys, row, strict=False) if (f := field_time(k, v, anchor)))
    return joined_time(sides) if sides else UNDATED


def _about(keys: Sequence[Key], row: Sequence[str], context: Term, anchor: Anchor | None) -> list[Draft]:
    """A row of a history about the thing above the table: its date and what was so from then on."""
    time = _row_time(keys, row, anchor)
    if time == UNDATED:
        return []
    cells = [(k, v) for k, v in zip(keys, row, strict=False) if k.plain not in _DATED | _NUMBERING | TOLD_KEYS]
    return [d for k, v in cells if tells_of_thing(k) for d in field_drafts(context, k, v, time, anchor)]


def _subject_column(keys: Sequence[Key], rows: Sequence[Sequence[str]]) -> int | None:
    """A column of persons first, then of other named things, then the first that is no number and no date."""
    plain = [k.plain for k in keys]
    for wanted in (PERSON_KEYS, frozenset(NAME_KEYS)):
        for i, name in enumerate(plain):
            if name in wanted and (wanted is PERSON_KEYS or i == 0 or not _earlier(plain, i)):
                return i
    lead = next((i for i, n in enumerate(plain) if n not in _NUMBERING | _DATED), None)
    if lead is not None and plain[lead] in _PARTIES:
        if plain[lead] in {"supplier", "vendor"} and (article := _article_column(plain, rows)) is not None:
            return article
        cells = [r[lead] for r in rows if lead < len(r) and not is_empty(r[lead])]
        return lead if cells and all(looks_like_name(c) for c in cells) else None
    for i, name in enumerate(plain):
        if name in _NUMBERING | _DATED | TOLD_KEYS or is_role(name) or name in NOT_SUBJECTS:
            continue
        cells = [r[i] for r in rows if i < len(r) and not is_empty(r[i])]
        return i if cells and all(looks_like_name(c) for c in cells) else None
    return None


_ARTICLES = frozenset(
    "part item product article component material sku model goods commodity ingredient equipment service".split()
)


def _article_column(plain: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """What suppliers supply, each once: prices and lead times of the row are of it and not of who supplies it."""
    column = next((i for i, name in enumerate(plain) if name in _ARTICLES), None)
    cells = [r[column] for r in rows if column < len(r) and not is_empty(r[column])] if column is not None else []
    return column if cells and len(set(cells)) == len(rows) and all(looks_like_name(c) for c in cells) else None


def _earlier(plain: Sequence[str], i: int) -> bool:
    """Whether a plain column stands before: then this one is its attribute."""
    return any(p not in _NUMBERING | _DATED and not is_role(p) for p in plain[:i])


def _row_drafts(
    keys: Sequence[Key], row: Sequence[str], column: int, anchor: Anchor | None, context: Term | None = None
) -> list[Draft | Drop]:
    cell = row[column] if column < len(row) else ""
    if is_empty(cell) or re.match(r"(?i)(?:total|sum|average|合计|总计)\b", cell.strip()):
        return []
    party = keys[column].plain in _PARTIES
    kind = "organization" if party else NAME_KEYS.get(keys[column].plain)
    person = speaks_of_person(keys)
    subject = named(cell, None if keys[column].plain == "name" and not person else kind)
    if keys[column].plain in PERSON_KEYS and (keys[column].plain != "name" or (person and subject.kind is None)):
        subject = Term("name", subject.text, "person")
    sides: dict[str, ClaimTime] = {}
    dating: set[int] = set()
    if any(k.plain in _ASSIGNED for k in keys):
        keys = [Key("deadline", None, k.written) if k.plain == "end" else k for k in keys]
    for i, (key, value) in enumerate(zip(keys, row, strict=False)):
        if i != column and (found := field_time(key, value, anchor)):
            sides[found[0]] = found[1]
            dating.add(i)
    time = joined_time(sides) if sides else UNDATED
    out: list[Draft | Drop] = []
    if party and context is not None and context.kind in {None, "organization"}:
        out.extend(holder_drafts(context, keys[column], cell, time, anchor))
    for i, (key, value) in enumerate(zip(keys, row, strict=False)):
        if i == column or i in dating or key.plain in _DATED | _NUMBERING:
            continue
        if key.plain in {"summary", "description", "title"} and keys[column].plain in _NUMBERING:
            key = Key("summary", None, key.written)
            out.append(Draft(subject, "summary", text_value(value), time, confidence=0.8, wording=key.written))
            continue
        out.extend(field_drafts(subject, key, value, time, anchor))
    return out


def _labelled(text: str, rows: Sequence[Sequence[str]], context: Term | None, anchor: Anchor | None) -> list[Found]:
    """A table of two columns, label and value, about one thing."""
    if not rows or any(len(r) != 2 for r in rows):
        return [Found(Quote(0, ""), Drop("no_header", "table", " | ".join(rows[0]) if rows else ""))]
    pairs = [(read_key(k), v) for k, v in rows]
    subject = next(
        (named(v, NAME_KEYS[k.plain]) for k, v in pairs if k.plain in NAME_KEYS and looks_like_name(v)), context
    )
    sides = dict(f for k, v in pairs if (f := field_time(k, v, anchor)))
    time = joined_time(sides) if sides else UNDATED
    found: list[Found] = []
    for (key, value), row in zip(pairs, rows, strict=True):
        quote = find_row(text, row, 0)
        if subject is None or quote is None or value == subject.text or field_time(key, value, anchor):
            continue
        found.extend(Found(quote, d) for d in field_drafts(subject, key, value, time, anchor))
    return found


def find_row(text: str, row: Sequence[str], at: int) -> Quote | None:
    """The row as written in the chunk, from `at` on: cells joined by " | ", or whatever stands between them."""
    joined = " | ".join(row)
    start = text.find(joined, at)
    if start >= 0:
        return Quote(start, joined)
    cells = [re.escape(c.strip()) for c in row if c.strip()]
    if not cells:
        return None
    m = re.compile(r"[ \t|,;]*".join(cells)).search(text, at)
    return Quote(m.start(), m.group()) if m else None


def pipe_table(lines: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """A table written with pipes in running text: (header, rows), or None."""
    grid = [tuple(c.strip() for c in line.strip().strip("|").split("|")) for line in lines]
    grid = [g for g in grid if not all(re.fullmatch(r":?-{2,}:?", c) for c in g)]
    if len(grid) < 2 or len({len(g) for g in grid}) != 1 or len(grid[0]) < 2:
        return None
    return grid[0], grid[1:]
