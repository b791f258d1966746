"""Lines that are no prose and no table: holders listed under a role, log entries, list items, labels, signatures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from substrate.extraction.builtin.drafts import Draft
from substrate.extraction.builtin.edits import edit_drafts
from substrate.extraction.builtin.fields import holder_drafts, named, read_key, tells_of_thing
from substrate.extraction.builtin.headings import list_key
from substrate.extraction.builtin.keyvalue import Pair, Record, pair_of, record_drafts
from substrate.extraction.builtin.lists import (
    address_drafts,
    bare_code,
    credit_drafts,
    entry_drafts,
    inline_pairs,
    signature_drafts,
)
from substrate.extraction.builtin.reading import Item, Quoted, Work, context_of, taken
from substrate.extraction.builtin.roles import RELATION_OF_ROLE, is_role
from substrate.extraction.builtin.sentences import Line, Sentence
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import UNDATED
from substrate.extraction.times import (
    find_times,
    parse_time,
)


def listed(work: Work, line: Line) -> bool:
    """A bare name under a heading that names a role ("Advisers to the X", "Sponsors"): a holder of it."""
    if line.kind != "bullet" or not work.headings:
        return False
    key, owner = list_key(work.headings[0])
    thing = owner or (context_of(work) if key is not None else None)
    if key is None or thing is None or not (is_role(key.plain) or key.plain in RELATION_OF_ROLE):
        return False
    drafts = holder_drafts(thing, key, line.text.rstrip(" .;；。"), UNDATED, work.anchor)
    item = Item(line.text, start=line.start)
    item.found.extend(Quoted(d, line.text, line.start) for d in drafts)
    if drafts:
        work.add(item)
    return bool(drafts)


def edited(work: Work, line: Line) -> bool:
    """A line of a log or a ticket that says what was changed into what."""
    dated = next((h for h in work.headings if parse_time(h, work.anchor) or find_times(h, work.anchor)), "")
    drafts = edit_drafts(line.text, context_of(work), work.here, dated)
    if drafts:
        item = Item(line.text, start=line.start)
        item.found.extend(Quoted(d, line.text, line.start) for d in drafts)
        work.add(item)
    return bool(drafts)


def itemised(work: Work, line: Line) -> bool:
    """An item of a list in short form."""
    if line.kind != "bullet":
        return False
    drafts = entry_drafts(line.text, work.headings[0] if work.headings else "", work.here)
    return taken(work, line, drafts)


def inline(work: Work, line: Line) -> bool:
    """Labels of one thing in a single line."""
    found = inline_pairs(line.text)
    if found is None:
        return False
    first, pairs = found
    record = Record(work.headings[0] if work.headings else "", [Pair(line, read_key(k), v) for k, v in pairs])
    subject = named(bare_code(first)) if first else context_of(work)
    drafts = [d for _, d in record_drafts(record, subject, work.anchor)]
    known = subject is not None or any(isinstance(d, Draft) for d in drafts)
    return known and taken(work, line, drafts)


def signed(work: Work, lines: Sequence[Line], at: int) -> int:
    """The line after a signature that begins at `at`, else `at`."""
    if _SIGNS.fullmatch(lines[at].text) is None:
        return at
    below = lines[at + 1 : at + 6]
    found = signature_drafts([line.text for line in below])
    for i, draft in found:
        taken(work, below[i], [draft])
    return at + 2 + max((i for i, _ in found), default=0) if found else at


def credited(work: Work, lines: Sequence[Line], at: int) -> int:
    """The line after one that names a person with a role and a house, and after an address below it; else `at`."""
    drafts = credit_drafts(lines[at].text)
    if not taken(work, lines[at], drafts):
        return at
    below = lines[at + 1] if at + 1 < len(lines) else None
    more = address_drafts(below.text, drafts[0].subject) if below is not None else []
    return at + 2 if below is not None and taken(work, below, more) else at + 1


_SIGNS = re.compile(
    r"-- ?|(?:kind |best |warm |many )?(?:regards|thanks|wishes)[,.!]?|sincerely[,.]?|"
    r"yours (?:sincerely|faithfully|truly)[,.]?|cheers[,.!]?|respectfully[,.]?",
    re.IGNORECASE,
)


def labelled(work: Work, piece: Sentence) -> bool:
    """ "Maintainer: Mara Voss." behind other sentences: a label of what these are about."""
    line = Line("line", piece.text.rstrip("."), piece.start)
    pair = pair_of(line)
    if pair is None or not (tells_of_thing(pair.key) or pair.key.plain in _ALSO_LABELS):
        return False
    about = context_of(work) or Term("pronoun", "it")
    drafts = [d for _, d in record_drafts(Record("", [pair]), about, work.anchor)]
    return taken(work, line, drafts)


_ALSO_LABELS = frozenset(("current version", "version", "language", "severity", "priority", "deadline", "due date"))


_GREETING = re.compile(
    r"(?:Hello|Hi|Dear|Hey|Good (?:morning|afternoon|evening)),? [A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?, +"
)


def without_greeting(piece: Sentence) -> Sentence:
    m = _GREETING.match(piece.text)
    return Sentence(piece.text[m.end() :], piece.start + m.end()) if m is not None else piece
