"""A value as the text writes it, normalised by the same reader that the built-in extractor uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from substrate.extraction.builtin.amounts import amounts_in, parse_amount, unit_named
from substrate.extraction.claims import Value
from substrate.extraction.times import Anchor, NumericOrder, parse_time

_PER = re.compile(r"\b(year|annum|month|week|day|hour|annually|monthly|yearly|p\.a\.)\.?$", re.IGNORECASE)
_PERIODS = {"annum": "year", "annually": "year", "yearly": "year", "p.a.": "year", "monthly": "month"}
Qualifiers = tuple[tuple[str, str], ...]


def read_value(
    raw: str, unit: str, quote: str, holds: Callable[[str], bool], order: NumericOrder | None = None
) -> tuple[Value, Qualifiers] | None:
    """What `raw` with `unit` means, and the period of a rate ("per year"); None if the text does not have it.

    `holds` says whether words stand in the text, `order` how its dates in figures are meant. A number that the model
    wrote anew ("32000" for "32,000") is taken as `quote` spells it, where the quote has exactly one such amount.
    """
    spelt = _spelt(raw, unit, holds)
    if spelt is None:
        same = [a.value for a in amounts_in(quote) if a.value.number == parse_amount(raw, None).number is not None]
        if len(same) != 1:
            return None
        spelt = same[0].raw
    value = _with_unit(parse_amount(spelt, unit_named(unit) if unit else None), unit, holds)
    if value.number is None and parse_time(spelt, Anchor(None, None, order=order)) is not None:
        value = Value(spelt, datatype="date")
    per = _PER.search(spelt) if value.datatype == "money" else None
    if per is None:
        return value, ()
    period = per.group(1).lower()
    return value, (("per", _PERIODS.get(period, period)),)


def _spelt(raw: str, unit: str, holds: Callable[[str], bool]) -> str | None:
    """The longest of raw and unit, in either order, that stands in the text and is one amount."""
    if unit and unit not in raw:
        for words in (f"{raw} {unit}", f"{unit} {raw}"):
            if holds(words) and parse_amount(words).number is not None:
                return words
    return raw if holds(raw) else None


def _with_unit(value: Value, unit: str, holds: Callable[[str], bool]) -> Value:
    if value.number is None or value.unit is not None or not unit or not holds(unit):
        return value
    return replace(value, unit=f"{{{unit.lower()}}}")
