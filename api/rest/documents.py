"""Documents: push, list with the reasons of failures, read, delete."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field, model_validator

from api.deps import Editor, Reader, StrictRoute
from api.rest.bodies import Body
from api.searching import without_places
from substrate import reads
from substrate.documents import intake
from substrate.documents.checks import PushItem
from substrate.errors import InvalidInput

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}", tags=["documents"])
MAX_BATCH = 500


class PushedDocument(Body):
    """One document: its text, or its bytes as base64."""

    raw = frozenset({"content"})

    external_id: str
    """What the sender calls it; pushing the same name again is a new version."""
    filename: str
    content: str | None = None
    content_base64: str | None = None
    doc_time: str | None = None
    """The date the document bears, never when it was sent."""
    namespace: str = ""
    media_type: str | None = None
    author: str = ""

    @model_validator(mode="after")
    def _one_content(self) -> PushedDocument:
        if (self.content is None) == (self.content_base64 is None):
            raise ValueError("give either content or content_base64")
        return self

    def item(self) -> PushItem:
        """The document for the intake. Raises `InvalidInput` naming it."""
        return PushItem(
            self.external_id,
            self.filename,
            self._bytes(),
            self.doc_time,
            self.namespace,
            self.media_type,
            self.author,
        )

    def _bytes(self) -> bytes:
        try:
            if self.content is not None:
                return self.content.encode()
            return base64.b64decode(self.content_base64 or "", validate=True)
        except (binascii.Error, UnicodeEncodeError, ValueError):
            field = "content" if self.content is not None else "content_base64"
            raise InvalidInput(
                f"document {self.external_id!r}: {field} cannot be read", field=field, document=self.external_id
            ) from None


class Push(Body):
    """A batch, taken in or refused as a whole."""

    documents: list[PushedDocument] = Field(min_length=1, max_length=MAX_BATCH)


@router.post("/documents")
def push(kb_id: UUID, body: Push, who: Editor) -> dict[str, Any]:
    """Take in documents; the pipeline parses them soon. The same name and bytes again are ``unchanged``."""
    results = intake.push(who.db, kb_id, [d.item() for d in body.documents], actor=who.actor, via="rest")
    return {
        "documents": [
            {
                "external_id": r.external_id,
                "document_id": r.document_id,
                "version_id": r.version_id,
                "action": r.action,
            }
            for r in results
        ]
    }


@router.get("/documents")
def list_documents(
    kb_id: UUID,
    who: Reader,
    state: str | None = None,
    kind: str | None = None,
    as_of: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> dict[str, Any]:
    """Documents by file name; ``state=failed`` lists what could not be read, ``incomplete`` what a later stage left."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        answer = reads.list_documents(conn, kb_id, moment, state=state, kind=kind, limit=limit, cursor=cursor)
    return {**answer, "documents": [_told(d) for d in answer["documents"]]}


def _told(document: dict[str, Any]) -> dict[str, Any]:
    """What a model or an endpoint said may name places, which stay on this side."""
    failures = [{**f, "reason": without_places(f["reason"] or "")} for f in document["failures"]]
    return {**document, "failure": document["failure"] and without_places(document["failure"]), "failures": failures}


@router.get("/documents/{document_id}")
def get_document(
    kb_id: UUID, document_id: UUID, who: Reader, offset: int = 0, as_of: str | None = None
) -> dict[str, Any]:
    """One page of a document's text."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        answer = reads.get_document(conn, kb_id, document_id, offset, moment)
    chunk_ids = [UUID(s["chunk_id"]) for s in answer["sections"]]
    who.access_log.served(
        who.principal, kb_id, via="rest", action="get_document", seq=answer["seq"], chunk_ids=chunk_ids
    )
    return answer


@router.delete("/documents/{document_id}")
def delete_document(kb_id: UUID, document_id: UUID, who: Editor, why: str = "") -> dict[str, Any]:
    """Withdraw a document and the facts that rest on it alone. What was held before stays readable as of then."""
    return _deleted(intake.delete(who.db, kb_id, document_id=document_id, actor=who.actor, via="rest", why=why))


@router.delete("/documents")
def delete_by_name(
    kb_id: UUID, who: Editor, external_id: Annotated[str, Query(min_length=1)], why: str = ""
) -> dict[str, Any]:
    """Withdraw a document by the name its sender gave it."""
    return _deleted(intake.delete(who.db, kb_id, external_id=external_id, actor=who.actor, via="rest", why=why))


def _deleted(done: intake.Deleted) -> dict[str, Any]:
    return {
        "document_id": done.document_id,
        "external_id": done.external_id,
        "versions": len(done.version_ids),
        "chunks": done.chunks,
        "retracted_fact_ids": list(done.retracted),
        "weakened_fact_ids": list(done.weakened),
        "deletion_id": done.deletion_id,
        "seq": done.seq,
    }
