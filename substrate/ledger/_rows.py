"""The only module that inserts into ledger tables or closes their rows. Importable by the ledger alone.

One description per table: its columns (beside base and record time), which column names a row, and which columns are
too large to be logged whole and enter the log as a hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, Literal, NamedTuple
from uuid import UUID

from psycopg import sql as pgsql

from substrate import sql
from substrate.db import WriteConnection
from substrate.ledger._arrays import JsonText, array_of_bytes, array_of_texts, takes_arrays
from substrate.ledger._sending import hand_over, sending
from substrate.ledger.canonical import as_stored, canonical_bytes, row_bytes

Table = Literal[
    "assertions",
    "bindings",
    "chunks",
    "conflicts",
    "corrections",
    "defect_waivers",
    "distinctions",
    "document_deletions",
    "document_purges",
    "document_restorations",
    "document_versions",
    "documents",
    "doubts",
    "entities",
    "entity_canonical",
    "entity_types",
    "evidence",
    "facts",
    "human_types",
    "mention_moves",
    "merges",
    "mentions",
    "ontology_terms",
    "pending_facts",
    "refusal_restatements",
    "refusals",
    "retypings",
    "reverts",
    "statement_pushes",
    "verdict_batches",
    "verdicts",
    "withheld",
]

_VALUE = ("value_raw", "value_norm", "value_number", "value_unit", "value_type")
_TRIPLE = ("subject_id", "predicate_key", "phrase", "object_id")
_SIDE = ("subject_id", "object_id", "value_norm", "said", "lineage_id", "assertion_id")


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns of a table that a caller gives; all have ``kb_id``, ``recorded_seq`` and, if `timed`, ``recorded_at``."""

    columns: tuple[str, ...]
    json: frozenset[str] = frozenset()
    binary: frozenset[str] = frozenset()
    hashed: frozenset[str] = frozenset()
    timed: bool = True
    wordless: bool = False
    """Rows of ids and keys alone, which nobody ever has to erase: one event for all that a statement writes."""


SHAPES: Mapping[Table, Shape] = {
    "documents": Shape(("id", "source_id", "external_id", "kind", "namespace")),
    "document_versions": Shape(
        ("id", "document_id", "number", "filename", "media_type", "content_sha256")
        + ("doc_time", "doc_time_precision", "author"),
        binary=frozenset({"content_sha256"}),
    ),
    "chunks": Shape(
        ("id", "document_id", "version_id", "position", "text", "kind", "heading_path", "anchor", "cells")
        + ("body_start", "body_end", "namespace", "parser"),
        json=frozenset({"anchor", "cells"}),
        hashed=frozenset({"text", "cells"}),
    ),
    "document_deletions": Shape(
        ("id", "document_id", "why", "version_ids", "chunk_ids", "assertion_ids", "proposal_ids")
        + ("fact_ids", "weakened_ids")
    ),
    "document_purges": Shape(("id", "document_id", "why")),
    "document_restorations": Shape(("id", "deletion_id", "document_id", "why", "items"), json=frozenset({"items"})),
    "ontology_terms": Shape(("id", "kind", "key", "definition"), json=frozenset({"definition"})),
    "entities": Shape(("id", "label", "label_norm")),
    "entity_types": Shape(("entity_id", "type_key", "source"), wordless=True),
    "merges": Shape(("id", "kept_id", "absorbed_id", "why")),
    "entity_canonical": Shape(("entity_id", "canonical_id", "merge_id")),
    "mentions": Shape(("claim_id", "role", "entity_id", "surface"), timed=False),
    "mention_moves": Shape(("id", "claim_id", "role", "entity_id"), wordless=True),
    "distinctions": Shape(("id", "one_id", "other_id", "why")),
    "doubts": Shape(("id", "one_id", "other_id", "score", "reasons"), json=frozenset({"reasons"})),
    "assertions": Shape(
        (
            "id",
            "source_key",
            *_TRIPLE,
            *_VALUE,
            "qualifiers",
            "stated_from",
            "stated_from_precision",
            "stated_to",
        )
        + (
            "stated_to_precision",
            "at_event",
            "grade",
            "attested_at",
            "denies",
            "corrects",
            "replaces",
            "origin",
            "confidence",
        )
        + (
            "claim_id",
            "chunk_id",
            "document_id",
            "version_id",
            "quote",
            "quote_start",
            "quote_end",
            "wording",
        ),
        json=frozenset({"qualifiers"}),
    ),
    "facts": Shape(
        (
            "id",
            "lineage_id",
            *_TRIPLE,
            *_VALUE,
            "qualifiers",
            "temporal",
            "valid_from",
            "valid_from_precision",
        )
        + ("valid_to", "valid_to_precision", "valid_to_origin", "attested_from", "attested_to", "holds_from")
        + ("holds_to", "undated", "grade", "confidence", "supersedes"),
        json=frozenset({"qualifiers"}),
    ),
    "evidence": Shape(("lineage_id", "assertion_id"), wordless=True),
    "bindings": Shape(
        ("id", "phrase", "predicate_key", "backwards", "method", "basis", "fingerprint", "why", "supersedes"),
        json=frozenset({"basis"}),
        binary=frozenset({"fingerprint"}),
    ),
    "conflicts": Shape(
        ("id", "reason", "predicate_key", "phrase", "reopens")
        + tuple(f"{side}_{column}" for side in ("old", "new") for column in _SIDE)
    ),
    "corrections": Shape(
        ("id", "kind", "assertion_id", "fact_id", "fixes_start", "fixes_end", "seen", "conflict_id", "why")
    ),
    "defect_waivers": Shape(("id", "code", "fingerprint", "why")),
    "pending_facts": Shape(("id", "claim_id", "chunk_id", "document_id", "namespace", "predicate_key", "proposed_by")),
    "refusals": Shape(("id", "subject_id", "predicate_key", "phrase", "object_id", "value_norm", "why")),
    "refusal_restatements": Shape(("refusal_id", "source_key", "document_id")),
    "withheld": Shape(("id", "assertion_id", "refusal_id")),
    "retypings": Shape(("id", "entity_id", "type_key", "why")),
    "human_types": Shape(("id", "entity_id", "type_key", "retyping_id")),
    "statement_pushes": Shape(
        ("id", "document_id", "version_id", "body_sha256", "accepted", "refused", "pushed_by"),
        binary=frozenset({"body_sha256"}),
    ),
    "verdict_batches": Shape(("id", "why")),
    "verdicts": Shape(("batch_id", "pending_id", "refusal_id")),
    "reverts": Shape(("id", "merge_id", "retyping_id", "batch_id", "why")),
}

_ID_COLUMN: Mapping[str, str] = {"entity_types": "entity_id", "entity_canonical": "entity_id"}
HAS_KIND = frozenset({"document_versions", "chunks", "assertions", "facts"})
_NEVER_CLOSED = frozenset(
    {
        "documents",
        "document_deletions",
        "document_purges",
        "document_restorations",
        "entities",
        "mention_moves",
        "merges",
        "mentions",
        "refusal_restatements",
        "retypings",
        "reverts",
        "statement_pushes",
        "verdict_batches",
        "verdicts",
    }
)
CLOSABLE: tuple[Table, ...] = tuple(t for t in SHAPES if t not in _NEVER_CLOSED)
NAMES: Mapping[str, tuple[str, ...]] = {
    **{table: (column,) for table, column in _ID_COLUMN.items()},
    "evidence": ("lineage_id", "assertion_id"),
}


class Written(NamedTuple):
    """A row as two JSON texts, mostly the same one: what the log keeps of it, and what its table takes."""

    logged: bytes
    stored: bytes


class Ready(dict[str, Any]):
    """A row that is in both forms already; nobody may change it any more."""

    __slots__ = ("written",)
    written: Written


def ready(table: Table, rows: Sequence[dict[str, Any]]) -> list[Ready]:
    """Rows with their forms made, for what is done while something else is waited for."""
    found = [Ready(row) for row in rows]
    for row, forms in zip(found, written(table, rows), strict=True):
        row.written = forms
    return found


def written(table: Table, rows: Sequence[Mapping[str, object]]) -> list[Written]:
    """Rows in both forms. The log keeps every column that is not null, large ones as the SHA-256 of their text."""
    shape, names = SHAPES[table], ordered_columns(table)
    encode, odd, values_of = logged_as(table, True), shape.json | shape.binary | shape.hashed, itemgetter(*names)
    found = []
    for row in rows:
        if type(row) is Ready:
            found.append(row.written)
            continue
        logged = stored = encode(values_of(row))
        if odd and any(map(row.__getitem__, odd)):
            plain = {c: row[c] for c in names if c not in odd}
            taken = {c: as_stored(row[c]) for c in odd}
            stored = row_bytes(tuple(plain), plain.values(), sparse=True, raw=taken)
        found.append(Written(logged, stored))
    return found


def payloads(table: Table, rows: Sequence[Written]) -> list[bytes]:
    """What the events of these rows say: a row each, or all of them, a line each, where none has a word in it."""
    logged = [row.logged for row in rows]
    return [b"\n".join(logged)] if SHAPES[table].wordless else logged


@cache
def ordered_columns(table: Table) -> tuple[str, ...]:
    return tuple(sorted(SHAPES[table].columns))


def logged_as(table: Table, sparse: bool) -> Callable[[Sequence[object]], bytes]:
    """From the values of `stored` to what the log keeps of a row; events of format 1 had nulls too: not `sparse`."""
    names = ordered_columns(table)
    hashed = [i for i, column in enumerate(names) if column in SHAPES[table].hashed]

    def encode(values: Sequence[object]) -> bytes:
        if hashed:
            values = list(values)
            for i in hashed:
                values[i] = _digest(values[i])
        return row_bytes(names, values, sparse=sparse)

    return encode


def _digest(value: object) -> str | None:
    return None if value is None else hashlib.sha256(canonical_bytes({"v": value})).hexdigest()


def insert(
    connection: WriteConnection, table: Table, kb_id: UUID, seq: int, at: datetime, rows: Sequence[Written]
) -> None:
    """Append rows in one statement, stamped with base and record time.

    One JSON text, since Postgres refuses COPY into a table with row-level security, and since the log's text of a row
    then is the table's too: measured, 11 us a row against 9 of COPY and 15 of an array for each column.
    """
    takes_arrays(connection).execute(_insertion("insert_rows", table), _stamped(kb_id, seq, at, rows))
    hand_over(connection)


def insert_not_held(
    connection: WriteConnection, table: Table, kb_id: UUID, seq: int, at: datetime, rows: Sequence[Written], key: str
) -> Callable[[], set[str]]:
    """As `insert`, but for rows of which one with the same `key` is held; returns what gives the keys of the others."""
    statement = _insertion("insert_rows_not_held", table, key=pgsql.Identifier(key))
    done = takes_arrays(connection).execute(statement, _stamped(kb_id, seq, at, rows))
    hand_over(connection)
    return lambda: {row["key"] for row in done.fetchall()}


def _insertion(query: str, table: Table, **more: pgsql.Composable) -> pgsql.Composed:
    shape = SHAPES[table]
    stamp = {"kb_id": "kb_id", "recorded_seq": "seq"} | ({"recorded_at": "at"} if shape.timed else {})
    return pgsql.SQL(sql.query(query)).format(
        table=pgsql.Identifier(table),
        stamped=pgsql.SQL(", ").join(map(pgsql.Identifier, stamp)),
        stamps=pgsql.SQL(", ").join(map(pgsql.Placeholder, stamp.values())),
        columns=pgsql.SQL(", ").join(map(pgsql.Identifier, shape.columns)),
        **more,
    )


def _stamped(kb_id: UUID, seq: int, at: datetime, rows: Sequence[Written]) -> dict[str, object]:
    text = JsonText(b"[" + b",".join([row.stored for row in rows]) + b"]")
    return {"kb_id": kb_id, "seq": seq, "at": at, "rows": text}


def close(
    connection: WriteConnection,
    table: Table,
    kb_id: UUID,
    seq: int,
    at: datetime,
    ids: Sequence[UUID],
    kind: str | None,
) -> int:
    """Close held rows by id; returns how many were held."""
    parts = {
        "table": pgsql.Identifier(table),
        "id": pgsql.Identifier(_ID_COLUMN.get(table, "id")),
        "kind": pgsql.SQL(", invalidated_kind = %(kind)s" if table in HAS_KIND else ""),
    }
    statement = pgsql.SQL(sql.query("close_rows")).format(**parts)
    values = {"kb_id": kb_id, "seq": seq, "at": at, "ids": list(ids), "kind": kind}
    return connection.execute(statement, values).rowcount


def close_links(
    connection: WriteConnection, kb_id: UUID, seq: int, at: datetime, links: Sequence[tuple[UUID, UUID]]
) -> int:
    """Close held evidence links; returns how many were held."""
    values = {
        "kb_id": kb_id,
        "seq": seq,
        "at": at,
        "lineages": [a for a, _ in links],
        "assertions": [b for _, b in links],
    }
    return connection.execute(sql.query("close_evidence"), values).rowcount


def decide(
    connection: WriteConnection,
    kb_id: UUID,
    seq: int,
    at: datetime,
    pending_id: UUID,
    verdict: str,
    by: str,
    why: str,
) -> bool:
    """Close one pending fact with its verdict; false if it was not waiting."""
    values = {
        "kb_id": kb_id,
        "seq": seq,
        "at": at,
        "id": pending_id,
        "verdict": verdict,
        "by": by,
        "why": why,
    }
    return connection.execute(sql.query("decide_pending"), values).rowcount == 1


def decide_conflicts(
    connection: WriteConnection,
    kb_id: UUID,
    seq: int,
    at: datetime,
    ids: Sequence[UUID],
    verdict: str,
    by: str,
    why: str,
) -> int:
    """Close open conflicts with one verdict; returns how many were open."""
    values = {"kb_id": kb_id, "seq": seq, "at": at, "ids": list(ids), "verdict": verdict, "by": by, "why": why}
    return connection.execute(sql.query("decide_conflicts"), values).rowcount


Event = tuple[str, bytes, bytes, bytes]
"""kind, payload, salt, hash."""


def append(
    connection: WriteConnection,
    kb_id: UUID,
    seq: int,
    at: datetime,
    transaction: Mapping[str, object],
    previous: bytes,
    log: Sequence[Event],
) -> None:
    """Append the transaction and its chained events, which follow the hash `previous`, and move the head."""
    kinds, said, salts, hashes = zip(*log, strict=True)
    events = {
        "kinds": array_of_texts(kinds),
        "payloads": array_of_bytes(said),
        "salts": array_of_bytes(salts),
        "links": array_of_bytes((previous, *hashes[:-1])),
        "hashes": array_of_bytes(hashes),
    }
    place: dict[str, object] = {"kb_id": kb_id, "seq": seq, "at": at}
    with sending(connection):
        connection.execute(sql.query("append_transaction"), {**place, **transaction})
        takes_arrays(connection).execute(sql.query("append_events"), {"kb_id": kb_id, "seq": seq, **events})
        connection.execute(sql.query("move_head"), {**place, "hash": transaction["head_hash"]})


def erase(connection: WriteConnection, kb_id: UUID, places: Sequence[tuple[int, int]]) -> int:
    """Erase payload and salt of events, each a seq and an ordinal; returns how many were there to erase."""
    values = {"kb_id": kb_id, "seqs": [seq for seq, _ in places], "ordinals": [ordinal for _, ordinal in places]}
    return connection.execute(sql.query("erase_events"), values).rowcount
