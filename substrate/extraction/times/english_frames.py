"""How English governs a date: prepositions before it, "onwards" after it, and ranges of two dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from substrate.extraction.times import english, english_clock, english_doubts, english_reach, spans, words
from substrate.extraction.times.english_governors import Governed, governed_by
from substrate.extraction.times.frames import REMEMBERED, mention, told_by
from substrate.extraction.times.records import Anchor, Dated, NumericOrder, Shape, TimeMention
from substrate.extraction.times.rules import Core
from substrate.extraction.times.spans import Context, Span

_NOT_AFTER_YEAR = re.compile(
    r" {1,2}(?:[0-9]|(?:(?:more|new|other|different|active|full|unique|total|small|large) )?(?:employees|people|users|"
    r"rooms|cases|items|units|kg|km|m|cm|mm|miles|meters|metres|feet|ft|kb|mb|gb|tb|ms|usd|eur|gbp|cny|rmb|dollars|"
    r"euros|pounds|yuan|yen|percent|pages|words|lines|rows|files|records|documents|times|points|participants|"
    r"members|students|customers|copies|tons|tonnes|watts|volts|hours|minutes|seconds|days|weeks|months|years|"
    r"residents|inhabitants|soldiers|workers|seats|votes|shares|vehicles|cars|homes|houses|patients|requests|"
    r"calories|steps|degrees|square|cubic|million|billion|thousand|hundred|or so|bce?|b\.c\.)\b)",
    re.IGNORECASE,
)
_YEAR_NOUN = re.compile(
    r" {1,2}(?:annual|budget|revenues?|results|report|season|edition|elections?|census|olympics|world cup|"
    r"sales|forecast|fiscal|financial|strategy|roadmap|census|plan|target|strategic|guidance|accounts)\b",
    re.IGNORECASE,
)
_FOR_YEAR = re.compile(r" {1,2}(?:was|were|is|are|will|amounted|came|reached|totall?ed|stood|rose|fell|grew)\b|[.;)]|$")
_JOIN = re.compile(r" ?(?P<mark>-|~) ?| (?P<word>to|until|til|till|through|thru|and|up to)(?= )", re.IGNORECASE)
_JOIN_EXTRA = re.compile(
    r" {1,2}(?:(?:(?:end|beginning|start|middle) of|in|on|the|early|mid|late)[ -])*",
    re.IGNORECASE,
)
_ONWARDS = re.compile(
    r",? (?:onwards?|or later|or after|and later|and after|and beyond)(?![\w-])| on(?=[,.;]|$)", re.IGNORECASE
)
_OR_EARLIER = re.compile(r" (?:or|and) (?:earlier|before)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[0-9]+|[A-Za-z]+")
_FUTURE = re.compile(
    r"\b(?:will|shall|going to|plans?|planned|scheduled|expects?|expected|due|would|upcoming|intends?|let's|"
    r"please|book|arrange|schedule|meet|remind)\b|'ll\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|went|came|left|became|took|made|began|met|bought|sold|got|ran|won|lost|said|has|have|"
    r"hired|[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_EVENT_ON = re.compile(r" (?:on|in) (?:the )?", re.IGNORECASE)
_YEAR_LIST = re.compile(r"(?<![0-9.,])(?:19|20)[0-9]{2},? (?:and|or|(?:but |and )?not(?: in)?) $")
_CUE = re.compile(r"\b(?:due|deadline|dated?|expir(?:y|es|ed)|eta)(?: (?:is|was|date|on|by))?\W{0,3}$", re.IGNORECASE)
_LIST = re.compile(r",? (?:and|or|&) |, |/")
_QUARTER_NOUN = re.compile(
    r" {1,2}(?:results?|revenues?|sales|earnings|reports?|budgets?|targets?|figures|numbers|roadmaps?|planning|"
    r"reviews?|guidance|forecasts?|profits?|deliver(?:y|ies|ables)|goals|okrs|close|launch|release|performance|financials)\b",
    re.IGNORECASE,
)
_QUARTER_LIST = re.compile(r"(?:,? (?:and|or|&) |, ?|/|-)q[1-4](?![0-9a-z])", re.IGNORECASE)
_QUARTER_LISTED = re.compile(r"(?<![0-9a-z])q[1-4](?:,? (?:and|or|&) |, ?|/)$", re.IGNORECASE)
_TO_NUMBER = re.compile(r" {1,2}(?:to|-) {1,2}[0-9]")
_PRESENT = re.compile(r" {0,2}(?:the )?(?:present(?: day)?|now|current(?: date)?|date|ongoing)(?![\w-])", re.IGNORECASE)
_WEEKDAY_LIST = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?:or|and) $", re.IGNORECASE)


_IN_A_NAME = re.compile(r"(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9](?=[-_./]|$)")
_DAY_IN_A_NAME = re.compile(r"(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]$")
"""A whole date in a file's name or an address: nothing else looks like it."""


def _boundary(text: str, end: int) -> bool:
    """Whether a date may end here: no letter, no further digits of a number, no per cent sign."""
    after = text[end : end + 2]
    if not after:
        return True
    if after[0].isalnum() and after[0] < "\u2e80":
        return False
    if after[0] in "_%@\\":
        return after[0] == "_" and _DAY_IN_A_NAME.search(text, max(0, end - 10), end) is not None
    return not (text[end - 1].isdigit() and after[0] in ".,:/" and after[1:].isdigit())


def _opening(text: str, start: int) -> bool:
    """Whether a date may begin here."""
    if not start:
        return True
    before = text[start - 1]
    if before.isalnum() and before < "\u2e80":
        return False
    if before == "-":
        named = bool(_IN_A_NAME.match(text, start))
        return named or text[max(0, start - 5) : start - 1].lower().endswith(("early", "mid", "late"))
    if before in "$€£¥#_&+\\/@=":
        return before in "_/" and bool(_IN_A_NAME.match(text, start))
    return not (before in ".,:" and text[start - 2 : start - 1].isdigit())


def _direction(text: str, start: int) -> int:
    begin = max(text.rfind(mark, max(0, start - 200), start) for mark in ".!?;\n")
    clause = text[max(begin, start - 200, 0) : start]
    if _FUTURE.search(clause):
        return 1
    return -1 if _PAST.search(clause) else 0


@dataclass(slots=True)
class Reader:
    """One text being read."""

    text: str
    anchor: Anchor | None
    order: NumericOrder | None = None
    whole: bool = False
    """The text is one expression: loose forms count without a preposition."""
    told: tuple[Dated, ...] = ()

    def __post_init__(self) -> None:
        self.told = self.anchor.told if self.anchor else ()

    def mentions(self) -> Iterator[TimeMention]:
        done = 0
        rules, gates = english.grammar().rules, english.gates()
        for token in _TOKEN.finditer(self.text):
            start = token.start()
            if start < done:
                continue
            key = _key(token[0])
            if key not in rules or not _opening(self.text, start):
                continue
            if key in gates and not gates[key].match(self.text, start):
                continue
            core = self._core(start, key)
            found = core and self._safely(core)
            if found and found.start >= done:
                yield found
                done = found.end
                self.told = (*self.told, *told_by(found, self.text))[-REMEMBERED:]

    def _safely(self, core: Core) -> TimeMention | None:
        """None where a date turns out to lie outside the years 1 to 9999."""
        try:
            return self._mention(core)
        except (ValueError, LookupError, OverflowError):
            return None

    def _context(self, start: int) -> Context:
        direction = _direction(self.text, start) if self.anchor else 0
        return Context(self.anchor, direction, order=self.order, told=self.told)

    def _core(self, start: int, key: str) -> Core | None:
        return english.grammar().longest(self.text, start, key, self._context(start), _boundary)

    def _mention(self, core: Core) -> TimeMention | None:
        governed = governed_by(self.text, core)
        if english_doubts.doubtful(self.text, core, governed):
            return None
        if core.span and core.span.kind == "interval" and " and " in core.match[0].lower():
            between = self._between(governed)
            if between is None:
                return None
            return mention(self.text, between, core.end, governed.core_start, "interval", core.span)
        if "event" in core.match.re.groupindex and (dated := self._dated_event(core)) is not None:
            return dated
        joined = self._range(core, governed) or english_reach.beside(self.text, core, governed)
        if joined is not None:
            return joined
        if english_reach.refused(self.text, core, governed):
            return None
        joined_on = self.text[core.end : core.end + 1] == "-" and self.text[core.end + 1 : core.end + 2].isdigit()
        in_a_name = core.start and self.text[core.start - 1] in "-_/"
        if joined_on and not (in_a_name and _DAY_IN_A_NAME.fullmatch(self.text, core.start, core.end)):
            return None
        if core.rule.duration:
            shape: Shape = "since" if core.span else "duration"
            if core.match["now"] is not None:
                shape = "since"
            return mention(self.text, core.start, core.end, core.start, shape, core.span)
        if core.rule.loose and not self._accepted(core, governed):
            return None
        return self._single(core, governed)

    def _dated_event(self, core: Core) -> TimeMention | None:
        """ "Two days before its launch on 5 May 2023": the event's own date stands behind it."""
        link = _EVENT_ON.match(self.text, core.end)
        token = link and _TOKEN.match(self.text, link.end())
        dated = token and self._core(token.start(), _key(token[0]))
        if dated is None:
            return None
        sign = -1 if core.match["side"].lower() == "before" else 1
        span = dated.span and english_reach.away(dated.span, core.match, sign)
        return mention(self.text, core.start, dated.end, core.start, "point", span)

    def _single(self, core: Core, governed: Governed) -> TimeMention:
        span, end, start, core_start = core.span, core.end, governed.start, governed.core_start
        if governed.shape in ("by", "until") and core.rule.yearless and self._context(core.start).direction == 0:
            span = core.again(replace(core.context, direction=1))
        if core.rule.yearless:
            span = self._lent(core) or span
        if span and governed.part:
            span = spans.part_of(span, governed.part)
        shape = governed.shape or "point"
        if (shape, governed.part) == ("before", "end"):
            shape = "by"
        elif (shape, governed.part) == ("after", "start"):
            shape = "since"
        if span and span.unit is None and span.precision == "day" and span.kind == "point":
            span, end, start, core_start = self._clock(core, governed, span)
        if core.rule.loose and governed.shape is None and not governed.modified:
            start = core_start = core.start
        onwards = _ONWARDS.match(self.text, end)
        if (
            onwards
            and shape in ("point", "since", "as_of")
            and not (onwards[0].strip().lower() == "on" and shape == "point")
        ):
            shape, end = "since", onwards.end()
        earlier = _OR_EARLIER.match(self.text, end)
        if earlier and shape == "point":
            shape, end = "by", earlier.end()
        if shape in ("point", "since") and (core.rule.interval or (span and span.kind == "interval")):
            shape = "interval"
        return mention(self.text, start, end, core_start, shape, span)

    def _clock(self, core: Core, governed: Governed, span: Span) -> tuple[Span, int, int, int]:
        """Takes in a clock time beside the date; it refines the date only where a zone is written."""
        end, start, core_start = core.end, governed.start, governed.core_start
        after = english_clock.clock_after(self.text, end)
        if after and _boundary(self.text, after.end()):
            return english_clock.refined(span, after), after.end(), start, core_start
        if governed.shape in (None, "point") and not governed.modified:
            before = english_clock.clock_before(self.text, max(0, core.start - 40), core.start)
            if before:
                return english_clock.refined(span, before[1]), end, before[0], before[0]
        return span, end, start, core_start

    def _accepted(self, core: Core, governed: Governed) -> bool:
        """Whether a word or number that is not always a date is one here."""
        text, said = self.text, self.text[core.start : core.end]
        if self.whole:
            return True
        if not said[0].isdigit():
            if said.lower() == "now":
                return governed.shape in ("until", "since") and governed.word not in ("effective", "starting")
            if said.lower() == "then":
                return governed.word in ("since", "ever since", "until", "till", "up until")
            if said[0] in "qQ" and self._quarterly(core):
                return True
            if governed.word == "at" and said.lower().endswith("end"):
                return True
            if core.rule.yearless and _WEEKDAY_LIST.search(text[max(0, core.start - 16) : core.start]):
                return True
            return governed.modified or (governed.shape is not None and governed.word not in ("for", "at", "over"))
        if not said.isdigit() and (core.start, core.end) == (0, len(text)):
            return True
        if _CUE.search(text[max(0, core.start - 24) : core.start]) and len(said) > 4:
            return True
        if _NOT_AFTER_YEAR.match(text, core.end) or _TO_NUMBER.match(text, core.end):
            return False
        if not said.isdigit():
            return governed.shape is not None or governed.modified
        if text[governed.core_start - 1 : governed.core_start] == "(" and text[core.end : core.end + 1] == ")":
            return 1800 <= int(said) <= 2100
        if governed.modified or governed.core_start < core.start:
            return text[governed.core_start : core.start].lower() != "the " or bool(_YEAR_NOUN.match(text, core.end))
        if governed.word == "for":
            return 1990 <= int(said) <= 2099 and bool(_FOR_YEAR.match(text, core.end))
        if governed.word in ("at", "over"):
            return False
        if _ONWARDS.match(text, core.end) and 1900 <= int(said) <= 2099:
            return True
        if governed.shape or _YEAR_LIST.search(text[max(0, core.start - 20) : core.start]):
            return True
        return 1900 <= int(said) <= 2099 and bool(_YEAR_NOUN.match(text, core.end))

    def _quarterly(self, core: Core) -> bool:
        """Whether a bare "Q1" is a quarter by what stands beside it."""
        text = self.text
        listed = _QUARTER_LIST.match(text, core.end) or _QUARTER_LISTED.search(
            text[max(0, core.start - 8) : core.start]
        )
        return bool(listed or _QUARTER_NOUN.match(text, core.end))

    def _lent(self, core: Core) -> Span | None:
        """A date without a year in a list takes it from the next one that has one: "in March and April 2023"."""
        at, context = core.end, core.context
        for _ in range(6):
            joint = _LIST.match(self.text, at)
            token = joint and _TOKEN.match(self.text, joint.end())
            following = token and self._core(token.start(), _key(token[0]))
            if following is None or following.rule.duration:
                return None
            if not following.rule.yearless:
                span = following.span
                same = span and core.span and span.precision == core.span.precision and span.unit == core.span.unit
                if not (span and (same or core.span is None)) or span.precision == "year" or span.kind == "interval":
                    return None
                lent = core.again(replace(context, year=span.start.year))
                return lent and (replace(lent, grade="B") if span.grade == "B" else lent)
            at = following.end
        return None

    def _range(self, first: Core, governed: Governed) -> TimeMention | None:
        join = _JOIN.match(self.text, first.end)
        if join is None or governed.shape not in (None, "since", "point"):
            return None
        opened = governed.word in ("from", "starting", "beginning", "in") or governed.shape == "since"
        between = self._between(governed)
        if (join["word"] or "").lower() == "and" and between is None:
            return None
        present = _PRESENT.match(self.text, join.end())
        if present and between is None and (opened or governed.shape is None):
            return mention(self.text, governed.start, present.end(), governed.core_start, "since", first.span)
        last, extra = self._far_end(join)
        if last is None or last.rule.duration or (last.span and last.span.kind == "interval"):
            return None
        sure = opened or between is not None or self.whole or not (first.rule.loose and last.rule.loose)
        if not sure and not self._years(first, last):
            return None
        if last.rule.loose and _NOT_AFTER_YEAR.match(self.text, last.end):
            return None
        left, right = self._aligned(first, last)
        start = between if between is not None else governed.start
        core_start = governed.core_start
        if left is None or right is None:
            return mention(self.text, start, last.end, core_start, "interval", None)
        if governed.part:
            left = spans.part_of(left, governed.part)
        if extra and "of" in extra[0].lower():
            right = spans.part_of(right, "end" if "end" in extra[0].lower() else "start")
        try:
            span = spans.join(left, right)
        except ValueError:
            return None
        return mention(self.text, start, last.end, core_start, "interval", span)

    def _far_end(self, join: re.Match[str]) -> tuple[Core | None, re.Match[str] | None]:
        """The date after the joint, and the words before it ("the end of"), unless they belong to the date."""
        extra = _JOIN_EXTRA.match(self.text, join.end()) if join["word"] else None
        for at in (join.end() + 1, extra.end()) if extra else (join.end(),):
            token = _TOKEN.match(self.text, at)
            last = token and self._core(at, _key(token[0]))
            if last is not None:
                return last, extra if extra and at == extra.end() else None
        return None, None

    def _between(self, governed: Governed) -> int | None:
        """Where "between" begins, if it stands right before the first date."""
        match = re.search(
            r"\bbetween $", self.text[max(0, governed.core_start - 9) : governed.core_start], re.IGNORECASE
        )
        return governed.core_start - 8 if match else None

    def _years(self, first: Core, last: Core) -> bool:
        """Whether two bare numbers, ungoverned, are a span of years."""
        said = self.text[first.start : first.end], self.text[last.start : last.end]
        if not (said[0].isdigit() and said[1].isdigit()):
            return not said[0].isdigit()
        if not 1800 <= int(said[0]) < int(said[1]) <= 2100:
            return False
        before = self.text[max(0, first.start - 12) : first.start]
        return not english_doubts.NUMBERED.search(before) and not _NOT_AFTER_YEAR.match(self.text, last.end)

    def _aligned(self, first: Core, last: Core) -> tuple[Span | None, Span | None]:
        """Both ends of a range, each with the year that the other lends."""
        left, right, context = first.span, last.span, self._context(first.start)
        if left and all(english_doubts.WEEKDAY.fullmatch(self.text, core.start, core.end) for core in (first, last)):
            ahead = words.WEEKDAYS[self.text[last.start : last.end].lower().rstrip("s")] - left.start.weekday()
            return left, replace(spans.unit_at(left.start, "day", ahead % 7), grade="B")
        if first.rule.yearless and last.rule.yearless:
            return spans.alike(context, first.again, last.again)
        if right and right.grade == "B" and english_doubts.WEEKDAY.fullmatch(self.text, first.start, first.end):
            # "From Tuesday to Thursday next week": both of that week.
            day = words.WEEKDAYS[self.text[first.start : first.end].lower()]
            week = spans.week_of(right.start)
            return replace(spans.unit_at(week.start, "day", day), grade="B"), right
        if first.rule.yearless and not last.rule.yearless and right:
            left = first.again(replace(context, year=right.start.year))
            if left and left.start > right.start:
                left = first.again(replace(context, year=right.start.year - 1))
            if left and right.grade == "B":
                left = replace(left, grade="B")
        elif last.rule.yearless and left:
            right = last.again(replace(context, year=left.start.year))
            if right and right.start < left.start:
                right = last.again(replace(context, year=left.start.year + 1))
            if right and left.grade == "B":
                right = replace(right, grade="B")
        return left, right


def _key(token: str) -> str:
    if token[0].isdigit():
        return {1: "1", 2: "1", 4: "4", 8: "8"}.get(len(token), "#")
    return token.lower()
