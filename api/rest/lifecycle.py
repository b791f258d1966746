"""What becomes of documents that were withdrawn: the deletions with their lists, and their undoing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body
from substrate import reads
from substrate.documents.restore import restore

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["documents"])


class Reason(Body):
    """Why."""

    why: str = ""


@router.get("/deletions")
def list_deletions(
    kb_id: UUID, who: Reader, as_of: str | None = None, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Deletions of documents, newest first, with how much each took and whether it was undone."""
    with who.read() as conn:
        return reads.list_deletions(conn, kb_id, who.moment(conn, as_of=as_of), limit=limit, cursor=cursor)


@router.get("/documents/{document_id}/deletions")
def document_deletions(
    kb_id: UUID,
    document_id: UUID,
    who: Reader,
    as_of: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The deletions of a document, each with the exact list of what it took."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        return reads.document_deletions(conn, kb_id, moment, document_id, limit=limit, cursor=cursor)


@router.post("/deletions/{deletion_id}/restore")
def restore_deleted(kb_id: UUID, deletion_id: UUID, who: Editor, body: Reason | None = None) -> dict[str, Any]:
    """Bring back exactly what a deletion took. What was refused since stays out."""
    why = body.why if body else ""
    done = restore(who.db, kb_id, deletion_id, actor=who.actor, via="rest", why=why)
    return {
        "restoration_id": done.restoration_id,
        "deletion_id": done.deletion_id,
        "document_id": done.document_id,
        "external_id": done.external_id,
        "versions": len(done.version_ids),
        "chunks": done.chunks,
        "fact_ids": list(done.fact_ids),
        "kept_out_fact_ids": list(done.kept_out),
        "refused": done.refused,
        "seq": done.seq,
    }
