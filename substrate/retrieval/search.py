"""Search: words and meaning over the passages that were held at a moment, fused, in one read snapshot.

The words' arm is complete at any moment of record time and sees what was committed a moment ago; the vector arm is
complete for what is embedded and says what it lacks. An arm that cannot serve is named in the answer with its reason;
an error of the database is never dressed up as one of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import ReadConnection
from substrate.errors import InvalidInput, ModelUnavailable, Unavailable
from substrate.reads.moments import envelope, rfc3339
from substrate.retrieval import fusion, vectors
from substrate.retrieval.embedders import Embedder
from substrate.retrieval.lexical_reader import Match, current_view
from substrate.retrieval.lexical_schema import question_terms
from substrate.settings import Settings

DEPTH = 50
"""Candidates of each arm before fusion: with K = 10 the 51st would earn a sixth of the first."""
SHOWN_CHARACTERS = 800
LONGEST_QUERY = 2000
MOST_PASSAGES = 50


@dataclass(slots=True)
class _Found:
    """What the arms gave."""

    lexical: Sequence[Match] = ()
    vector: Sequence[vectors.Nearest] = ()
    states: dict[str, str] = field(default_factory=dict)

    def ranked(self) -> list[tuple[UUID, float]]:
        arms = {
            "lexical": [match.chunk_id for match in self.lexical],
            "vector": [near.chunk_id for near in self.vector],
        }
        return fusion.fuse(arms)

    def explained(self) -> tuple[dict[UUID, dict[str, Any]], dict[UUID, dict[str, Any]]]:
        words = {m.chunk_id: {"rank": n, "score": m.score} for n, m in enumerate(self.lexical, start=1)}
        meaning = {m.chunk_id: {"rank": n, "similarity": m.similarity} for n, m in enumerate(self.vector, start=1)}
        return words, meaning


def search_chunks(
    conn: ReadConnection,
    kb_id: UUID,
    query: str,
    as_of: AsOf,
    *,
    embedder: Embedder | ModelUnavailable | None,
    settings: Settings,
    limit: int = 6,
    namespace: str | None = None,
    explain: bool = False,
) -> dict[str, Any]:
    """The best passages for a question among those held at `as_of`, which must be resolved on `conn`.

    Each of ``chunks`` has chunk_id, document_id, version_id, seq (position in its document, from 0), filename,
    heading_path, namespace, doc_time, text (at most 800 characters), truncated, and ``since``: what became of it after
    the moment, or None. ``arms`` tells how either arm stands. With `explain`, ranks and scores per arm ride along.
    An `embedder` that could not be opened is given as the error it failed with, so that the answer can say why.

    Raises `InvalidInput` for a blank or over-long query, a limit outside 1 to 50, or a valid time, which passages
    do not have.
    """
    _check(query, as_of, limit)
    found = _ask_arms(conn, kb_id, query, as_of, embedder, settings, namespace)
    ranked = found.ranked()
    values = {"kb_id": kb_id, "ids": [chunk_id for chunk_id, _ in ranked], "cut": SHOWN_CHARACTERS}
    rows = conn.execute(sql.query("retrieval_passages", as_of), sql.parameters(as_of, **values)).fetchall()
    held = {row["chunk_id"]: row for row in rows}
    best = [(chunk_id, score) for chunk_id, score in ranked if chunk_id in held][:limit]
    chunks = [_shown(held[chunk_id], as_of) for chunk_id, _ in best]
    answer: dict[str, Any] = {
        "kb_id": str(kb_id),
        "query": query,
        **envelope(as_of),
        "limit": limit,
        "limit_reached": len(chunks) == limit,
        "arms": found.states,
        "chunks": chunks,
    }
    if explain:
        _explain(answer, best, found)
    return answer


def _check(query: str, as_of: AsOf, limit: int) -> None:
    if not query.strip():
        raise InvalidInput("query must not be blank", field="query")
    if len(query) > LONGEST_QUERY:
        raise InvalidInput(f"query has {len(query)} characters; at most {LONGEST_QUERY} are searched", field="query")
    if not 1 <= limit <= MOST_PASSAGES:
        raise InvalidInput(f"limit: {limit} is not between 1 and {MOST_PASSAGES}", field="limit")
    if as_of.valid_at is not None:
        raise InvalidInput("at: passages have no valid time; ask the facts, or give as_of", field="at")


def _ask_arms(
    conn: ReadConnection,
    kb_id: UUID,
    query: str,
    as_of: AsOf,
    embedder: Embedder | ModelUnavailable | None,
    settings: Settings,
    namespace: str | None,
) -> _Found:
    found = _Found()
    fresh: Mapping[UUID, str] = {}
    wanted = question_terms(query)
    try:
        view = current_view(settings, kb_id)
    except Unavailable as error:
        found.states["lexical"] = f"unavailable: {error}"
    else:
        view.catch_up(conn, kb_id, as_of.seq)
        found.lexical = view.search(wanted, as_of.seq, namespace, DEPTH)
        found.states["lexical"] = "ok" if wanted else "ok: the query has no word to look for"
        fresh = view.fresh_passages(as_of.seq, namespace)
    if embedder is None:
        found.states["vector"] = "unavailable: no embedder was opened"
        return found
    if isinstance(embedder, ModelUnavailable):
        found.states["vector"] = f"unavailable: {embedder}"
        return found
    try:
        answer = vectors.nearest(
            conn,
            kb_id,
            embedder,
            query,
            as_of,
            depth=DEPTH,
            namespace=namespace,
            fresh=fresh,
            embed_fresh=settings.embedder != "openai",  # no network while a snapshot is held for what is optional
        )
        found.vector, found.states["vector"] = answer.found, answer.state
    except ModelUnavailable as error:
        found.states["vector"] = f"unavailable: {error}"
    return found


def _shown(row: Mapping[str, Any], as_of: AsOf) -> dict[str, Any]:
    shown = {
        key: row[key]
        for key in ("seq", "filename", "heading_path", "namespace", "text", "truncated", "doc_time_precision")
    }
    since = None
    if as_of.known_seq is not None and row["invalidated_seq"] is not None:
        since = {
            "status": row["invalidated_kind"],
            "seq": row["invalidated_seq"],
            "at": rfc3339(row["invalidated_at"]),
        }
    ids = {key: str(row[key]) for key in ("chunk_id", "document_id", "version_id")}
    return {**ids, **shown, "doc_time": rfc3339(row["doc_time"]), "since": since}


def _explain(answer: dict[str, Any], best: Sequence[tuple[UUID, float]], found: _Found) -> None:
    words, meaning = found.explained()
    for shown, (chunk_id, score) in zip(answer["chunks"], best, strict=True):
        shown["explain"] = {"score": score, "lexical": words.get(chunk_id), "vector": meaning.get(chunk_id)}
    answer["fusion"] = {"k": fusion.K, "weights": dict(fusion.WEIGHTS), "depth": DEPTH}
