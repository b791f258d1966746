"""Which terms of a large ontology are nearest to a phrase, by vectors, in one query.

A vector is kept beside the words and the model it was made of. One of other words or of another model than now says
nothing: it is found by comparing, is not ranked, and is made anew in the background.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection, Database
from substrate.errors import InvalidInput, ModelUnavailable
from substrate.retrieval.embedders.protocol import Embedder

KINDS = ("class", "relation", "attribute")
BATCH = 64
"""Terms per call of the model and per transaction."""
MOST = 100


@dataclass(frozen=True, slots=True)
class Candidate:
    """A term near to a text. `score` is the cosine of their vectors."""

    key: str
    kind: str
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """The nearest terms, best first, of `terms` that were asked among; `stale` of those have no vector that counts."""

    found: tuple[Candidate, ...]
    terms: int
    stale: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """What one run of `embed_terms` did. `forgotten`: vectors of terms or models that are not in use."""

    model: str
    done: int
    forgotten: int
    waits: str = ""
    """Why nothing was done: the model cannot be opened."""


def nearest(
    conn: AnyConnection,
    kb_id: UUID,
    vector: Sequence[float],
    model: str,
    *,
    kinds: Collection[str] = KINDS,
    limit: int = 10,
) -> Candidates:
    """The terms of these kinds nearest to a vector of `model`. Raises `InvalidInput` for an unknown kind or limit."""
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise InvalidInput(f"kinds: {unknown[0]!r} is none of {', '.join(KINDS)}", field="kinds")
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit: from 1 to {MOST}", field="limit")
    spelled = "[" + ",".join(repr(float(x)) for x in vector) + "]"
    asked = {"kb_id": kb_id, "model": model, "kinds": list(kinds), "vector": spelled, "limit": limit}
    rows = conn.execute(sql.query("nearest_terms"), asked).fetchall()
    found = tuple(Candidate(r["key"], r["kind"], r["label"], float(r["score"])) for r in rows if r["key"] is not None)
    return Candidates(found, rows[0]["terms"], rows[0]["stale"])


def nearest_to(
    conn: AnyConnection, kb_id: UUID, text: str, embedder: Embedder, *, kinds: Collection[str] = KINDS, limit: int = 10
) -> Candidates:
    """As `nearest`, for a text. The model is called before the query."""
    if not text.strip():
        raise InvalidInput("text: must not be blank", field="text")
    vector = embedder.queries([text])[0]
    return nearest(conn, kb_id, vector.tolist(), model_key(embedder), kinds=kinds, limit=limit)


def embed_terms(db: Database, kb_id: UUID, embedder: Embedder) -> Embedded:
    """Make the vectors that are missing or stale, in committed batches; safe to kill and to run twice at once."""
    model, done = model_key(embedder), 0
    while rows := _stale(db, kb_id, model):
        vectors = embedder.passages([row["words"] for row in rows])
        with db.write(kb_id) as conn:
            keep(conn, kb_id, model, {row["key"]: (row["words"], v) for row, v in zip(rows, vectors, strict=True)})
        done += len(rows)
    with db.write(kb_id) as conn:
        gone = conn.execute(sql.query("forget_term_vectors"), {"kb_id": kb_id, "model": model}).rowcount
    return Embedded(model, done, gone)


def refresh_terms(db: Database, kb_id: UUID, open_model: Callable[[], Embedder]) -> Embedded:
    """As `embed_terms`, with a model that may not be there: the result says so, and other work goes on."""
    try:
        embedder = open_model()
    except ModelUnavailable as error:
        return Embedded("none", 0, 0, str(error))
    return embed_terms(db, kb_id, embedder)


def keep(conn: AnyConnection, kb_id: UUID, model: str, made: Mapping[str, tuple[str, Any]]) -> None:
    """Keep the vector of each term beside the words it was made of."""
    from pgvector.psycopg import register_vector

    register_vector(conn)
    rows = [
        {"kb_id": kb_id, "term_key": key, "model": model, "words": words, "embedding": vector}
        for key, (words, vector) in sorted(made.items())
    ]
    with conn.cursor() as cursor:
        cursor.executemany(sql.query("keep_term_vector"), rows)


def model_key(embedder: Embedder) -> str:
    """What vectors of one model go by; those of two must not be compared."""
    return f"{embedder.name}/{embedder.dimension}"


def marks_of_terms(conn: AnyConnection) -> dict[str, str]:
    """Slug → a text that moves whenever a term is declared or taken out, of every base that the connection reaches."""
    return {row["slug"]: row["mark"] for row in conn.execute(sql.query("marks_of_terms")).fetchall()}


def _stale(db: Database, kb_id: UUID, model: str) -> list[dict[str, Any]]:
    with db.read(kb_id) as conn:
        asked = {"kb_id": kb_id, "model": model, "limit": BATCH}
        return list(conn.execute(sql.query("stale_terms"), asked).fetchall())
