"""Page cursors that keep their promise: they carry the sequence number the first page stood on.

At one sequence number a list never changes, so that an offset into it is exact and later pages neither repeat nor
skip a row whatever is written meanwhile. A cursor belongs to the question it was given for; it grants nothing that
the question itself would not.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.reads.moments import envelope, resolve


@dataclass(frozen=True, slots=True)
class Page:
    """Where a read stands on the record clock and in its list."""

    as_of: AsOf
    offset: int
    limit: int
    question: str

    def following(self, total: int) -> str | None:
        """The cursor of the next page; None on the last one."""
        end = self.offset + self.limit
        return None if end >= total else _encode(self.as_of.seq, end, self.question)

    def head(self, kb_id: UUID, total: int) -> dict[str, Any]:
        """What a listing says before its rows: where it stands, of how many rows this is a page, and the next one."""
        following = self.following(total)
        return {
            "kb_id": str(kb_id),
            **envelope(self.as_of),
            "total": total,
            "limit": self.limit,
            "truncated": following is not None,
            "next_cursor": following,
        }


@dataclass(frozen=True, slots=True)
class Keyed:
    """A page of a list too long to count: it goes on after the last row shown."""

    as_of: AsOf
    after: tuple[int, str, UUID] | None
    """(recorded_seq, kind, id) of that row; None on the first page."""
    limit: int
    question: str

    def following(self, last: tuple[int, str, UUID]) -> str:
        """The cursor of the page after the row `last`."""
        seq, kind, row = last
        return _encode(self.as_of.seq, f"{seq}:{kind}:{row.hex}", self.question)


def page(
    connection: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    cursor: str | None,
    *,
    limit: int,
    most: int,
    question: tuple[object, ...],
) -> Page:
    """The page that `cursor` names for `question`, else the first. Raises `InvalidInput` naming the field."""
    stands, place, mark = _open(connection, kb_id, as_of, cursor, limit, most, question)
    if place is not None and not (place.isdecimal() and len(place) < 12):
        raise _not_ours()
    return Page(stands, int(place or 0), limit, mark)


def keyed(
    connection: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    cursor: str | None,
    *,
    limit: int,
    most: int,
    question: tuple[object, ...],
) -> Keyed:
    """As `page`, for a list that goes by (recorded_seq, kind, id)."""
    stands, place, mark = _open(connection, kb_id, as_of, cursor, limit, most, question)
    if place is None:
        return Keyed(stands, None, limit, mark)
    try:
        seq, kind, row = place.split(":")
        return Keyed(stands, (_number(seq), kind, UUID(hex=row)), limit, mark)
    except ValueError:
        raise _not_ours() from None


def _open(
    connection: AnyConnection,
    kb_id: UUID,
    as_of: AsOf,
    cursor: str | None,
    limit: int,
    most: int,
    question: tuple[object, ...],
) -> tuple[AsOf, str | None, str]:
    if not 1 <= limit <= most:
        raise InvalidInput(f"limit: must lie between 1 and {most}", field="limit")
    text = json.dumps([str(kb_id), as_of.at_text, *map(str, question)], ensure_ascii=False)
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    if cursor is None:
        return as_of, None, mark
    seq, place, belongs_to = _decode(cursor)
    if belongs_to != mark:
        raise InvalidInput("cursor: it belongs to another question", field="cursor")
    if seq != as_of.seq:
        as_of = resolve(connection, kb_id, at=as_of.at_text, as_of=f"seq:{seq}")
    if as_of.seq != seq:
        raise InvalidInput("cursor: this base has not come that far", field="cursor")
    return as_of, place, mark


def _encode(seq: int, place: object, mark: str) -> str:
    return base64.urlsafe_b64encode(f"{seq}.{place}.{mark}".encode()).decode().rstrip("=")


def _decode(cursor: str) -> tuple[int, str, str]:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
        seq, place, mark = raw.split(".")
        return _number(seq), place, mark
    except ValueError:
        raise _not_ours() from None


def _number(text: str) -> int:
    if not (text.isdecimal() and len(text) < 19):
        raise ValueError
    return int(text)


def _not_ours() -> InvalidInput:
    return InvalidInput("cursor: not a cursor of ours", field="cursor")
