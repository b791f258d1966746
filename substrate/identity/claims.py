"""Claims as the entities and facts stages read them: with their document, its date, and their binding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.extraction.claims import ClaimTime, Value
from substrate.ontology.binding import Bound, bind
from substrate.ontology.terms import Ontology

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BoundClaim:
    """A claim that may become a fact, bound, with where it stands."""

    row: Row
    bound: Bound
    kind: Literal["file", "memory"]
    attested_at: datetime | None
    """The date the document states of itself, never when it was taken in."""

    @property
    def id(self) -> UUID:
        found: UUID = self.row["id"]
        return found

    @property
    def time(self) -> ClaimTime:
        r = self.row
        return ClaimTime(
            valid_from=r["valid_from"],
            valid_from_precision=r["valid_from_precision"],
            valid_to=r["valid_to"],
            valid_to_precision=r["valid_to_precision"],
            grade=r["grade"],
            words=r["time_words"],
            at_event=r["at_event"],
        )


def value_of(row: Row) -> Value | None:
    """The literal of a claim row, if its object is one."""
    if row["value_raw"] is None:
        return None
    return Value(row["value_raw"], row["value_number"], row["value_unit"], row["value_type"])


def bound_claims(
    connection: AnyConnection, kb_id: UUID, chunk_ids: Sequence[UUID], extractor: str, ontology: Ontology
) -> list[BoundClaim]:
    """Claims of these chunks that state something as so, of versions that are still held, in reading order."""
    parameters = {"kb_id": kb_id, "ids": list(chunk_ids), "extractor": extractor}
    rows = connection.execute(sql.query("claims_of_chunks"), parameters).fetchall()
    return [bound_claim(row, ontology) for row in rows]


def bound_claim(row: Row, ontology: Ontology) -> BoundClaim:
    """Bind one claim row as read by ``claims_of_chunks`` or ``claim_by_id``."""
    bound = bind(
        ontology,
        subject=row["subject"],
        phrase=row["phrase"],
        object_name=row["object"],
        value=value_of(row),
        subject_kind=row["subject_kind"],
        object_kind=row["object_kind"],
        wording=row["wording"],
    )
    return BoundClaim(row, bound, row["document_kind"], row["attested_at"])
