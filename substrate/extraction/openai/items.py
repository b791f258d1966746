"""One decoded item of a reply to one claim, or to the reason why not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from substrate.extraction.claims import Claim, Drop, Mood, Passage, Value
from substrate.extraction.openai import moments
from substrate.extraction.openai.amounts import read_value
from substrate.extraction.openai.prompt import ROLES
from substrate.extraction.openai.quotes import Folded, find_quote
from substrate.extraction.openai.references import HANDLE, PRONOUNS, SELF, handled, refers
from substrate.extraction.times import Anchor, NumericOrder, order_of

CONFIDENCE = 0.8
"""Below the built-in reader's .9: a model's statement is checked for its words, not for its sense."""
_LONGEST_PHRASE = 60
_MOODS: dict[str, Mood | None] = {
    **dict.fromkeys(("", "none", "null", "stated", "asserted", "factual")),
    "planned": "planned",
    "future": "planned",
    "negated": "negated",
    "denied": "negated",
    "hedged": "hedged",
    "conditional": "conditional",
    "reported": "reported",
    "question": "question",
}


class _Refused(Exception):
    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


@dataclass(frozen=True, slots=True)
class Page:
    """A passage ready to be looked things up in."""

    passage: Passage
    chunk: Folded
    names: tuple[Folded, ...]
    """Chunk, headings, title, file name, cells and speaker, without regard to case."""
    beside: tuple[Folded, ...]
    """What dates a statement from outside its quote: headings, and for a table its chunk."""
    anchor: Anchor

    @staticmethod
    def of(passage: Passage, order: NumericOrder | None = None) -> Page:
        """`order` is how dates in figures are declared to be written; else the passage may show it."""
        around = [*passage.heading_path, passage.title, passage.filename, passage.speaker]
        cells = [cell for row in (passage.header, *passage.rows) for cell in row]
        chunk = Folded(passage.text)
        beside = [Folded(heading) for heading in reversed(passage.heading_path)]
        dated = passage.document_date is not None and passage.document_date_precision is not None
        date, precision = (passage.document_date, passage.document_date_precision) if dated else (None, None)
        return Page(
            passage,
            chunk,
            tuple(Folded(text, case=False) for text in (passage.text, *around, *cells) if text),
            (*beside, chunk) if passage.rows else tuple(beside),
            Anchor(date, precision, order=order or order_of(passage.text)),
        )

    def holds(self, words: str) -> bool:
        """Whether a name or value stands in the passage or its context."""
        return any(text.names(words) for text in self.names)


def read_item(item: Any, page: Page) -> tuple[Claim | None, list[Drop]]:
    """The claim of an item, if the passage bears it out, with a drop for all that was left out."""
    drops: list[Drop] = []
    try:
        return _claim(item, page, drops), drops
    except _Refused as refused:
        return None, [*drops, Drop(refused.code, refused.detail, shown(item))]


def shown(item: Any) -> str:
    """An item as an example in a drop."""
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)


def _claim(item: Any, page: Page, drops: list[Drop]) -> Claim:
    if not isinstance(item, dict):
        raise _Refused("malformed_item", "not an object")
    quote = _needed(item, "quote")
    place = find_quote(page.chunk, quote)
    if place is None:
        raise _Refused("quote_not_in_chunk", "the quoted words are not in the passage")
    written = page.passage.text[place[0] : place[1]]
    subject = _name(_needed(item, "subject"), "subject", page, written)
    target, value, qualifiers = _object(item, subject, written, page)
    phrase = _phrase(_needed(item, "phrase"), subject, target or (value.raw if value else ""))
    denies = _flag(item, "denies")
    mood = _mood(item, drops)
    places = moments.Places(page.chunk, *place, page.beside)
    time, untimed = moments.interval(list(_times(item, drops)), _flag(item, "ended"), places, page.anchor)
    drops += untimed
    qualifiers += tuple(q for q in _qualifiers(item, page, drops) if q not in qualifiers)
    return Claim(
        subject=subject,
        phrase=phrase,
        quote=written,
        quote_start=place[0],
        quote_end=place[1],
        object=target,
        value=value,
        subject_kind=_kind(item, "subject_kind"),
        object_kind=_kind(item, "object_kind") if target is not None else None,
        time=time,
        # To deny is a statement about what was said before; as a mood it would be kept out.
        mood=None if denies and mood == "negated" else mood,
        denies=denies,
        corrects=_flag(item, "corrects") and not denies,
        qualifiers=qualifiers,
        confidence=CONFIDENCE,
    )


def _needed(item: dict[str, Any], field: str) -> str:
    text = _text(item, field)
    if not text:
        raise _Refused("malformed_item", f"{field} is missing or blank")
    return text


def _text(item: dict[str, Any], field: str) -> str:
    """A property as one line of text; numbers are taken as written, null and absent as blank."""
    found = item.get(field)
    if found is None:
        return ""
    if isinstance(found, bool | dict | list):
        raise _Refused("malformed_item", f"{field} is not text")
    return str(found).strip() if field == "quote" else _line(str(found))


def _line(text: str) -> str:
    """One line of signs that can be seen and stored; joiners belong to the spelling of some scripts."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable() or sign in "\u200c\u200d")


def _flag(item: dict[str, Any], field: str) -> bool:
    found = item.get(field)
    if found is None or isinstance(found, bool):
        return bool(found)
    if isinstance(found, str) and found.strip().lower() in ("true", "false", ""):
        return found.strip().lower() == "true"
    raise _Refused("malformed_item", f"{field} is neither true nor false")


def _name(written: str, field: str, page: Page, quote: str) -> str:
    known = handled(written, page.passage.known)
    if known is not None:
        if not refers(known, quote, page.holds):
            raise _Refused("reference_not_in_text", f"nothing in the quote speaks of the {field} {known.name}")
        return known.name
    low = written.casefold()
    if low in SELF and page.passage.speaker.strip():
        return page.passage.speaker.strip()
    if low in PRONOUNS:
        raise _Refused(f"pronoun_{field}", f"the {field} is a pronoun")
    if not page.holds(written):
        if HANDLE.fullmatch(written):
            raise _Refused("unknown_ref", f"the {field} is a handle that was not given")
        raise _Refused("name_not_in_text", f"the {field} is in neither passage nor headings")
    return written


def _object(
    item: dict[str, Any], subject: str, quote: str, page: Page
) -> tuple[str | None, Value | None, tuple[tuple[str, str], ...]]:
    """Object or value, and qualifiers that come with it. Where both are given the value qualifies the relation."""
    target, raw = _text(item, "object"), _text(item, "value")
    if not target and not raw:
        raise _Refused("object_missing", "neither object nor value")
    if target and target.casefold() != raw.casefold():
        target = _name(target, "object", page, quote)
        if target.casefold() == subject.casefold():
            raise _Refused("object_is_subject", "the object is the subject itself")
        return target, None, (("value", raw),) if raw and page.holds(raw) else ()
    found = read_value(raw, _text(item, "unit"), quote, page.holds, page.anchor.order)
    if found is None:
        raise _Refused("value_not_in_text", "the value is not in the passage")
    return None, *found


def _phrase(written: str, subject: str, target: str) -> str:
    phrase = written.casefold().replace("_", " ").strip(" .,:;\"'“”")
    if not any(sign.isalnum() for sign in phrase):
        raise _Refused("malformed_item", "the phrase has no word")
    if phrase == subject.casefold():
        raise _Refused("phrase_is_subject", "the phrase is the subject")
    if phrase == target.casefold():
        raise _Refused("phrase_is_value", "the phrase is the object or value")
    phrase = phrase.removesuffix(f" {target.casefold()}").removeprefix(f"{subject.casefold()} ")
    if len(phrase) > _LONGEST_PHRASE:
        raise _Refused("phrase_is_clause", f"the phrase has {len(phrase)} characters")
    return phrase


def _mood(item: dict[str, Any], drops: list[Drop]) -> Mood | None:
    said = _text(item, "mood").lower()
    if said in _MOODS:
        return _MOODS[said]
    # Whatever it is, it is not "stated as so".
    drops.append(Drop("unknown_mood", f"{said!r} is read as hedged", shown(item)))
    return "hedged"


def _kind(item: dict[str, Any], field: str) -> str | None:
    said = item.get(field)
    kind = said.strip().lower() if isinstance(said, str) else ""
    return kind if re.fullmatch(r"[a-z][a-z -]{1,29}", kind) and kind not in ("null", "none", "unknown") else None


def _times(item: dict[str, Any], drops: list[Drop]) -> Iterator[tuple[str, str]]:
    for entry in _entries(item, "times"):
        words = entry.get("words") if isinstance(entry, dict) else None
        role = entry.get("role") if isinstance(entry, dict) else None
        if isinstance(words, str) and words.strip() and role in ROLES:
            yield words.strip(), str(role)
        else:
            drops.append(Drop("malformed_time", "needs words and one of the roles", shown(entry)))


def _qualifiers(item: dict[str, Any], page: Page, drops: list[Drop]) -> Iterator[tuple[str, str]]:
    for entry in _entries(item, "qualifiers"):
        role = entry.get("role") if isinstance(entry, dict) else None
        value = entry.get("value") if isinstance(entry, dict) else None
        if not (isinstance(role, str) and _line(role) and isinstance(value, str) and _line(value)):
            drops.append(Drop("malformed_qualifier", "needs a role and a value", shown(entry)))
        elif not page.holds(value):
            drops.append(Drop("qualifier_not_in_text", role, value))
        else:
            yield _line(role).lower(), _line(value)


def _entries(item: dict[str, Any], field: str) -> list[Any]:
    found = item.get(field) or []
    if not isinstance(found, list):
        raise _Refused("malformed_item", f"{field} is not a list")
    return found
