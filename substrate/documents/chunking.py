"""Blocks to chunks: passages small enough to retrieve and to read for claims, cut where a reader would pause.

The body of a document is the chunk texts one after the other with nothing between, ``"".join(texts)``; a
chunk's ``body_start`` and ``body_end`` are offsets into it.

Size is estimated without a tokenizer: 1.3 tokens a word (a run without white space longer than 6 letters
counts a fifth of its length), one token a CJK character. Sizes are kept in tenths, so that a whole is the
exact sum of its parts and a cut is the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from substrate.documents.blocks import Block, ChunkDraft, ParsedDocument

_CJK = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uffef"
_CJK_ONE = re.compile(f"[{_CJK}]")
_WORDS = re.compile(rf"[^\s{_CJK}]+")
_RUN = re.compile(rf"(?P<cjk>[{_CJK}])|[^\s{_CJK}]+")
_WORD, _CJK_CHARACTER, _PER_LETTER = 13, 10, 2
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|no|nos|inc|ltd|co|corp|vs|etc|e\.g|i\.e|al|fig|jan|feb|mar|apr|jun|jul|aug"
    r"|sep|sept|oct|nov|dec|approx|dept|gen|sen|rep|[a-z])\.$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s)|[。！？；]+[”’」』）]*|\n+")
_CLAUSE_END = re.compile(r"[,;:，、；：](?=\s)|[，、；：]|\s")


def estimate_tokens(text: str) -> int:
    """Tokens a subword tokenizer would make of the text, by the rule in the module's docstring."""
    return -(-_cost(text) // 10)


def _cost(text: str) -> int:
    return _CJK_CHARACTER * len(_CJK_ONE.findall(text)) + sum(map(_word_cost, _WORDS.findall(text)))


def _word_cost(word: str) -> int:
    return max(_WORD, _PER_LETTER * len(word))


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is not divided further. ``glue`` stands between it and the piece before it in the same chunk."""

    text: str
    glue: str
    anchor: Mapping[str, object]
    cost: int
    starts_block: bool = False
    lead_in: str = ""
    """The line that announces this item's list, said again where a chunk begins with the item."""
    holds_on: bool = False
    """Must not be the last of its chunk: a line that announces what follows."""


@dataclass(slots=True)
class _Section:
    """Blocks under one heading. ``headings`` are the lines not yet shown, of this and of empty parents."""

    path: tuple[str, ...]
    headings: list[Block]
    blocks: list[Block] = field(default_factory=list)


def chunk(document: ParsedDocument, *, target_tokens: int = 220, max_tokens: int = 320) -> tuple[ChunkDraft, ...]:
    """The chunks of a document in order; deterministic.

    - A heading's line stands at the beginning of the first chunk below it; sections are never mixed.
    - Paragraphs and list items are filled up to about ``target_tokens``; a sentence is divided only where it
      alone exceeds ``max_tokens``. No text chunk exceeds ``max_tokens``.
    - A list goes with the line that announces it, said again where the list goes on in a further chunk.
    - A message of a conversation is a chunk of its own.
    - A table repeats caption and header on each further chunk and never divides a row; a table chunk exceeds
      ``max_tokens`` only where one row with caption and header does.

    Raises ValueError unless ``10 <= target_tokens <= max_tokens``.
    """
    if not 10 <= target_tokens <= max_tokens:
        raise ValueError("target_tokens must be at least 10 and at most max_tokens")
    budget = _Budget(target_tokens * 10, max_tokens * 10)
    drafts: list[ChunkDraft] = []
    at = 0
    for section in _sections(document.blocks):
        for part in _section_chunks(section, budget):
            drafts.append(part.placed(len(drafts), section.path, at))
            at += len(part.text)
    return tuple(drafts)


@dataclass(frozen=True, slots=True)
class _Budget:
    """Tenths of tokens."""

    target: int
    most: int


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    kind: Literal["text", "table"]
    anchor: Mapping[str, object]
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def placed(self, position: int, path: tuple[str, ...], at: int) -> ChunkDraft:
        """The finished chunk at its place in the body."""
        end = at + len(self.text)
        return ChunkDraft(
            position, self.text, path, self.kind, self.anchor, at, end, header=self.header, rows=self.rows
        )


def _sections(blocks: Sequence[Block]) -> Iterator[_Section]:
    """An empty heading (a slide without a title) ends the section above and adds no line or path."""
    open_headings: list[Block] = []
    section = _Section((), [])
    for block in blocks:
        if block.kind != "heading":
            if block.text.strip() or block.rows or any(block.header):
                section.blocks.append(block)
            continue
        open_headings = [above for above in open_headings if above.level < block.level]
        waiting = [] if section.blocks else section.headings
        unrelated = bool(waiting) and not any(waiting[-1] is above for above in open_headings)
        if section.blocks or unrelated:
            yield section
            waiting = []
        if block.text.strip():
            open_headings.append(block)
            waiting = [*waiting, block]
        section = _Section(tuple(above.text for above in open_headings), waiting)
    if section.blocks or section.headings:
        yield section


def _section_chunks(section: _Section, budget: _Budget) -> Iterator[_Part]:
    # Headings announce what follows and stay with it.
    pending = [
        replace(piece, holds_on=True) for heading in section.headings for piece in _pieces(heading, "\n", budget)
    ]
    lead_in = ""
    for before, block, after in _with_neighbours(section.blocks):
        if block.kind == "table" and (block.rows or block.header):
            opening = pending if all(piece.holds_on for piece in pending) else []
            if not opening:
                yield from _filled(pending, budget)
            yield from _table_chunks(block, opening, budget)
            pending, lead_in = [], ""
            continue
        if block.kind == "message":
            opening = pending if all(piece.holds_on for piece in pending) else []
            if not opening:
                yield from _filled(pending, budget)
            yield from _filled([*opening, *_pieces(block, "\n", budget)], budget)
            pending, lead_in = [], ""
            continue
        announces = _announces(block, after)
        if block.kind == "list_item":
            glue = "\n" if before is not None and before.kind == "list_item" else "\n\n"
            pending.extend(_pieces(block, glue, budget, lead_in))
        else:
            lead_in = block.text if announces and _cost(block.text) * 4 <= budget.target else ""
            pending.extend(_pieces(block, "\n\n", budget))
        if announces:
            pending[-1] = replace(pending[-1], holds_on=True)
    yield from _filled(pending, budget)


def _with_neighbours(blocks: Sequence[Block]) -> Iterator[tuple[Block | None, Block, Block | None]]:
    return zip([None, *blocks], blocks, [*blocks[1:], None], strict=False)


def _announces(block: Block, following: Block | None) -> bool:
    listed = following is not None and following.kind == "list_item"
    return listed and block.kind == "paragraph" and block.text.rstrip().endswith((":", "："))


def _pieces(block: Block, glue: str, budget: _Budget, lead_in: str = "") -> Iterator[_Piece]:
    """A block as one piece where it fits, else its sentences, else parts of a sentence; nothing is lost."""
    # A reader sees a mark before an item; without it a list of names is just lines.
    text = ("- " if block.kind == "list_item" else "") + block.text.strip("\n")
    cost, most = _cost(text), budget.most - _cost(lead_in)
    if cost <= min(budget.target, most):
        yield _Piece(text, glue, block.anchor, cost, True, lead_in)
        return
    starts_block = True
    for sentence, before in _sentences(text, code=block.kind == "code"):
        for part, between in _bounded(sentence, most):
            joint = glue if starts_block else (between or before)
            yield _Piece(part, joint, block.anchor, _cost(part), starts_block, lead_in)
            starts_block, before = False, ""


def _sentences(text: str, *, code: bool) -> Iterator[tuple[str, str]]:
    """(sentence, white space before it); code is divided at its lines alone."""
    start = 0
    for end in _ends(text, code):
        yield from _trimmed(text, start, end)
        start = end
    yield from _trimmed(text, start, len(text))


def _ends(text: str, code: bool) -> Iterator[int]:
    ends = re.compile(r"\n+") if code else _SENTENCE_END
    for found in ends.finditer(text):
        stop = found.end()
        if found[0].startswith(".") and _ABBREVIATION.search(text[max(0, found.start() - 12) : found.start() + 1]):
            continue
        yield stop


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    part = text[start:end]
    kept = part.strip()
    if kept:
        lead = len(part) - len(part.lstrip())
        # The white space before a sentence may have been cut off with the one before it.
        before = start + lead
        while start > 0 and text[start - 1].isspace():
            start -= 1
        yield kept, text[start:before]


def _bounded(sentence: str, most: int) -> Iterator[tuple[str, str]]:
    """(part, white space before it), each within ``most``: cut at clauses or words, else anywhere."""
    start = 0
    while start < len(sentence):
        end = _reach(sentence, start, most)
        if end < len(sentence):
            marks = [m.end() for m in _CLAUSE_END.finditer(sentence, start + (end - start) // 2, end)]
            end = marks[-1] if marks else end
        part = sentence[start:end]
        lead = part[: len(part) - len(part.lstrip())]
        if start and not lead and sentence[start - 1].isspace():
            lead = " "
        if part.strip():
            yield part.strip(), lead
        start = end


def _reach(text: str, start: int, most: int) -> int:
    """How far text from ``start`` stays within ``most``; at least one character."""
    spent = 0
    for found in _RUN.finditer(text, start):
        cost = _CJK_CHARACTER if found["cjk"] else _word_cost(found[0])
        if spent + cost > most:
            if spent == 0 or 4 * spent < most:
                return max(found.start() + (most - spent) // _PER_LETTER, start + 1)
            return found.start()
        spent += cost
    return len(text)


def _filled(pieces: Sequence[_Piece], budget: _Budget) -> Iterator[_Part]:
    groups: list[list[_Piece]] = []
    spent = 0
    for index, piece in enumerate(pieces):
        if groups and _goes_along(groups[-1], piece, spent, _unit(pieces, index, budget.most), budget):
            groups[-1].append(piece)
            spent += piece.cost
        else:
            carried = _carried(groups, piece, budget)
            groups.append([*carried, piece])
            spent = sum(each.cost for each in groups[-1]) + (0 if carried else _lead_cost(piece))
    _join_short_end(groups, budget)
    for group in groups:
        first = group[0]
        opening = f"{first.lead_in}\n" if first.lead_in else ""
        rest = "".join(piece.glue + piece.text for piece in group[1:])
        yield _Part(opening + first.text + rest, "text", _first_anchor(group))


def _unit(pieces: Sequence[_Piece], index: int, enough: int) -> int:
    """Cost of the piece with what its block or its announcement ties to it, counted up to ``enough``."""
    cost, at = pieces[index].cost, index
    while cost <= enough and at + 1 < len(pieces) and (pieces[at].holds_on or not pieces[at + 1].starts_block):
        at += 1
        cost += pieces[at].cost
    return cost


def _goes_along(group: list[_Piece], piece: _Piece, spent: int, unit: int, budget: _Budget) -> bool:
    if spent + piece.cost > budget.most:
        return False
    if group[-1].holds_on or (spent + piece.cost <= budget.target and not piece.starts_block):
        return True
    return spent + unit <= budget.target or (2 * spent < budget.target and spent + piece.cost <= budget.target)


def _carried(groups: list[list[_Piece]], piece: _Piece, budget: _Budget) -> list[_Piece]:
    """Lines that announce what follows move over to it, unless their chunk holds nothing else."""
    if not groups:
        return []
    kept = len(groups[-1])
    while kept and groups[-1][kept - 1].holds_on:
        kept -= 1
    moved = groups[-1][kept:]
    if not moved or not kept or sum(each.cost for each in moved) + piece.cost > budget.most:
        return []
    del groups[-1][kept:]
    return moved


def _lead_cost(piece: _Piece) -> int:
    return _cost(piece.lead_in)


def _join_short_end(groups: list[list[_Piece]], budget: _Budget) -> None:
    """A last chunk of a few words joins the one before it where that stays within the maximum."""
    if len(groups) < 2:
        return
    last = sum(piece.cost for piece in groups[-1])
    before = sum(piece.cost for piece in groups[-2]) + _lead_cost(groups[-2][0])
    if last * 5 < budget.target and before + last <= budget.most:
        groups[-2].extend(groups.pop())


def _first_anchor(group: Sequence[_Piece]) -> Mapping[str, object]:
    body = next((piece for piece in group if not piece.holds_on), group[0])
    return body.anchor


def _table_chunks(table: Block, opening: Sequence[_Piece], budget: _Budget) -> Iterator[_Part]:
    """``opening`` are the headings above the table, shown on its first chunk."""
    head = [table.caption] if table.caption else []
    head += [" | ".join(table.header)] if any(table.header) else []
    repeated = "\n".join(head)
    first = "".join(piece.glue + piece.text for piece in opening).lstrip("\n")
    if first and _cost(first) + _cost(repeated) + _row_cost(table, 0) > budget.most:
        yield from _filled(opening, budget)
        first = ""
    start, prefix = 0, "\n\n".join(filter(None, (first, repeated)))
    while True:
        end = _fit(table, start, budget.target - _cost(prefix))
        lines = [" | ".join(row) for row in table.rows[start:end]]
        text = "\n".join([*filter(None, [prefix]), *lines])
        anchor = dict(table.anchor)
        counted = "row" if "row" in anchor else "line"
        if isinstance(number := anchor.get(counted), int):
            anchor[counted] = number + start
        yield _Part(text, "table", anchor, table.header, table.rows[start:end])
        start, prefix = end, repeated
        if start >= len(table.rows):
            return


def _row_cost(table: Block, index: int) -> int:
    return _cost(" | ".join(table.rows[index])) if index < len(table.rows) else 0


def _fit(table: Block, start: int, left: int) -> int:
    """The row after the last that fits in ``left``; at least one row is taken."""
    end = start
    while end < len(table.rows):
        left -= _row_cost(table, end)
        if left < 0 and end > start:
            break
        end += 1
    return end
