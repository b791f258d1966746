"""The state of a base as rows, each as it was written: what snapshots, history and differences are made of.

A row's fields are those of its writing and never change, so that the rows that went and came between two points, taken
from and added to the earlier state, give the later one. What is only true at a point (names, clusters) rides beside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.axes.valid_time import Bucket
from substrate.db import AnyConnection
from substrate.reads.cursors import Keyed
from substrate.reads.entities import names_of
from substrate.reads.moments import rfc3339
from substrate.reads.shapes import Row, confidence, object_value, stated_interval, text_or_none

KINDS = ("entity", "type", "identity", "refusal", "fact")
MOST = 1000
BEFORE_ALL = -1
Key = tuple[int, str, UUID]
_START: Key = (0, "", UUID(int=0))


@dataclass(frozen=True, slots=True)
class Kept:
    """A row of the state: its key, whether it came or went between the points, and the row itself."""

    key: Key
    came: bool
    row: Row

    def item(self) -> dict[str, Any]:
        """The row as it was written."""
        kind = self.key[1]
        written = {"recorded_at": rfc3339(self.row["recorded_at"]), "recorded_seq": self.row["recorded_seq"]}
        return {"kind": kind, "id": str(self.key[2]), **_FIELDS[kind](self.row), **written}

    @property
    def ends(self) -> set[UUID]:
        """Entities that the row is about."""
        named = ("subject_id", "object_id", "entity_id", "canonical_id")
        own = {self.row["id"]} if self.key[1] == "entity" else set()
        return own | {self.row[n] for n in named if self.row.get(n) is not None}


def keys(
    conn: AnyConnection, kb_id: UUID, query: str, page: Keyed, bound: Mapping[str, object]
) -> tuple[list[tuple[Key, bool]], str | None]:
    """Keys of one page of the state query named `query`, each with whether it came, and the cursor that follows."""
    seq, kind, row = page.after or _START
    values = {"kb_id": kb_id, "after_seq": seq, "after_kind": kind, "after_id": row, "limit": page.limit + 1, **bound}
    found = conn.execute(sql.query(query, page.as_of), sql.parameters(page.as_of, **values)).fetchall()
    shown = [((r["recorded_seq"], r["kind"], r["id"]), r["came"]) for r in found[: page.limit]]
    return shown, page.following(shown[-1][0]) if len(found) > page.limit else None


def rows(
    conn: AnyConnection, kb_id: UUID, found: Sequence[tuple[Key, bool]], *, lineage_id: UUID | None = None
) -> list[Kept]:
    """The rows of these keys, in their order: one query per kind."""
    wanted: dict[str, list[UUID]] = defaultdict(list)
    for (_, kind, row_id), _came in found:
        wanted[kind].append(row_id)
    read: dict[Key, Row] = {}
    for kind, ids in wanted.items():
        parameters = {"kb_id": kb_id, "ids": ids} | ({"lineage_id": lineage_id} if kind == "evidence" else {})
        for row in conn.execute(sql.query(_QUERIES[kind]), parameters):
            read[row["recorded_seq"], kind, row["id"]] = row
    return [Kept(key, came, read[key]) for key, came in found]


def names(conn: AnyConnection, kb_id: UUID, as_of: AsOf, kept: Collection[Kept]) -> dict[str, dict[str, str | None]]:
    """Written entity id → ``{"id": its cluster then, "name": that cluster's name then}``."""
    written = set().union(*(k.ends for k in kept))
    if not written:
        return {}
    parameters = sql.parameters(as_of, kb_id=kb_id, ids=list(written))
    moved = conn.execute(sql.query("state_canonical", as_of), parameters).fetchall()
    stood = {row["entity_id"]: row["canonical_id"] for row in moved}
    named = names_of(conn, kb_id, as_of, {stood.get(i, i) for i in written})
    return {str(i): {"id": str(stood.get(i, i)), "name": named.get(stood.get(i, i))} for i in sorted(written, key=str)}


def transactions(conn: AnyConnection, kb_id: UUID, seqs: Collection[int]) -> Mapping[int, dict[str, Any]]:
    """Who did it, through what, and why, by sequence number."""
    found = conn.execute(sql.query("state_transactions"), {"kb_id": kb_id, "seqs": sorted(seqs)})
    return {
        row["seq"]: {
            "seq": row["seq"],
            "at": rfc3339(row["recorded_at"]),
            **{k: row[k] for k in ("actor", "via", "action", "why")},
        }
        for row in found
    }


def bounds(name: str, bucket: Bucket | None) -> dict[str, datetime | None]:
    """A bucket of the world as what the state queries bind for the point `name` (``a`` or ``b``)."""
    return {f"start_{name}": bucket.start if bucket else None, f"end_{name}": bucket.end if bucket else None}


def _fact(row: Row) -> dict[str, Any]:
    return {
        "lineage_id": str(row["lineage_id"]),
        "subject_id": str(row["subject_id"]),
        "predicate_key": row["predicate_key"],
        "phrase": row["phrase"],
        "object_id": text_or_none(row["object_id"]),
        "object_value": object_value(row),
        "qualifiers": row["qualifiers"],
        "temporal": row["temporal"],
        **stated_interval(row),
        "valid_to_origin": row["valid_to_origin"],
        "holds_from": rfc3339(row["holds_from"]),
        "holds_to": rfc3339(row["holds_to"]),
        "undated": row["undated"],
        "attested_from": rfc3339(row["attested_from"]),
        "attested_to": rfc3339(row["attested_to"]),
        "grade": row["grade"],
        "confidence": confidence(row),
        "supersedes": text_or_none(row["supersedes"]),
    }


def _identity(row: Row) -> dict[str, Any]:
    return {"canonical_id": str(row["canonical_id"]), "merge_id": str(row["merge_id"])}


def _refusal(row: Row) -> dict[str, Any]:
    return {
        "subject_id": str(row["subject_id"]),
        "predicate_key": row["predicate_key"],
        "phrase": row["phrase"],
        "object_id": text_or_none(row["object_id"]),
        "value_norm": row["value_norm"],
        "why": row["why"],
    }


def _evidence(row: Row) -> dict[str, Any]:
    return {
        "lineage_id": str(row["lineage_id"]),
        "quote": row["quote"],
        "document_id": text_or_none(row["document_id"]),
        "filename": row["filename"],
        "chunk_id": text_or_none(row["chunk_id"]),
        "doc_time": rfc3339(row["attested_at"]),
        **{k: row[k] for k in ("wording", "origin", "denies", "corrects")},
    }


_FIELDS: Mapping[str, Callable[[Row], dict[str, Any]]] = {
    "entity": lambda row: {"label": row["label"]},
    "type": lambda row: {"entity_id": str(row["entity_id"]), "type_key": row["type_key"], "source": row["source"]},
    "identity": _identity,
    "refusal": _refusal,
    "fact": _fact,
    "evidence": _evidence,
}
_QUERIES: Mapping[str, str] = {
    "entity": "state_entities",
    "type": "state_types",
    "identity": "state_identities",
    "refusal": "state_refusals",
    "fact": "state_facts",
    "evidence": "state_evidence",
}
