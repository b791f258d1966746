"""Which facts and passages an answer hands out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from api.deps import Member


def fact_ids_in(answer: Mapping[str, Any]) -> list[UUID]:
    """Ids of the facts shown, in order."""
    found = [f["id"] for f in answer.get("facts", ())]
    found += [c["fact_id"] for c in answer.get("changes", ()) if c["fact_id"] is not None]
    found += [n["fact_id"] for n in answer.get("neighbors", ())]
    found += [e["fact_id"] for path in answer.get("paths", ()) for e in path["edges"]]
    rows = [row for name in ("items", "added", "removed") for row in answer.get(name, ())]
    found += [row["id"] for row in rows if row["kind"] == "fact"]
    return [UUID(i) for i in found]


def chunk_ids_in(answer: Mapping[str, Any]) -> list[UUID]:
    """Ids of the passages shown, in order."""
    shown = [*answer.get("chunks", ()), *answer.get("sections", ())]
    shown += [passage for document in answer.get("documents", ()) for passage in document.get("passages", ())]
    shown += answer.get("evidence", ())
    return [UUID(c["chunk_id"]) for c in shown if c["chunk_id"] is not None]


def log_facts(who: Member, action: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, once it is written down which facts and passages it hands out over REST."""
    who.access_log.served(
        who.principal,
        who.kb_id,
        via="rest",
        action=action,
        seq=answer["seq"],
        fact_ids=fact_ids_in(answer),
        chunk_ids=chunk_ids_in(answer),
    )
    return answer
