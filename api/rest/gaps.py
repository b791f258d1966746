"""Questions that found nothing: by demand, reported, laid aside, opened again; and what became of what one recorded."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from api.deps import Editor, Reader, Reviewer, StrictRoute
from api.rest.bodies import Body, Why, why_of
from substrate import gaps, reads

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["gaps"])


class Question(Body):
    """A question that the base could not answer."""

    question: str = Field(min_length=1, max_length=2000)


@router.get("/gaps")
def list_gaps(
    kb_id: UUID,
    who: Reviewer,
    state: Literal["open", "answered", "dismissed", "any"] = "open",
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Questions as they stand now, those asked most first."""
    with who.read() as conn:
        wanted = None if state == "any" else state
        return reads.list_gaps(conn, kb_id, who.moment(conn), state=wanted, limit=limit, cursor=cursor)


@router.post("/gaps", status_code=201)
def report_gap(kb_id: UUID, who: Editor, body: Question) -> dict[str, Any]:
    """Keep a question; secrets in it are struck out first."""
    with who.read() as conn:
        seq = who.moment(conn).seq
    kept = gaps.keep(who.db, kb_id, body.question, asker=who.actor, via="report_gap", seq=seq)
    return {"gap_id": kept.id, "question": kept.question, "asked": kept.asked, "state": kept.state, "seq": seq}


@router.post("/gaps/{gap_id}/dismiss")
def dismiss(kb_id: UUID, gap_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """Lay an open question aside; it is counted on and stays so."""
    with who.write() as conn:
        gaps.dismiss(conn, kb_id, gap_id, by=who.actor, why=why_of(body))
    return {"gap_id": gap_id, "state": "dismissed"}


@router.post("/gaps/{gap_id}/reopen")
def reopen(kb_id: UUID, gap_id: UUID, who: Editor) -> dict[str, Any]:
    """What was taken for an answer is none."""
    with who.write() as conn:
        gaps.reopen(conn, kb_id, gap_id)
    return {"gap_id": gap_id, "state": "open"}


@router.get("/review/status")
def review_status(
    kb_id: UUID,
    who: Reader,
    document_id: UUID | None = None,
    idempotency_key: str | None = None,
    since: str | None = None,
    as_of: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> dict[str, Any]:
    """What became of what the caller recorded and asked; or of one document."""
    with who.read() as conn:
        return reads.review_status(
            conn,
            kb_id,
            who.moment(conn, as_of=as_of),
            actor=who.actor,
            document_id=document_id,
            idempotency_key=idempotency_key,
            since=since,
            limit=limit,
            cursor=cursor,
        )
