"""The vector arm: pgvector, filtered by base, model, moment and what was asked for before anything is ranked.

Below `EXACT_UP_TO` vectors of a base and model the scan is exact. Above, an HNSW index of exactly that base and model
serves once orchestration has built it, so that neither another base nor another model can crowd a filter out. Where
filters or an early moment leave no more than `FEW` passages these are compared exactly, whatever the size of the base;
above, the index is gone through until enough have passed, and what it leaves short is scanned exactly. Without an index
the scan stays exact, and grows with the base.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql as pgsql

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import EVERY_BASE, Database, ReadConnection, connect
from substrate.errors import ModelUnavailable
from substrate.retrieval.embedders import Embedder
from substrate.retrieval.filters import Filters
from substrate.retrieval.passages import vector_key

EXACT_UP_TO = 2_000
"""Rows up to which an exact scan is as quick as the index: about 2 ms per thousand of 384 dimensions on two busy cores,
where the index takes 2 to 4 ms whatever the size (``make bench-search``)."""
FEW = 4_000
"""Passages left by filters up to which they are compared one by one: the index would be gone through in vain."""
_ALL = 2**31 - 2
MOST_WHOLE_DIMENSIONS = 2000
MOST_INDEXED_DIMENSIONS = 4000
"""pgvector's own limits for an HNSW index over `vector` and over `halfvec`."""
EMBEDDED_ON_DEMAND = 32
"""Committed passages without a vector that a search embeds itself, once per process; beyond, words alone find them."""
FRESH_ASKED = 512
"""A tail longer than this is not asked for its missing vectors: the index is far behind, and words must do."""
_INDEX_KNOWN_SECONDS = 60.0
_VECTORS_KEPT = 2048

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Nearest:
    """A chunk that the meaning led to, with the cosine of its vector and the question's."""

    chunk_id: UUID
    similarity: float


@dataclass(frozen=True, slots=True)
class VectorAnswer:
    """What the arm found, best first, and how it stands, in words: ``ok`` or what is missing."""

    found: tuple[Nearest, ...]
    state: str


class _Kept:
    """The vectors used last, by model, role and text."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._vectors: OrderedDict[tuple[str, str, str], Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str, str]) -> Vector | None:
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
            return self._vectors.get(key)

    def put(self, key: tuple[str, str, str], vector: Vector) -> None:
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            if len(self._vectors) > self._most:
                self._vectors.popitem(last=False)


_kept = _Kept(_VECTORS_KEPT)
_index_known: dict[tuple[UUID, str], tuple[float, bool]] = {}


def question_vector(embedder: Embedder, question: str) -> Vector:
    """The question's vector, from memory if it was asked lately. Raises `ModelUnavailable`."""
    key = (embedder.name, "query", question)
    vector = _kept.get(key)
    if vector is None:
        vector = embedder.queries([question])[0]
        _kept.put(key, vector)
    return vector


def nearest(
    conn: ReadConnection,
    kb_id: UUID,
    embedder: Embedder,
    question: str,
    as_of: AsOf,
    *,
    depth: int,
    filters: Filters | None = None,
    lacking: Mapping[UUID, str] | None = None,
    waiting: int = 0,
) -> VectorAnswer:
    """The `depth` chunks held at the moment that are nearest to the question.

    `lacking` are passages, with their text, that have no vector yet: up to `EMBEDDED_ON_DEMAND` of them are embedded
    here. `waiting` is how many the embedding stage still has to read. Raises `ModelUnavailable`; an error of the
    database stays what it is.
    """
    vector = question_vector(embedder, question)
    values = {"kb_id": kb_id, "model": vector_key(embedder), "vector": literal(vector), "depth": depth, "most": FEW}
    rows = _rows(conn, kb_id, embedder, as_of, values, filters or Filters())
    found = [Nearest(row["id"], float(row["similarity"])) for row in rows]
    added, failure = _embedded_here(embedder, vector, lacking or {})
    found = sorted([*found, *added], key=lambda n: (-n.similarity, n.chunk_id))[:depth]
    behind = max(waiting, len(lacking or {})) - len(added)
    return VectorAnswer(tuple(found), _state(embedder, found, behind, failure))


def _state(embedder: Embedder, found: list[Nearest], behind: int, failure: str) -> str:
    if behind > 0:
        because = f" ({failure})" if failure else ""
        return f"ok: up to {behind} passages have no vector yet and were searched by words alone{because}"
    return "ok" if found else f"ok: no vector of {embedder.name} is held at this moment"


def _rows(
    conn: ReadConnection, kb_id: UUID, embedder: Embedder, as_of: AsOf, values: dict[str, Any], filters: Filters
) -> list[dict[str, Any]]:
    bound = sql.parameters(as_of, **values, **filters.parameters())
    stands = _index_stands(conn, kb_id, vector_key(embedder))
    if filters or (stands and _held_early(conn, as_of, bound)):
        return _narrowed(conn, kb_id, embedder, as_of, bound, stands)
    if stands:
        conn.execute(sql.query("retrieval_hnsw_settings"))
        query = _indexed_query(kb_id, embedder, as_of)
        rows = conn.execute(query, bound, prepare=False).fetchall()
        if len(rows) == values["depth"]:
            return rows
    return conn.execute(sql.query("retrieval_nearest", as_of), bound).fetchall()


def _held_early(conn: ReadConnection, as_of: AsOf, bound: dict[str, Any]) -> bool:
    if as_of.known_seq is None:
        return False
    row = conn.execute(sql.query("retrieval_held_early", as_of), bound).fetchone()
    return bool(row and row["few"])


def _narrowed(
    conn: ReadConnection, kb_id: UUID, embedder: Embedder, as_of: AsOf, bound: dict[str, Any], stands: bool
) -> list[dict[str, Any]]:
    """Exact where the filters leave few, by the index where they leave many, exact again where that fell short."""
    conn.execute(sql.query("retrieval_custom_plans"))
    exact = sql.query("retrieval_nearest_narrowed", as_of)
    rows = conn.execute(exact, bound if stands else bound | {"most": _ALL}, prepare=False).fetchall()
    if stands and max(row["fitting"] or 0 for row in rows) > FEW:
        conn.execute(sql.query("retrieval_hnsw_settings"))
        query = _indexed_query(kb_id, embedder, as_of, "retrieval_nearest_narrowed_indexed")
        rows = conn.execute(query, bound, prepare=False).fetchall()
        if len(rows) < bound["depth"]:
            rows = conn.execute(exact, bound | {"most": _ALL}, prepare=False).fetchall()
    conn.execute(sql.query("retrieval_generic_plans"))
    return [row for row in rows if row["id"] is not None]


def _indexed_query(
    kb_id: UUID, embedder: Embedder, as_of: AsOf, name: str = "retrieval_nearest_indexed"
) -> pgsql.Composed:
    """Base and model as literals: only then does the planner know that the partial index covers them."""
    return pgsql.SQL(sql.query(name, as_of)).format(
        dimension=pgsql.Literal(embedder.dimension),
        kind=pgsql.SQL(_kind(embedder.dimension)),
        kb_id=pgsql.Literal(kb_id),
        model=pgsql.Literal(vector_key(embedder)),
    )


def _kind(dimension: int) -> LiteralString:
    """The type that an index of so many dimensions is over; halves take twice as many."""
    return "vector" if dimension <= MOST_WHOLE_DIMENSIONS else "halfvec"


def _embedded_here(embedder: Embedder, question: Vector, passages: Mapping[UUID, str]) -> tuple[list[Nearest], str]:
    """The passages with their similarity, or none of them and why."""
    if len(passages) > EMBEDDED_ON_DEMAND:
        return [], ""
    try:
        return [Nearest(i, float(_passage_vector(embedder, p) @ question)) for i, p in passages.items()], ""
    except ModelUnavailable as error:
        return [], str(error)


def _passage_vector(embedder: Embedder, passage: str) -> Vector:
    key = (embedder.name, "passage", passage)
    vector = _kept.get(key)
    if vector is None:
        vector = embedder.passages([passage])[0]
        _kept.put(key, vector)
    return vector


def literal(vector: Vector) -> str:
    """A vector as pgvector spells it."""
    return "[" + ",".join(map(str, vector.tolist())) + "]"


def index_name(kb_id: UUID, model: str) -> str:
    """The name of the HNSW index over one base's vectors of one model."""
    return "embeddings_hnsw_" + hashlib.sha256(f"{kb_id}/{model}".encode()).hexdigest()[:24]


def _index_stands(conn: ReadConnection, kb_id: UUID, model: str) -> bool:
    """Asked once a minute at most: an index that came meanwhile only makes searches quicker."""
    key = (kb_id, model)
    now = time.monotonic()
    at, stands = _index_known.get(key, (-_INDEX_KNOWN_SECONDS, False))
    if now - at >= _INDEX_KNOWN_SECONDS:
        row = conn.execute(sql.query("retrieval_vector_index"), {"name": index_name(kb_id, model)}).fetchone()
        stands = bool(row and row["valid"])
        _index_known[key] = (now, stands)
    return stands


def forget_indexes() -> None:
    """Look again at the next search, as it would within a minute."""
    _index_known.clear()


def ensure_vector_index(
    admin_conninfo: str, kb_id: UUID, model: str, dimension: int, *, above: int = EXACT_UP_TO
) -> bool:
    """Build the HNSW index of a base and model once it has more than `above` vectors; True if it was built now.

    Needs a login that owns the table; the role that reads and writes does not. Writers go on meanwhile; an index left
    invalid by a killed build is built anew. Models of more than 4,000 dimensions stay with the exact scan.
    """
    name, kind = index_name(kb_id, model), _kind(dimension)
    if dimension > MOST_INDEXED_DIMENSIONS:
        return False
    with connect(admin_conninfo, "twoclocks-index") as conn:
        conn.execute(sql.query("reach_for_long"), {"kb_id": kb_id})
        counted = conn.execute(
            sql.query("retrieval_vector_rows"), {"kb_id": kb_id, "model": model, "most": above + 1}
        ).fetchone()
        standing = conn.execute(sql.query("retrieval_vector_index"), {"name": name}).fetchone()
        if (standing and standing["valid"]) or counted is None or counted["vectors"] <= above:
            return False
        for query in ("retrieval_drop_vector_index", "retrieval_create_vector_index"):
            conn.execute(
                pgsql.SQL(sql.query(query)).format(
                    name=pgsql.Identifier(name),
                    dimension=pgsql.Literal(dimension),
                    kind=pgsql.SQL(kind),
                    operators=pgsql.SQL(f"{kind}_ip_ops"),
                    kb_id=pgsql.Literal(kb_id),
                    model=pgsql.Literal(model),
                )
            )
    return True


@dataclass(frozen=True, slots=True)
class Seen:
    """What `see_to_indexes` did to one base."""

    built: int
    dropped: int
    standing: int
    """Indexes that stand now."""
    serves: str | None
    """The model whose vectors answer now; None where no model has read anything."""
    refused: str = ""
    """Why the login may not build what is missing."""


def see_to_indexes(db: Database, admin_conninfo: str, kb_id: UUID, model: str, *, above: int = EXACT_UP_TO) -> Seen:
    """Index the serving model and `model`, the one that is set, where it pays; let that one serve if it may now.

    Indexes of models that neither serve nor are set are dropped; their vectors stay. Building needs the owner's login.
    """
    from substrate.retrieval.serving import take_over

    built, refused = 0, ""
    for row in _known_indexes(db, kb_id):
        if row["serves"] or row["model"] == model:
            try:
                built += ensure_vector_index(admin_conninfo, kb_id, row["model"], row["dimension"], above=above)
            except psycopg.errors.InsufficientPrivilege as error:
                refused = f"{error.diag.message_primary}; set TWOCLOCKS_ADMIN_DATABASE_URL"
    known = _known_indexes(db, kb_id)
    stands = any(row["stands"] for row in known if row["model"] == model)
    with db.write(kb_id) as conn:
        moved = take_over(conn, kb_id, model, indexed=stands)
    serves = model if moved else next((row["model"] for row in known if row["serves"]), None)
    dropped = [row["name"] for row in known if row["stands"] and row["model"] not in (serves, model)]
    if dropped and not refused:
        with connect(admin_conninfo, "twoclocks-index") as owner:
            for name in dropped:
                owner.execute(pgsql.SQL(sql.query("retrieval_drop_vector_index")).format(name=pgsql.Identifier(name)))
    return Seen(built, len(dropped), sum(row["stands"] for row in known) - len(dropped), serves, refused)


def _known_indexes(db: Database, kb_id: UUID) -> list[dict[str, Any]]:
    with db.read(kb_id) as conn:
        return conn.execute(sql.query("retrieval_vector_indexes"), {"kb_id": kb_id}).fetchall()


def build_vector_indexes(
    db: Database, admin_conninfo: str, model: str, *, above: int = EXACT_UP_TO
) -> tuple[list[str], list[str]]:
    """See to the index of each base with more than `above` vectors of `model`, a `vector_key`.

    Returns the slugs of those that were built now, and a line for each that the login may not build.
    """
    built, refused = [], []
    with db.read(EVERY_BASE) as conn:
        rows = conn.execute(sql.query("retrieval_many_vectors"), {"model": model, "above": above}).fetchall()
    for row in rows:
        try:
            if ensure_vector_index(admin_conninfo, row["id"], model, row["dimension"], above=above):
                built.append(row["slug"])
        except psycopg.errors.InsufficientPrivilege as error:
            refused.append(f"{row['slug']}: {error.diag.message_primary}; set TWOCLOCKS_ADMIN_DATABASE_URL")
    return built, refused
