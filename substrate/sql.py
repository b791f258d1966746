"""Named queries, loaded once from ``sql/*.sql``.

A query begins with ``-- name: some_name``; the comment lines under it say what it returns. Two marks are replaced by
the axis modules' predicates: ``[[held f]]`` / ``[[recorded f]]`` (record clock) and ``[[holds f]]`` (world clock), for
an alias ``f``. Nothing else builds SQL in Python.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import LiteralString, cast

from substrate.axes import transaction_time, valid_time
from substrate.axes.as_of import AsOf

_MARK = re.compile(r"\[\[(held|recorded|holds) (\w+)\]\]")
_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@cache
def _queries() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in sorted(resources.files("substrate").joinpath("sql").iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".sql"):
            continue
        parts = _NAME.split(file.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in found:
                raise RuntimeError(f"two queries are named {name}")
            found[name] = body.strip()
    return found


def query(name: str, as_of: AsOf | None = None) -> LiteralString:
    """The text of a named query with its time marks filled in for `as_of` (None: held now, any valid time).

    The text comes from files of this package alone, which is what the cast vouches for.
    """
    known_seq = as_of.known_seq if as_of else None
    valid_at = as_of.valid_at if as_of else None

    def fill(mark: re.Match[str]) -> str:
        kind, alias = mark.groups()
        if kind == "held":
            return transaction_time.held(alias, known_seq)
        if kind == "recorded":
            return transaction_time.recorded(alias, known_seq)
        return valid_time.holds(alias, valid_at)

    return cast(LiteralString, _MARK.sub(fill, _queries()[name]))  # type: ignore[redundant-cast, unused-ignore]


def parameters(as_of: AsOf, **more: object) -> dict[str, object]:
    """What a query filled for `as_of` binds, with `more`."""
    return {
        **transaction_time.held_parameters(as_of.known_seq),
        **valid_time.holds_parameters(as_of.valid_at),
        **more,
    }
