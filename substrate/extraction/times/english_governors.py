"""English prepositions and modifiers before a date: "since", "no later than", "the end of"."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from substrate.extraction.times.records import Shape
from substrate.extraction.times.rules import Core
from substrate.extraction.times.spans import Part

_GOVERNOR_LISTS: tuple[tuple[Shape, str], ...] = (
    ("point", "in|on|at|during|throughout|within|over|for|through all of|back in|dated|dated on"),
    (
        "since",
        "since|ever since|from|starting|starting in|starting on|starting from|beginning|beginning in|"
        "beginning on|beginning from|effective|effective from|effective on|effective as of|effective in|"
        "effective as from|with effect from|as from|commencing|commencing on|commencing in|on or after|"
        "no earlier than|not earlier than|not before|as early as",
    ),
    (
        "until",
        "until|till|til|up to|up until|up through|through|thru|ending|ending in|ending on|valid until|"
        "up to and including",
    ),
    (
        "by",
        "by|no later than|not later than|by no later than|on or before|at the latest by|at the latest",
    ),
    ("before", "before|prior to|earlier than|until before|ahead of"),
    ("after", "after|later than|subsequent to"),
    ("as_of", "as of|as at|as recently as|as late as"),
)
_GOVERNORS: dict[str, Shape] = {phrase: shape for shape, phrases in _GOVERNOR_LISTS for phrase in phrases.split("|")}
_MODIFIERS: dict[str, Part | None] = {
    "first half of": None, "second half of": None, "latter half of": None, "early part of": None,
    "latter part of": None, "better part of": None, "most of": None, "much of": None, "part of": None,
    "course of": None, "rest of": None, "remainder of": None, "end of day": None, "end of day on": None, "eod": None,
    "eod on": None, "cob": None, "cob on": None, "close of business": None, "close of business on": None,
    "end of business": None, "end of business on": None,
    "outset of": "start", "turn of": None, "some time in": None, "morning of": None,
    "afternoon of": None, "evening of": None, "night of": None,
    "early": None, "mid": None, "middle of": None, "late": None, "early in": None, "late in": None,
    "earlier in": None, "later in": None, "sometime in": None, "all of": None,
    "beginning of": "start", "start of": "start", "end of": "end", "close of": "end",
    "the year": None, "year": None, "the year of": None, "month of": None, "year of": None,
}  # fmt: skip
_APPROXIMATE = {"about", "around", "circa", "ca", "approximately", "roughly", "nearly", "almost", "some"}
_ABOUT = {"how", "what", "but", "talk", "talks", "talked", "talking", "ask", "asked", "think", "thinking", "not"}
"""Before "about", which then does not say that the date is a guess."""
_BOUNDING = {"than", "least", "most", "over", "under"}
_PARTICIPLE = re.compile(r"(?:ed|en|wn|ne|ade|uilt|ent|ept|ung|aid|old|un|ound)$", re.IGNORECASE)
_NAMES = {"april", "may", "june", "august"}


@dataclass(frozen=True, slots=True)
class Governed:
    """What stands before a date. ``start`` is where the whole expression begins."""

    start: int
    core_start: int
    shape: Shape | None = None
    word: str = ""
    part: Part | None = None
    modified: bool = False
    refused: bool = False


def _left_words(text: str, at: int) -> list[tuple[str, int]]:
    """Up to seven words that end at `at` with nothing but single blanks between, nearest first."""
    found: list[tuple[str, int]] = []
    low = max(0, at - 48)
    position = at
    while len(found) < 7:
        begin = position
        while begin > low and text[begin - 1] == " ":
            begin -= 1
        if position - begin > 2 or (found and position == begin):
            break
        if not found and position == begin and not (begin > low and text[begin - 1] == "-"):
            break
        end = begin - 1 if not found and text[begin - 1 : begin] == "-" else begin
        word = end
        while word > low and (text[word - 1].isalpha() or text[word - 1] == "'"):
            word -= 1
        if word == end or (word > 0 and text[word - 1].isdigit()):
            break
        found.append((text[word:end].lower(), word))
        position = word
    return found


def _take(left: list[tuple[str, int]], index: int, table: Container[str]) -> int:
    """How many words from `index` on form a phrase of `table`; the longest wins, 0 for none."""
    for count in (5, 4, 3, 2, 1):
        if index + count <= len(left):
            phrase = " ".join(word for word, _ in reversed(left[index : index + count]))
            if phrase in table:
                return count
    return 0


def governed_by(text: str, core: Core) -> Governed:
    left = _left_words(text, core.start)
    index, core_start, modified = 0, core.start, False
    part: Part | None = None
    while index < len(left):
        if left[index][0] == "the":
            index += 1
            continue
        count = _take(left, index, _MODIFIERS)
        phrase = " ".join(word for word, _ in reversed(left[index : index + count]))
        if not count or (phrase == "month of" and "mon" not in core.match.re.groupindex):
            break
        part = part or _MODIFIERS[phrase]
        modified = modified or _MODIFIERS[phrase] is not None or phrase not in ("the year", "year")
        index += count
        core_start = left[index - 1][1]
    if index and left[index - 1][0] == "the":
        core_start = left[index - 1][1]
    nearest = left[index][0] if index < len(left) else ""
    ago = text[core.end - 3 : core.end].lower() == "ago"
    asked = index + 1 < len(left) and left[index + 1][0] in _ABOUT
    if nearest in _APPROXIMATE and not ago and not asked:
        return Governed(core_start, core_start, refused=True)
    counted = ago or re.search(r" (?:from|before|after) ", core.match[0], re.IGNORECASE)
    if nearest in _BOUNDING and counted:
        return Governed(core_start, core_start, refused=True)
    count = _take(left, index, _GOVERNORS)
    if not count:
        return Governed(core_start, core_start, part=part, modified=modified)
    phrase = " ".join(word for word, _ in reversed(left[index : index + count]))
    begin = left[index + count - 1][1]
    before = left[index + count][0] if index + count < len(left) else ""
    name = text[core.start : core.end].lower() in _NAMES and phrase == "by"
    refused = name and not modified and bool(_PARTICIPLE.search(before))
    return Governed(begin, core_start, _GOVERNORS[phrase], phrase, part, modified, refused)
