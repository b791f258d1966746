"""What becomes of documents that were withdrawn: the deletions with their lists, their undoing, and the purge."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request

from api.deps import Editor, Member, Reader, StrictRoute, member_of
from api.rest.bodies import Body
from substrate import reads
from substrate.access.people import ROLES
from substrate.documents.purge import purge
from substrate.documents.restore import restore
from substrate.errors import Forbidden

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["documents"])


class Reason(Body):
    """Why."""

    why: str = ""


class Purge(Body):
    """Why; a purge is not to be done without saying so."""

    why: str


def administrator(request: Request) -> Member:
    """The caller of a route for admins and owners. Raises `Forbidden` before the body is judged."""
    found = member_of(request)
    found.must_write()
    if ROLES.index(found.role) < ROLES.index("admin"):
        raise Forbidden("erasing for good needs an admin or owner of this base")
    return found


Administrator = Annotated[Member, Depends(administrator)]


@router.get("/review/unconfirmed")
def list_unconfirmed(
    kb_id: UUID, who: Reader, as_of: str | None = None, limit: int = 50, cursor: str | None = None
) -> dict[str, Any]:
    """Facts that are held although no passage held says so, oldest first, each with what it rested on."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        return reads.list_unconfirmed(conn, kb_id, moment, limit=limit, cursor=cursor)


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


@router.post("/documents/{document_id}/purge")
def purge_document(kb_id: UUID, document_id: UUID, body: Purge, who: Administrator) -> dict[str, Any]:
    """Erase the words of a deleted document for good; a tombstone stays. It cannot be undone."""
    done = purge(who.db, kb_id, document_id, body.why, actor=who.actor, via="rest")
    return {"purge_id": done.purge_id, "document_id": document_id, "events": done.events, "seq": done.seq}
