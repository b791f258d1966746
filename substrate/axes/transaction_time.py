"""The record's clock: the only spelling of "was held at".

Rows carry ``recorded_seq`` and ``invalidated_seq``; a read compares sequence numbers alone. "Now" degenerates to a
bare ``is null``, so that the partial indexes over held rows apply. That is legal since no row is ever written with a
future closing, and since a read takes the head's sequence in the same snapshot as the rows.
"""

from __future__ import annotations


def held(alias: str, known_seq: int | None) -> str:
    """SQL: was the row held at `known_seq` (None: is it held now)? Binds ``known_seq``."""
    if known_seq is None:
        return f"{alias}.invalidated_seq is null"
    return (
        f"({alias}.recorded_seq <= %(known_seq)s"
        f" and ({alias}.invalidated_seq is null or {alias}.invalidated_seq > %(known_seq)s))"
    )


def recorded(alias: str, known_seq: int | None) -> str:
    """SQL: had the row been written by `known_seq`, whatever became of it? Binds ``known_seq``."""
    return "true" if known_seq is None else f"{alias}.recorded_seq <= %(known_seq)s"


def held_parameters(known_seq: int | None) -> dict[str, object]:
    """What `held` and `recorded` bind."""
    return {} if known_seq is None else {"known_seq": known_seq}
