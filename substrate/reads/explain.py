"""Why a fact is held: the words behind it, who vouched for them, what it replaced, what speaks against it, proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.errors import NotFound
from substrate.reads.conflicts import State, list_conflicts, list_corrections
from substrate.reads.entities import names_of
from substrate.reads.facts import fact, with_names_and_evidence
from substrate.reads.history import fact_history
from substrate.reads.moments import envelope, rfc3339
from substrate.reads.shapes import CHECKPOINT, Row, text_or_none

_MOST_ROWS = 200
_KINDS = {"recorded_seq": "insert facts", "invalidated_seq": "close facts"}


def explain_fact(
    conn: AnyConnection, kb_id: UUID, fact_id: UUID, as_of: AsOf, *, checkpoints: Path | None = None
) -> dict[str, Any]:
    """Everything the base had on one fact at `as_of`; `fact_id` is any row of its lineage written by then.

    ``facts`` is the row asked for, told as in `entity_facts` from its subject, with ``subject_id``, ``subject_name``
    and ``held_id`` (the row of its lineage that was held then, or null). ``evidence`` is every statement it rested on,
    with passage, span, reader and whoever confirmed it; ``history`` the rows of the lineage with who wrote and closed
    each, and why; ``conflicts`` and ``corrections`` as their lists tell them; ``proof`` the events of the chained log
    that wrote and closed those rows. ``checkpoint`` is the first signed one under `checkpoints` that covers the row,
    as of today. Raises `NotFound` naming ``fact_id``.
    """
    found = conn.execute(
        sql.query("explain_row", as_of), sql.parameters(as_of, kb_id=kb_id, fact_id=fact_id)
    ).fetchone()
    if found is None:
        raise NotFound("fact_id: no fact with that id in this knowledge base then", field="fact_id")
    history = fact_history(conn, kb_id, as_of, fact_id, limit=_MOST_ROWS)
    lineages = [found["lineage_id"]]
    states: tuple[State, ...] = ("open", "decided")
    disputes = [list_conflicts(conn, kb_id, as_of, state=s, lineages=lineages)["conflicts"] for s in states]
    return {
        "kb_id": str(kb_id),
        **envelope(as_of),
        "facts": [_row(conn, kb_id, as_of, found)],
        "evidence": _evidence(conn, kb_id, as_of, found["lineage_id"]),
        "history": history["items"],
        "history_truncated": history["truncated"],
        "conflicts": [c for listed in disputes for c in listed],
        "corrections": list_corrections(conn, kb_id, as_of, fact_id=fact_id)["corrections"],
        "proof": _proof(conn, kb_id, history["items"]),
        CHECKPOINT: _covering(checkpoints / str(kb_id), found["recorded_seq"]) if checkpoints else None,
    }


def _row(conn: AnyConnection, kb_id: UUID, as_of: AsOf, found: Row) -> dict[str, Any]:
    parameters = sql.parameters(as_of, kb_id=kb_id, ids=[found["id"]])
    rows = conn.execute(sql.query("paths_facts", as_of), parameters).fetchall()
    [told] = with_names_and_evidence(conn, kb_id, as_of, rows)
    names = names_of(conn, kb_id, as_of, {told["subject_id"]})
    return {
        **fact(told),
        "subject_id": str(told["subject_id"]),
        "subject_name": names.get(told["subject_id"]),
        "held_id": text_or_none(found["held_id"]),
    }


def _evidence(conn: AnyConnection, kb_id: UUID, as_of: AsOf, lineage_id: UUID) -> list[dict[str, Any]]:
    parameters = sql.parameters(as_of, kb_id=kb_id, lineage_id=lineage_id)
    rows = conn.execute(sql.query("explain_evidence", as_of), parameters)
    return [_statement(row) for row in rows]


def _statement(row: Row) -> dict[str, Any]:
    confirmed = None
    if row["pending_id"] is not None:
        confirmed = {
            "by": row["decided_by"],
            "at": rfc3339(row["decided_at"]),
            "why": row["why"],
            "proposed_by": row["proposed_by"],
            "pending_id": str(row["pending_id"]),
        }
    return {
        "quote": row["quote"],
        "span": None if row["quote_start"] is None else [row["quote_start"], row["quote_end"]],
        "chunk_id": text_or_none(row["chunk_id"]),
        "section": row["position"],
        "heading_path": row["heading_path"] or [],
        "document_id": text_or_none(row["document_id"]),
        "filename": row["filename"],
        "version": row["version"],
        "doc_time": rfc3339(row["attested_at"]),
        "wording": row["wording"],
        "origin": row["origin"],
        "grade": row["grade"],
        "denies": row["denies"],
        "corrects": row["corrects"],
        "read_by": row["extractor"],
        "recorded_by": row["actor"],
        "via": row["via"],
        "recorded_at": rfc3339(row["recorded_at"]),
        "recorded_seq": row["seq"],
        "confirmed": confirmed,
        "passage": row["passage"],
    }


def _proof(conn: AnyConnection, kb_id: UUID, items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The events of facts; a closing later than the moment asked about is not among them."""
    wanted = [(item["id"], item["recorded_seq"], _KINDS["recorded_seq"]) for item in items if item["kind"] == "fact"]
    wanted += [
        (item["id"], item["closed"]["seq"], _KINDS["invalidated_seq"])
        for item in items
        if item["kind"] == "fact" and item["closed"]
    ]
    ids, seqs, kinds = ([w[n] for w in wanted] for n in range(3))
    rows = conn.execute(sql.query("explain_proof"), {"kb_id": kb_id, "ids": ids, "seqs": seqs, "kinds": kinds})
    return [
        {
            "fact_id": str(row["id"]),
            "event": row["kind"].split()[0],
            "seq": row["seq"],
            "ordinal": row["ordinal"],
            **{name: bytes(row[name]).hex() for name in ("prev_hash", "hash", "head_hash")},
        }
        for row in rows
    ]


def _covering(directory: Path, seq: int) -> dict[str, Any] | None:
    """The first signed checkpoint at or after `seq`, as its whole note; None while none is signed."""
    names = sorted(p.stem for p in (directory / "history").glob("*.txt") if p.stem.isdecimal() and int(p.stem) >= seq)
    if not names:
        return None
    return {"seq": int(names[0]), "note": (directory / "history" / f"{names[0]}.txt").read_text(encoding="utf-8")}
