"""Times of day beside an English date: they refine it only where a time zone is written."""

from __future__ import annotations

import re
from datetime import timedelta

from substrate.extraction.times import spans
from substrate.extraction.times.spans import Span

Match = re.Match[str]
_ZONES = {
    "utc": 0, "gmt": 0, "z": 0, "wet": 0, "cet": 60, "cest": 120, "eet": 120, "eest": 180, "msk": 180, "jst": 540,
    "kst": 540, "hkt": 480, "sgt": 480, "aest": 600, "aedt": 660, "nzst": 720, "nzdt": 780, "est": -300, "edt": -240,
    "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
}  # fmt: skip
"""Minutes east of Greenwich. CST, IST and BST name several zones each and are left out."""
_ZONE = (
    rf"(?P<zone>(?:utc|gmt) ?[+-][0-9]{{1,2}}(?::?[0-9]{{2}})?|(?:{'|'.join(sorted(_ZONES, key=len, reverse=True))})"
    r"(?![a-z])|[+-][0-9]{2}:?[0-9]{2}(?![0-9]))"
)
_TIME = (
    r"(?:(?P<h>2[0-3]|[01]?[0-9])(?![0-9])(?:(?::|\.(?=[0-5][0-9] ?[ap]\.?m))(?P<min>[0-5][0-9]))?(?::[0-5][0-9])?"
    r"(?: ?(?P<half>[ap])\.?m\b\.?)?|(?P<word>noon|midday|midnight))"
)
_AFTER = re.compile(rf",?(?:(?: at)? |T){_TIME}(?: ?\(?{_ZONE}\)?)?", re.IGNORECASE)
_BEFORE = re.compile(rf"(?<![\w:.])(?:at )?{_TIME}(?: ?\(?{_ZONE}\)?)?,?(?: on)?(?: the)? $", re.IGNORECASE)


def clock_after(text: str, at: int) -> Match | None:
    """A time of day that follows a date ending at `at`."""
    found = _AFTER.match(text, at)
    return found if found and _certain(found) else None


def clock_before(text: str, low: int, at: int) -> tuple[int, Match] | None:
    """A time of day before a date that begins at `at`, and where it begins, not left of `low`."""
    found = _BEFORE.search(text[low:at])
    return (low + found.start(), found) if found and _certain(found) else None


def _certain(found: Match) -> bool:
    """A bare number beside a date may be anything."""
    return bool(found["min"] or found["half"] or found["word"])


def refined(span: Span, clock: Match) -> Span:
    """The day `span` brought to the minute or hour, if the zone is known; "midnight" may be of either end."""
    if clock["zone"] is None or (clock["word"] or "").lower() == "midnight":
        return span
    if clock["word"]:
        hour = 12
    else:
        hour = int(clock["h"])
        if clock["half"]:
            hour = hour % 12 + (12 if clock["half"].lower() == "p" else 0)
    at = span.start.replace(hour=hour, minute=int(clock["min"] or 0))
    at -= timedelta(minutes=_east(clock["zone"]))
    return spans.bucket(at, "minute" if clock["min"] else "hour", span.grade)


def _east(zone: str) -> int:
    zone = zone.lower()
    if zone in _ZONES:
        return _ZONES[zone]
    sign = -1 if "-" in zone else 1
    hours, _, minutes = zone.lstrip("utcgm +-").partition(":")
    if len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    if int(hours) > 14:
        raise ValueError("no such zone")
    return sign * (int(hours) * 60 + int(minutes or 0))
