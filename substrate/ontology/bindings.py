"""What was decided of phrases, as rows on the record clock: by declared words, similarity, votes, or a person."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.ontology.terms import Decided


def held_decisions(connection: AnyConnection, kb_id: UUID) -> Mapping[str, Decided]:
    """Plain phrase → what is decided of it now, but for what the declared words say themselves."""
    rows = connection.execute(sql.query("binding_decisions"), {"kb_id": kb_id}).fetchall()
    return {r["phrase"]: Decided(r["predicate_key"], r["backwards"], r["by_person"]) for r in rows}
