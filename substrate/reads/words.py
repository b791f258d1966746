"""Facts in words, for people and models: the same rows that a structured answer holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

Fact = Mapping[str, Any]
_FORMS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d", "hour": "%Y-%m-%d %H:00Z", "minute": "%Y-%m-%d %H:%MZ"}


def interval(fact: Fact) -> str:
    """The stated interval in words; where none is stated, what vouches for it."""
    if fact["undated"]:
        return "undated"
    start = moment(fact["valid_from"], fact["valid_from_precision"])
    if start is None and fact["attested_from"]:
        start = f"as of {fact['attested_from'][:10]}"
    if fact["end"] == "unknown":
        known = fact["attested_to"] or fact["holds_to"]
        end: str | None = f"ended, date unknown{f', by {known[:10]}' if known else ''}"
    else:
        end = last_moment(fact["valid_to"], fact["valid_to_precision"]) if fact["valid_to"] else None
        if end is not None and fact["end"] == "inferred":
            end += " (next one begins)"
    if fact["temporal"] == "event":
        return start or end or "undated"
    return f"{start or '…'} → {end or 'open'}"


def moment(text: str | None, precision: str | None) -> str | None:
    """An RFC 3339 moment in the form of its precision."""
    if text is None:
        return None
    return datetime.fromisoformat(text).strftime(_FORMS.get(precision or "", "%Y-%m-%d %H:%M:%SZ"))


def last_moment(text: str, precision: str | None) -> str | None:
    """A stored end is the first moment after; people name the last unit that is included."""
    last = datetime.fromisoformat(text) - timedelta(microseconds=1)
    return moment(last.isoformat(), precision)


def value(found: Fact | None) -> str:
    """A literal object: its value with unit, and the source's own spelling where that differs."""
    if found is None:
        return "?"
    plain = f"{found['value']} {found['unit'] or ''}".strip()
    return plain if plain == found["raw"] else f"{plain} ({found['raw']})"


def statement(subject: str, fact: Fact) -> str:
    """One line: who, what, whom or how much, when, and every reason for caution."""
    other = fact["other_name"] or value(fact["object_value"])
    ends = (subject, other) if fact["direction"] == "out" else (other, subject)
    extra = "".join(f" [{q['label']}: {q['value']}]" for q in fact["qualifiers"])
    doubts = [f"{fact['confidence']:.0%}"] if fact["confidence"] < 1 else []
    doubts += ["unconfirmed"] if fact["unconfirmed"] else []
    doubts += ["contested"] if fact["contested"] else []
    doubts += [f"since {fact['since']['invalidated_kind']}"] if fact["since"] else []
    told = f" [{', '.join(doubts)}]" if doubts else ""
    said = " ".join(f"{ends[0]} — {fact['predicate_label']} — {ends[1]}{extra}".split())  # one line, whatever it held
    return f"{said} ({interval(fact)}){told}"
