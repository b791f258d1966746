"""Keeping a question that found nothing, and a person's word that nothing need be found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args
from uuid import UUID

from substrate import sql
from substrate.db import Database, WriteConnection
from substrate.documents.checks import check_text
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.gaps.redaction import STRUCK, redacted

Via = Literal["search_chunks", "context", "find_entities", "report_gap"]
VIAS: tuple[Via, ...] = get_args(Via)
LONGEST = 2000
_ENDS = " \t\r\n?!.,;:¿¡？！。，；：\"'“”‘’"
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Kept:
    """A question as it is kept: in its first words, how often it was asked, and its state."""

    id: UUID
    question: str
    asked: int
    state: str
    asked_seq: int


def plain_question(question: str) -> str:
    """What makes two questions one: their words, whatever the case, the spaces and the marks at their ends."""
    return _SPACE.sub(" ", question).strip(_ENDS).casefold()


def keep(db: Database, kb_id: UUID, question: str, *, asker: str, via: Via, seq: int) -> Kept:
    """Count a question that found nothing when the base stood at `seq`; secrets are struck out first.

    One that was answered before is open again; one laid aside is counted and stays so. Raises `InvalidInput` where
    there is no word in it.
    """
    check_text(question, "question", most=LONGEST)
    said = redacted(question.strip())
    plain = plain_question(said)
    if not plain.replace(STRUCK, "").strip(_ENDS):
        raise InvalidInput("question: there is no word in it but what must not be kept", field="question")
    values = {"kb_id": kb_id, "question": said, "plain": plain, "via": via, "seq": seq}
    with db.write(kb_id) as conn:
        row = conn.execute(sql.query("gap_keep"), values).fetchone()
        assert row is not None  # noqa: S101 - it is inserted or updated
        conn.execute(sql.query("gap_asker"), {"kb_id": kb_id, "gap_id": row["id"], "asker": asker})
    return Kept(**row)


def dismiss(conn: WriteConnection, kb_id: UUID, gap_id: UUID, *, by: str, why: str) -> None:
    """A person lays an open question aside. Raises `NotFound`, and `Conflict` where it is not open."""
    values = {"kb_id": kb_id, "id": gap_id, "by": by, "why": why}
    _change(conn, "gap_dismiss", values, "this question is not open")


def reopen(conn: WriteConnection, kb_id: UUID, gap_id: UUID) -> None:
    """What was taken for an answer is none. Raises `NotFound`, and `Conflict` where it is open."""
    _change(conn, "gap_reopen", {"kb_id": kb_id, "id": gap_id}, "this question is open already")


def _change(conn: WriteConnection, query: str, values: dict[str, object], otherwise: str) -> None:
    if conn.execute(sql.query(query), values).fetchone() is not None:
        return
    if conn.execute(sql.query("gap_state"), values).fetchone() is None:
        raise NotFound("no gap with that id in this knowledge base", field="gap_id")
    raise Conflict(otherwise, field="gap_id")
