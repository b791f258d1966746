"""Search: words and meaning over the passages that were held at a moment, ranked together, in one read snapshot.

The words' arm is complete at any moment of record time and sees what was committed a moment ago; the vector arm is
complete for what is embedded and says what it lacks. An arm that cannot serve is named in the answer with its reason;
an error of the database is never dressed up as one of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import ReadConnection
from substrate.errors import InvalidInput, ModelUnavailable, Unavailable
from substrate.reads.moments import envelope, rfc3339
from substrate.retrieval import vectors
from substrate.retrieval.embedders import Embedder
from substrate.retrieval.filters import Filters, Narrowing, narrowed
from substrate.retrieval.lexical_reader import Match, View, current_view
from substrate.retrieval.lexical_schema import Term, near_terms, question_terms
from substrate.retrieval.operators import Said, narrowed_by, read, said
from substrate.retrieval.passages import vector_key
from substrate.retrieval.questions import Question
from substrate.retrieval.ranking import WEIGHTS, Pool, Ranked, Scores
from substrate.retrieval.relevance import basis, relevance
from substrate.retrieval.relevance import check as check_score
from substrate.retrieval.serving import in_service
from substrate.settings import Settings

DEPTH = 50
"""Candidates of each arm: the pool of about 115 then holds .94 of the evidence on LoCoMo, .96 at twice the depth."""
SHOWN_CHARACTERS = 800
LONGEST_QUERY = 2000
MOST_PASSAGES = 50
AT_ONCE = 8
"""Threads of a process that look in the lexical index beside those that answer."""


@dataclass(slots=True)
class _Found:
    """What the arms gave, and what the ranking needs of them."""

    words: Sequence[Match] = ()
    near: Sequence[Match] = ()
    vector: Sequence[vectors.Nearest] = ()
    states: dict[str, str] = field(default_factory=dict)
    view: View | None = None
    model: str | None = None
    question: str | None = None
    """The question's vector, as pgvector spells it, and the key of the vectors it may be compared with."""
    also: tuple[Term, ...] = ()
    """What phrases add to the question's terms."""

    def wanted(self, query: str) -> tuple[Term, ...]:
        terms = question_terms(query)
        asked = {(term.field, term.text) for term in terms}
        return terms + tuple(term for term in self.also if (term.field, term.text) not in asked)

    def candidates(self) -> list[UUID]:
        """Each once, in the order of the arms."""
        return list(dict.fromkeys(found.chunk_id for arm in (self.words, self.near, self.vector) for found in arm))

    def ranks(self) -> dict[str, dict[UUID, dict[str, Any]]]:
        """Per arm, where it put each of its candidates and with what score."""
        lexical = {"lexical": self.words, "near": self.near}
        told = {
            arm: {m.chunk_id: {"rank": n, "score": m.score} for n, m in enumerate(found, start=1)}
            for arm, found in lexical.items()
        }
        meaning = {m.chunk_id: {"rank": n, "similarity": m.similarity} for n, m in enumerate(self.vector, start=1)}
        return {**told, "vector": meaning}


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
    narrowing: Narrowing | None = None,
    operators: bool = False,
    min_score: float | None = None,
    explain: bool = False,
) -> dict[str, Any]:
    """The best passages for a question among those held at `as_of`, which must be resolved on `conn`.

    Each of ``chunks`` has chunk_id, document_id, version_id, seq (position in its document, from 0), filename,
    heading_path, namespace, doc_time, text (at most 800 characters), truncated, and ``since``: what became of it after
    the moment, or None. ``arms`` tells how either arm stands. With `explain`, ranks and scores per arm ride along.
    An `embedder` that could not be opened is given as the error it failed with, so that the answer can say why.
    `narrowing` filters before anything is ranked; `namespace` alone is short for the one of them that is asked most.
    With `min_score`, only passages at least so likely to answer are shown (`retrieval.relevance`), which may be none:
    ``relevance`` tells how many were passed over and what the likelihoods rest on.
    With `operators`, quotes, minus and fields in the query mean what `retrieval.operators` says, else nothing does.

    Raises `InvalidInput` for a blank or over-long query, a limit outside 1 to 50, or a valid time, which passages
    do not have; `Unavailable` where phrases are asked for and the lexical index, which judges them, cannot be read.
    """
    _check(query, as_of, limit)
    check_score(min_score)
    asked = query
    if operators:
        asked, narrowing = read(query, narrowing)
    filters = narrowed(conn, kb_id, narrowing, as_of) if narrowing else Filters(namespace)
    found = _ask_arms(conn, kb_id, asked, as_of, embedder, settings, filters, said(narrowing))
    ranked = _ranked(conn, kb_id, asked, as_of, found)
    likely = relevance(ranked, found.model)
    good = [n for n in range(len(ranked.ids)) if min_score is None or likely[n] >= min_score]
    places = good[:limit]
    chunks = _chunks(conn, kb_id, [ranked.ids[n] for n in places], as_of)
    answer: dict[str, Any] = {
        "kb_id": str(kb_id),
        "query": query,
        **envelope(as_of),
        "limit": limit,
        "limit_reached": len(chunks) == limit,
        "arms": found.states,
        "chunks": chunks,
    }
    answer |= {"asked": asked} if operators else {}
    if min_score is not None:
        passed = len(ranked.ids) - len(good)
        answer["relevance"] = {"min_score": min_score, "passed_over": passed, "basis": basis(found.model)}
    if explain:
        _explain(answer, ranked, found, places, likely)
    return answer


def _chunks(conn: ReadConnection, kb_id: UUID, ids: Sequence[UUID], as_of: AsOf) -> list[dict[str, Any]]:
    values = {"kb_id": kb_id, "ids": list(ids), "cut": SHOWN_CHARACTERS}
    rows = conn.execute(sql.query("retrieval_passages", as_of), sql.parameters(as_of, **values)).fetchall()
    held = {row["chunk_id"]: row for row in rows}
    return [_shown(held[chunk_id], as_of) for chunk_id in ids]


def check_question(query: str, field: str = "query") -> None:
    """Raises `InvalidInput` for a blank or over-long question."""
    if not query.strip():
        raise InvalidInput(f"{field} must not be blank", field=field)
    if len(query) > LONGEST_QUERY:
        raise InvalidInput(f"{field} has {len(query)} characters; at most {LONGEST_QUERY} are searched", field=field)


def _check(query: str, as_of: AsOf, limit: int) -> None:
    check_question(query)
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
    filters: Filters,
    also: Said = Said(),  # noqa: B008  frozen
) -> _Found:
    found, fresh = _Found(also=also.looked_for()), dict[UUID, str]()
    lexical: Future[None] | None = None
    try:
        view = current_view(settings, kb_id)
    except Unavailable as error:
        if also:
            raise
        found.states["lexical"] = f"unavailable: {error}"
    else:
        view.catch_up(conn, kb_id, as_of.seq)
        found.view = view
        filters = narrowed_by(filters, also, view)
        # Beside the question's vector and the database, which leave this thread idle or the interpreter free.
        lexical = beside().submit(_ask_words, found, view, query, as_of.seq, filters)
        fresh = view.fresh_passages(as_of.seq, filters)
    try:
        _ask_vectors(conn, kb_id, query, as_of, embedder, settings, filters, fresh, found)
    finally:
        if lexical is not None:
            lexical.result()
    return found


def _ask_words(found: _Found, view: View, query: str, seq: int, filters: Filters) -> None:
    wanted = found.wanted(query)
    found.words = view.search(wanted, seq, filters, DEPTH)
    found.near = view.search(near_terms(query), seq, filters, DEPTH)
    found.states["lexical"] = "ok" if wanted else "ok: the query has no word to look for"


def _ask_vectors(
    conn: ReadConnection,
    kb_id: UUID,
    query: str,
    as_of: AsOf,
    embedder: Embedder | ModelUnavailable | None,
    settings: Settings,
    filters: Filters,
    fresh: Mapping[UUID, str],
    found: _Found,
) -> None:
    if embedder is None:
        found.states["vector"] = "unavailable: no embedder was opened"
        return
    try:
        asked = fresh if len(fresh) <= vectors.FRESH_ASKED else {}
        service = in_service(conn, kb_id, embedder, settings, asked)
        # No network while a snapshot is held for what is optional.
        lacking = {} if service.asks_a_network else {i: fresh[i] for i in service.lacking}
        answer = vectors.nearest(
            conn,
            kb_id,
            service.embedder,
            query,
            as_of,
            depth=DEPTH,
            filters=filters,
            lacking=lacking,
            waiting=max(service.waiting, len(service.lacking)),
        )
        found.vector = answer.found
        found.states["vector"] = f"{answer.state}; {service.note}" if service.note else answer.state
        found.model = vector_key(service.embedder)
        found.question = vectors.literal(vectors.question_vector(service.embedder, query))
    except ModelUnavailable as error:
        found.states["vector"] = f"unavailable: {error}"


@cache
def beside() -> ThreadPoolExecutor:
    """Threads for what a search does at the same time as its own thread; they wait for nothing and nobody."""
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="search")


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


def ranked_passages(
    conn: ReadConnection,
    kb_id: UUID,
    query: str,
    as_of: AsOf,
    *,
    embedder: Embedder | ModelUnavailable | None,
    settings: Settings,
    namespace: str | None = None,
) -> tuple[Ranked, Mapping[str, Mapping[UUID, Mapping[str, Any]]], Mapping[str, str]]:
    """All candidates of `search_chunks` in their order, where each arm put its own, and how the arms stand."""
    found = _ask_arms(conn, kb_id, query, as_of, embedder, settings, Filters(namespace))
    return _ranked(conn, kb_id, query, as_of, found), found.ranks(), found.states


def _ranked(conn: ReadConnection, kb_id: UUID, query: str, as_of: AsOf, found: _Found) -> Ranked:
    likeness = {near.chunk_id: near.similarity for near in found.vector}
    candidates = found.candidates()
    # All of them, though one that a filter or a merge took away meanwhile would be scored in vain.
    scores = beside().submit(_scores, query, found, candidates)
    try:
        pool = Pool(conn, kb_id, candidates, as_of, model=found.model, vector=found.question, known=likeness)
    finally:
        judged = scores.result()
    return pool.rank(Question.of(query), judged)


def _scores(query: str, found: _Found, ids: Sequence[UUID]) -> Scores:
    """What the lexical index gives all candidates, whichever arm brought them."""
    if found.view is None:
        return Scores({}, {}, {}, {})
    wanted, view = found.wanted(query), found.view
    words, near = ({match.chunk_id: match.score for match in arm} for arm in (found.words, found.near))
    judged = view.judged(ids)
    return Scores(
        judged.scores(wanted) | words,
        judged.scores(near_terms(query)) | near,
        judged.coverage(wanted, ("body", "title")),
        judged.coverage(wanted, ("near",)),
    )


def _explain(
    answer: dict[str, Any], ranked: Ranked, found: _Found, places: Sequence[int], likely: NDArray[np.float64]
) -> None:
    ranks = found.ranks()
    for place, shown in zip(places, answer["chunks"], strict=True):
        arms = {arm: told.get(ranked.ids[place]) for arm, told in ranks.items()}
        shown["explain"] = {**ranked.explained(place), "relevance": round(float(likely[place]), 4), **arms}
    answer["ranking"] = {"weights": dict(WEIGHTS), "depth": DEPTH}
