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
from uuid import UUID

from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.reads.moments import resolve


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
    if not 1 <= limit <= most:
        raise InvalidInput(f"limit: must lie between 1 and {most}", field="limit")
    text = json.dumps([str(kb_id), as_of.at_text, *map(str, question)], ensure_ascii=False)
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    if cursor is None:
        return Page(as_of, 0, limit, mark)
    seq, offset, belongs_to = _decode(cursor)
    if belongs_to != mark:
        raise InvalidInput("cursor: it belongs to another question", field="cursor")
    if seq != as_of.seq:
        as_of = resolve(connection, kb_id, at=as_of.at_text, as_of=f"seq:{seq}")
    if as_of.seq != seq:
        raise InvalidInput("cursor: this base has not come that far", field="cursor")
    return Page(as_of, offset, limit, mark)


def _encode(seq: int, offset: int, mark: str) -> str:
    return base64.urlsafe_b64encode(f"{seq}.{offset}.{mark}".encode()).decode().rstrip("=")


def _decode(cursor: str) -> tuple[int, int, str]:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
        seq, offset, mark = raw.split(".")
        if not (seq.isdecimal() and offset.isdecimal() and len(seq) < 19 and len(offset) < 12):
            raise ValueError
        return int(seq), int(offset), mark
    except ValueError:
        raise InvalidInput("cursor: not a cursor of ours", field="cursor") from None
