"""One passage from lines to claims: what is prose, what is a label, what is a table, and who is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from substrate.extraction.builtin import english
from substrate.extraction.builtin.chinese import read_chinese
from substrate.extraction.builtin.corrections import CORRECT_VALUE
from substrate.extraction.builtin.drafts import Draft, claim_of
from substrate.extraction.builtin.frames import OVER_THINGS
from substrate.extraction.builtin.keyvalue import Pair, Record, pair_of, record_drafts, starts_record
from substrate.extraction.builtin.names import Lexicon, inner_capitals
from substrate.extraction.builtin.reading import Item, Quoted, Work, context_of
from substrate.extraction.builtin.references import References
from substrate.extraction.builtin.sentences import Line, Sentence, is_chinese, lines_of, sentences_of
from substrate.extraction.builtin.short_forms import (
    credited,
    edited,
    inline,
    itemised,
    labelled,
    listed,
    signed,
    without_greeting,
)
from substrate.extraction.builtin.tables import Quote, Told, pipe_table, table_drafts
from substrate.extraction.builtin.terms import EMPLOYER, Term
from substrate.extraction.claims import Claim, Drop, Extraction, Passage, Value
from substrate.extraction.times import (
    Anchor,
    NumericOrder,
    TimeMention,
    find_times,
    order_of,
    parse_time,
    told_by,
)
from substrate.extraction.times.stated import stated_date

_REMEMBERED = 8
"""Dated things of which a later sentence may tell what came after."""


def plan(passage: Passage, lexicon: Lexicon, order: NumericOrder | None = None) -> Work:
    """Cuts the passage up; everything but English prose is read at once. `order` is that of dates in figures."""
    work = Work(passage, _anchor(passage, order or order_of(passage.text)), lexicon)
    work.known = frozenset(inner_capitals(passage.text))
    work.headings = [h for h in (*passage.heading_path[::-1], passage.title) if h]
    if passage.rows:
        _table(work, passage.text, 0, passage.header, passage.rows)
        return work
    lines = [line for line in lines_of(passage.text) if line.text]
    at = 0
    while at < len(lines):
        at = _step(work, lines, at)
    return work


def _anchor(passage: Passage, order: NumericOrder | None) -> Anchor | None:
    if passage.document_date is None or passage.document_date_precision is None:
        return Anchor(None, None, order=order) if order else None
    return Anchor(passage.document_date, passage.document_date_precision, order=order)


_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d+\b")
"""The key of a ticket opens its first line; its fields follow."""


def _step(work: Work, lines: Sequence[Line], at: int) -> int:
    """Reads what begins at line `at`; returns the line after it."""
    line = lines[at]
    if not at and (m := _TICKET.match(line.text)) and at + 1 < len(lines) and pair_of(lines[at + 1]):
        _enter(work, Line("heading", m.group(), line.start, line.level))
        return at + 1
    if line.kind == "heading" or _is_heading(work, lines, at):
        _enter(work, line)
        return at + 1
    _speaks_from(work, line)
    if inline(work, line):
        return at + 1
    if "|" in line.text:
        return _pipes(work, lines, at)
    if (after := signed(work, lines, at)) > at or (after := credited(work, lines, at)) > at:
        return after
    if listed(work, line) or edited(work, line) or itemised(work, line):
        return at + 1
    pair = pair_of(line)
    if pair is None:
        _prose(work, line)
        return at + 1
    return _records(work, lines, at, pair)


def _speaks_from(work: Work, line: Line) -> None:
    """A date that a section states of itself is what its words count from, until the section ends."""
    depth = work.levels[0] if work.levels else 0
    if depth > 1 and (stated := stated_date(line.text)) is not None:
        work.dated.append((depth, work.anchor))
        work.anchor = Anchor(stated[0], stated[1], order=work.anchor.order if work.anchor else None)


def _is_heading(work: Work, lines: Sequence[Line], at: int) -> bool:
    """A heading without marks: known as one, or a short line before bullets."""
    line = lines[at]
    if line.text in work.headings:
        return True
    following = lines[at + 1] if at + 1 < len(lines) else None
    short = len(line.text) < 50 and line.text[-1] not in ".!?。！？；;" and line.kind == "line"
    return (
        short
        and following is not None
        and following.kind == "bullet"
        and (line.text[-1] in ":：" or pair_of(line) is None)
    )


def _enter(work: Work, line: Line) -> None:
    """The heading is now the innermost; those as deep as it or deeper are left."""
    work.told = ()
    heading = line.text.rstrip(":：")
    level = line.level or 9
    while work.dated and work.dated[-1][0] >= level:
        work.anchor = work.dated.pop()[1]
    while work.levels and work.levels[0] >= level:
        del work.levels[0], work.headings[0]
    kept = [(h, i) for i, h in enumerate(work.headings) if h != heading]
    own = sum(i < len(work.levels) for _, i in kept)
    work.headings = [heading, *(h for h, _ in kept)]
    work.levels = [level, *work.levels[-own:]] if own else [level]


def _pipes(work: Work, lines: Sequence[Line], at: int) -> int:
    stop = at
    while stop < len(lines) and "|" in lines[stop].text:
        stop += 1
    grid = pipe_table([line.text for line in lines[at:stop]])
    if grid is None:
        for line in lines[at:stop]:
            _prose(work, line)
        return stop
    start, end = lines[at].start, lines[stop - 1].end
    _table(work, work.passage.text[start:end], start, grid[0], grid[1])
    return stop


def _table(work: Work, text: str, offset: int, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    item = Item(text)
    for found in table_drafts(text, header, rows, context_of(work), work.anchor):
        if isinstance(found.item, Told):
            _told(work, found.item.sentence, found.quote, offset)
        else:
            item.found.append(Quoted(found.item, found.quote.text, offset + found.quote.start))
    work.add(item)


def _told(work: Work, sentence: str, quote: Quote, offset: int) -> None:
    """A row that says in words what happened, dated by its own date."""
    for part in sentences_of(Line("line", sentence, 0)):
        _sentence(work, Sentence(part.text, offset + quote.start), quote.text)


def _records(work: Work, lines: Sequence[Line], at: int, pair: Pair | None) -> int:
    record = Record(work.headings[0] if work.headings else "")
    while pair is not None:
        if starts_record(pair, record):
            _flush(work, record)
            record = Record(record.heading)
        record.pairs.append(pair)
        at += 1
        line = lines[at] if at < len(lines) else None
        ends = line is None or line.kind == "heading" or line.text in work.headings or "|" in line.text
        pair = None if ends or line is None else pair_of(line)
    _flush(work, record)
    return at


def _flush(work: Work, record: Record) -> None:
    item = Item("")
    for pair, found in record_drafts(record, context_of(work), work.anchor):
        item.found.append(Quoted(found, pair.line.text, pair.line.start))
    work.add(item)


def _prose(work: Work, line: Line) -> None:
    whole = work.passage.text
    pieces: list[Sentence] = []
    for sentence in sentences_of(line):
        before = pieces[-1] if pieces else None
        if before is not None and _TOOK_OVER.fullmatch(sentence.text) and whole.startswith(";", _end(before)):
            # Of what, only the piece before it says.
            pieces[-1] = Sentence(whole[before.start : _end(sentence)], before.start)
        else:
            pieces.append(sentence)
    for piece in pieces:
        if not labelled(work, piece) and not edited(work, Line("line", piece.text, piece.start)):
            _sentence(work, without_greeting(piece))


def _end(sentence: Sentence) -> int:
    return sentence.start + len(sentence.text)


_TOOK_OVER = re.compile(
    r"(?:and )?[A-Z][^,;:]{1,40} (?:then )?(?:took|takes) over"
    r"(?: (?:on|in|from|as|with|effective)\b[^;]*)?\.?"
)


_LOG = re.compile(
    r"\b(?:log|changes?|changelog|history|timeline|chronology|chronicle|news|updates?|amendments?|events)\b|"
    r"变更|日志|大事记|沿革|更新|历程|记录",
    re.IGNORECASE,
)


def _sentence(work: Work, sentence: Sentence, shown: str = "") -> None:
    heading = ""
    if not shown and (date := _dated_by_heading(work, sentence.text)):
        heading, shown = date.removeprefix("In ").rstrip(",:"), sentence.text
        sentence = Sentence(f"{date} {sentence.text}", sentence.start)
    item = Item(sentence.text, start=sentence.start, shown=shown, heading=heading)
    if is_chinese(sentence.text):
        around = " ".join((work.passage.title, *work.passage.heading_path, work.passage.text))
        item.take(read_chinese(sentence.text, work.here, around))
        _tell(work, sentence.text, find_times(sentence.text, work.here))
    else:
        item.prepared = english.prepare(sentence.text, work.here, work.lexicon, work.known)
        _tell(work, sentence.text, [mention for _, mention in item.prepared.masked.times])
        if not item.prepared.parsable and len(item.prepared.masked.units) > 1:
            item.found.append(
                Quoted(Drop("not_prose", "too long or too many brackets", sentence.text), sentence.text, 0)
            )
    work.add(item)


def _tell(work: Work, text: str, mentions: Sequence[TimeMention]) -> None:
    for mention in mentions:
        work.told = (*work.told, *told_by(mention, text))[-_REMEMBERED:]


def _dated_by_heading(work: Work, text: str) -> str:
    """How a sentence without a time begins under a heading that is nothing but one.

    In a log any date dates, since it heads an entry; elsewhere a longer stretch ("2025 Q3"), in which what stands below
    it and below its own subheadings held.
    """
    if not work.headings or find_times(text, work.here):
        return ""
    for heading in work.headings:
        time = parse_time(heading, work.anchor)
        if time is not None and time.at_event and time.valid_from_precision in ("year", "month"):
            return f"{heading}:" if is_chinese(text) else f"In {heading},"
    logged = any(_LOG.search(h) for h in (*work.headings[1:], work.passage.filename))
    entry = logged and parse_time(work.headings[0], work.anchor) is not None
    return f"{work.headings[0]}:" if entry else ""


def finish(work: Work) -> Extraction:
    """Resolves who is meant, in reading order, and checks every quote against the passage."""
    references = References(work.passage.speaker)
    if (context := context_of(work)) is not None:
        references.context[context.text] = context.kind
    claims: list[Claim] = []
    drops: list[Drop] = []
    leaving: list[tuple[Quoted, Term | None]] = []
    for item in work.items:
        claims.extend(_righted(item, claims))
        for quoted in item.found:
            near = _within(references, item, quoted, claims)
            if isinstance(quoted.item, Draft) and quoted.item.object == EMPLOYER:
                leaving.append((quoted, near.resolve(quoted.item.subject)))
                continue
            made = quoted.item if isinstance(quoted.item, Drop) else resolve(quoted, near)
            if isinstance(made, Drop):
                drops.append(made)
            elif work.passage.text[made.quote_start : made.quote_end] != made.quote:
                drops.append(Drop("quote_not_in_chunk", made.phrase, made.quote))
            else:
                if made.time.words == f"In {item.heading}":
                    made = replace(made, time=replace(made.time, words=item.heading))
                plain = item.corrects and made.mood is None and not made.denies
                claims.append(replace(made, corrects=True) if plain else made)
        _remember(references, item, claims)
    for quoted, who in leaving:
        found = _left_employer(quoted, who, claims)
        (drops if isinstance(found, Drop) else claims).append(found)  # type: ignore[arg-type]
    return Extraction(tuple(dict.fromkeys(claims)), tuple(drops))


def _left_employer(quoted: Quoted, who: Term | None, claims: Sequence[Claim]) -> Claim | Drop:
    """ "X left on D": left the one organisation that the passage says X works for, if it is not said to be over."""
    if who is None:
        return Drop("pronoun_subject", "left", quoted.text)
    held = [c for c in claims if c.phrase == "works for" and c.subject == who.text and c.mood is None and not c.denies]
    names = {c.object for c in held if c.object is not None}
    if (
        len(names) != 1
        or any(c.time.valid_to_precision is not None for c in held)
        or not isinstance(quoted.item, Draft)
    ):
        return Drop("no_object", "left", quoted.text)
    return claim_of(quoted.item, who, Term("name", names.pop(), "organization"), quoted.text, quoted.start)


def _righted(item: Item, claims: Sequence[Claim]) -> list[Claim]:
    """ "The correct value is B" after "was wrongly stated as A": what was denied, with B in A's place."""
    if item.prepared is None or not CORRECT_VALUE.match(item.text) or not claims or not claims[-1].denies:
        return []
    wrong, units = claims[-1], item.prepared.masked.units
    right = next((u for u in reversed(units) if u.kind == ("amount" if wrong.value else "name")), None)
    if right is None or (wrong.value is not None and right.value is None):
        return []
    changed = {"value": right.value} if wrong.value is not None else {"object": right.text}
    if wrong.value is None and right.guess == "person" and wrong.object_kind != "person":
        changed = {"subject": right.text}
    stop = item.start + len(item.quote)
    place = {"quote": item.quote, "quote_start": item.start, "quote_end": stop}
    return [replace(wrong, denies=False, corrects=True, **changed, **place)]  # type: ignore[arg-type]


def _within(references: References, item: Item, quoted: Quoted, claims: Sequence[Claim]) -> References:
    """For a pronoun: also the names that stand before it in its own sentence."""
    draft = quoted.item
    if isinstance(draft, Drop) or item.prepared is None:
        return references
    ends = [t for t in (draft.subject, draft.object) if isinstance(t, Term) and t.sort in {"pronoun", "definite"}]
    if not ends or ends[0].unit is None:
        return references
    near = References(references.speaker, dict(references.seen), dict(references.context), references.about)
    for unit in item.prepared.masked.units:
        if unit.kind == "name" and unit.start < ends[0].unit.start:
            for one in unit.group or (unit,):
                near.note(one.text, one.guess)
    for claim in claims:
        if claim.quote == item.quote and claim.subject in near.seen:
            near.note(claim.subject, claim.subject_kind)
        if claim.quote == item.quote and claim.object in near.seen and claim.object:
            near.note(claim.object, claim.object_kind)
    return near


def _remember(references: References, item: Item, claims: Sequence[Claim]) -> None:
    if item.prepared is not None or is_chinese(item.text):
        references.about = _about(references, item, claims)
    if item.prepared is not None:
        for unit in item.prepared.masked.units:
            if unit.kind == "name":
                for one in unit.group or (unit,):
                    references.note(one.text, one.guess)
    for claim in claims:
        if claim.quote == item.quote:
            references.note(claim.subject, claim.subject_kind)
            if claim.object:
                references.note(claim.object, claim.object_kind)


def _about(references: References, item: Item, claims: Sequence[Claim]) -> Term | None:
    if item.about is None:
        return None
    found = references.resolve(item.about)
    if found is None:
        return None
    kinds = [c.subject_kind for c in claims if c.subject == found.text and c.subject_kind]
    return replace(found, kind=found.kind or (kinds[0] if kinds else None))


def resolve(quoted: Quoted, references: References) -> Claim | Drop:
    """The claim with its subject and object named, or why it cannot be made."""
    draft = quoted.item
    if isinstance(draft, Drop):
        return draft
    subject = references.resolve(draft.subject)
    if subject is None:
        return Drop("pronoun_subject", draft.subject.text, quoted.text)
    target: Term | None = None
    if not isinstance(draft.object, Value):
        vague = draft.object.sort == "thing" and draft.phrase not in OVER_THINGS
        target = None if vague else references.resolve(draft.object)
        if target is not None and draft.object.sort == "definite" and target.text == draft.object.text:
            target = target if draft.phrase in OVER_THINGS else None
        if target is None:
            target = _her(draft, subject, references)
        if target is None:
            return Drop("unresolved_object", draft.object.text, quoted.text)
        if target.text == subject.text:
            return Drop("self_reference", subject.text, quoted.text)
    unnamed = draft.subject.sort == "definite" and subject.text == draft.subject.text
    if unnamed or "thing" in {draft.subject.sort, getattr(draft.object, "sort", "")}:
        draft = replace(draft, confidence=min(draft.confidence, UNNAMED))
    return claim_of(draft, subject, target, quoted.text, quoted.start)


def _her(draft: Draft, subject: Term, references: References) -> Term | None:
    """ "X is standing in for her": she of whom the sentence before speaks, if that is not X."""
    about, term = references.about, draft.object
    personal = isinstance(term, Term) and term.sort == "pronoun" and term.text in {"her", "him"}
    if not personal or about is None or about.text == subject.text or about.kind not in {None, "person"}:
        return None
    others = {n for n, k in references.seen.items() if k == "person"} - {subject.text, about.text}
    return replace(about, sort="name", kind="person") if not others else None


UNNAMED = 0.5
"""Confidence of what is said of a thing that the text does not name ("the annual pass")."""
