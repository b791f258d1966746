"""English forms of date that count from what the passage has told: "six months later", "a year after its founding"."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from substrate.extraction.times import spans, words
from substrate.extraction.times.rules import Grammar, Reader, Rule
from substrate.extraction.times.spans import Context, Span
from substrate.extraction.times.words import compiled

Match = re.Match[str]
_EVENTS = (
    "founding|foundation|launch|establishment|creation|incorporation|acquisition|merger|release|opening|closing|closure|"
    "appointment|election|inauguration|birth|death|marriage|wedding|graduation|retirement|resignation|departure|"
    "arrival|introduction|publication|signing|completion|construction|debut|listing|flotation|formation|inception|"
    "hiring|promotion|accident|incident|outage|deployment|rollout|announcement|approval|purchase|sale|relocation|"
    "delivery|shipment|migration|upgrade|takeover|bankruptcy"
)
_IRREGULAR = {
    "acquisition": "acqui", "introduction": "introduc", "publication": "publish", "birth": "born", "death": "die",
    "marriage": "marri", "wedding": "marri", "sale": "sold", "purchase": "bought", "foundation": "found",
    "construction": "buil", "takeover": "took over", "inception": "found",
}  # fmt: skip
_ENDINGS = re.compile(r"(?:ation|ing|ion|ment|ure|er|al|al|ry|e)$")
_OF_DATE = r"(?! of (?:[0-9]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|last|this|next))"


def _later(sign: int) -> Reader:
    """ "Three weeks later" counts from the last thing told, never from the document's date."""

    def read(match: Match, context: Context) -> Span | None:
        unit, many = words.unit(match["unit"])
        return spans.shifted(context.narrated(), unit, sign * many * words.cardinal(match["n"]))

    return read


def _half_later(match: Match, context: Context) -> Span | None:
    count = words.cardinal(match["n"]) if match["n"] else 0
    return spans.shifted(context.narrated(), "month", 12 * count + 6)


def told_unit(match: Match, context: Context) -> Span | None:
    """ "The following year", "the same day", "the next month": of what was told last; None where nothing was."""
    unit, many = words.unit(match["unit"])
    if many != 1:
        raise ValueError("a longer stretch")
    return spans.relative(context.narrated(), unit, words.OFFSETS[match["rel"].lower()])


def counts_from_told(match: Match, context: Context) -> bool:
    """Whether "the following year" and its like speak of what was told, not of the document's own date."""
    rel = match["rel"].lower()
    if rel in ("same", "following"):
        return True
    if match.string[max(0, match.start() - 4) : match.start()].lower() != "the ":
        return False
    if rel == "next" and match["unit"].lower() == "day":
        return True
    return bool(context.told) and (rel == "previous" or (rel == "next" and context.direction <= 0))


def _after_event(match: Match, context: Context) -> Span | None:
    """ "Three years after its founding": from the last sentence that tells of it, if one was dated."""
    event = match["event"].lower()
    stem = _IRREGULAR.get(event) or _ENDINGS.sub("", event)
    known = [told for told in context.told if re.search(rf"\b{re.escape(stem)}", told.words, re.IGNORECASE)]
    if not known:
        return None
    unit, many = words.unit(match["unit"])
    sign = -1 if match["side"].lower() == "before" else 1
    return spans.shifted(replace(context, told=tuple(known)).narrated(), unit, sign * many * words.cardinal(match["n"]))


def _unit_beside(match: Match, context: Context) -> Span | None:
    """ "It closed the year after": beside what was told last."""
    if match.string[max(0, match.start() - 4) : match.start()].lower() != "the ":
        raise ValueError("no unit is meant")
    sign = -1 if match["side"].lower() == "before" else 1
    return spans.relative(context.narrated(), words.unit(match["unit"])[0], sign)


def _then(_: Match, context: Context) -> Span | None:
    """ "Since then": since what was told last."""
    if not context.told:
        raise ValueError("nothing was told")
    last = context.told[-1]
    return spans.bucket(last.at, last.precision, "B")


def _add(grammar: Grammar, starters: str, template: str, read: Reader, *, loose: bool = False) -> None:
    grammar.add(starters, Rule(compiled(template), read, loose=loose))


def add_rules(grammar: Grammar) -> None:
    """Adds the forms of this module."""
    add = partial(_add, grammar)
    add(words.NUMBER_STARTS, r"<n> <unit> (?:later|afterwards|thereafter|after that)", _later(1))
    add(words.NUMBER_STARTS, r"<n> <unit> (?:earlier|before that)", _later(-1))
    half = r"(?:<n>(?:-| )(?:years? and a half|and a half years?)|half a year) later"
    add(words.NUMBER_STARTS + " half", half, _half_later)
    event = rf"(?:its|his|her|their|the|that|this)(?: own| official| formal)? (?P<event>{_EVENTS})\b" + _OF_DATE
    add(words.NUMBER_STARTS, r"<n> <unit> (?P<side>after|before) " + event, _after_event)
    beside = r"(?P<unit>day|week|month|quarter|year) (?P<side>after|before)(?=[.,;:!?)]|$)"
    add("day week month quarter year", beside, _unit_beside)
    add("then", r"then", _then, loose=True)
