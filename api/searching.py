"""Search as it is served: with what an honest colleague would add, and a question that found nothing is kept.

An arm that could not serve says why, and nothing of this machine is in that reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from api.deps import Member
from substrate import reads
from substrate.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from uuid import UUID

    from substrate.db import ReadConnection
    from substrate.gaps import Via
    from substrate.retrieval.filters import Narrowing

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s;,()]+")
_SECRET = re.compile(r"\b(?:sk|pk|tc_pat|key|Bearer)[-_ ][\w.-]{8,}")
_FOLDERS = re.compile(r"(?<![\w.~-])(?:[\w.~-]*/)+(?=[\w.~-])")
Answer = dict[str, Any]


def search(
    who: Member,
    query: str,
    as_of: str | None,
    limit: int,
    narrowing: Narrowing | None = None,
    *,
    operators: bool = False,
    min_score: float | None = None,
    explain: bool = False,
) -> Answer:
    """The best passages for a question; ``arms`` tells how either arm stands. `narrowing` filters before ranking.

    With `operators`, quotes, minus and fields in the query narrow too, and ``asked`` says what is looked for then.
    """
    from substrate.retrieval.search import search_chunks

    embedder = who.embedder_or_error()
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of)
        answer = search_chunks(
            conn,
            who.kb_id,
            query,
            moment,
            embedder=embedder,
            settings=who.settings,
            limit=limit,
            narrowing=narrowing,
            operators=operators,
            min_score=min_score,
            explain=explain,
        )
        shown = [
            {**c, "status": (c["since"] or {}).get("status", "held"), "successor_id": None} for c in answer["chunks"]
        ]
        answer = {**answer, "chunks": shown, "arms": _arms(answer)}
        answer = reads.with_hints(conn, who.kb_id, moment, "search_chunks", {"query": query, "as_of": as_of}, answer)
        nothing = _found_nothing(who, answer.get("asked", query), answer, {c["chunk_id"]: c["text"] for c in shown})
        if nothing and as_of is not None and (hint := _only_now(who, conn, query)):
            answer["hints"].append({**hint, "tool": "search_chunks", "arguments": {"query": query}})
    whole = (
        as_of is None
        and not operators
        and min_score is None
        and (narrowing is None or all(v in (None, ()) for v in astuple(narrowing)))
    )
    return keep_gap(who, query, "search_chunks", answer) if nothing and whole else answer


def gather(
    who: Member,
    question: str,
    budget: int,
    *,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
) -> Answer:
    """Facts and passages for a question under a budget of tokens; ``arms`` as in `search`."""
    from substrate.retrieval.context import context

    embedder = who.embedder_or_error()
    given = {"question": question, "budget_tokens": budget, "at": at, "as_of": as_of, "before": before}
    with who.read() as conn:
        moment = who.moment(conn, at=at, as_of=as_of, before=before)
        answer = context(conn, who.kb_id, question, moment, embedder=embedder, settings=who.settings, budget=budget)
        answer = {**answer, "arms": _arms(answer)}
        answer = reads.with_hints(conn, who.kb_id, moment, "context", given, answer)
        texts = {p["chunk_id"]: p["text"] for d in answer["documents"] for p in d["passages"]}
        nothing = not answer["facts"] and _found_nothing(who, question, answer, texts)
        past = as_of is not None or before is not None
        if nothing and past and (hint := _only_now(who, conn, question)):
            answer["hints"].append({**hint, "tool": "context", "arguments": {"question": question}})
    return keep_gap(who, question, "context", answer) if nothing and not past else answer


def find(who: Member, name: str, limit: int, *, as_of: str | None, before: str | None) -> Answer:
    """Entities by name; a name that nobody bears today is kept."""
    with who.read() as conn:
        moment = who.moment(conn, as_of=as_of, before=before)
        answer = reads.find_entities(conn, who.kb_id, name, moment, limit=limit)
        given = {"name": name, "as_of": as_of, "before": before}
        answer = reads.with_hints(conn, who.kb_id, moment, "find_entities", given, answer)
    if answer["entities"] or as_of is not None or before is not None:
        return answer
    return keep_gap(who, name, "find_entities", answer)


def keep_gap(who: Member, question: str, via: Via, answer: Answer) -> Answer:
    """`answer`, once its question is kept for reviewers; a question that is all secret is not, and nothing is said."""
    from substrate import gaps
    from substrate.access import PUBLIC

    if who.principal.person_id == PUBLIC:
        return answer  # whoever passes by leaves nothing for reviewers to read

    with suppress(InvalidInput):
        kept = gaps.keep(who.db, who.kb_id, question, asker=who.actor, via=via, seq=answer["seq"])
        told = f"Nothing here answers this; it is kept for the reviewers (asked {kept.asked} times)."
        hint = {"kind": "kept", "says": told, "tool": "review_status", "arguments": {}, "items": []}
        return {**answer, "hints": [*answer["hints"], hint]}
    return answer


def _found_nothing(who: Member, question: str, answer: Answer, texts: Mapping[str, str]) -> bool:
    """No passage shown holds any word of the question that tells something. Resemblance always finds somebody.

    An index that cannot be read does not tell; then nothing is claimed.
    """
    from uuid import UUID

    from substrate.retrieval.analysis import normalised, telling, terms, words
    from substrate.retrieval.lexical_reader import current_view
    from substrate.retrieval.lexical_schema import question_terms

    if not answer["arms"]["lexical"].startswith("ok"):
        return False
    wanted = set(terms(telling(words(normalised(question), asked=True))))
    if any(wanted & set(terms(words(normalised(text)))) for text in texts.values()):
        return False
    try:
        view = current_view(who.settings, who.kb_id)
    except Unavailable:
        return False
    return not any(view.coverage(question_terms(question), [UUID(i) for i in texts]).values())


def _only_now(who: Member, conn: ReadConnection, question: str) -> Answer | None:
    """Whether a passage of today holds a word of a question that found nothing then."""
    from substrate.retrieval.lexical_reader import current_view
    from substrate.retrieval.lexical_schema import question_terms

    seq = who.moment(conn).seq
    try:
        view = current_view(who.settings, who.kb_id)
    except Unavailable:
        return None
    view.catch_up(conn, who.kb_id, seq)
    found: Iterable[UUID] = [m.chunk_id for m in view.search(question_terms(question), seq, None, 1)]
    says = "Nothing on record then answers it; a passage of today may."
    return {"kind": "only_now", "says": says, "items": [str(i) for i in found]} if found else None


def _arms(answer: Mapping[str, Any]) -> dict[str, str]:
    return {arm: without_places(state) for arm, state in answer["arms"].items()}


def without_places(reason: str) -> str:
    """A reason without addresses, folders and keys: what a model or a file said may name them."""
    plain = _ADDRESS.sub("the endpoint", reason)
    return _FOLDERS.sub("", _SECRET.sub("***", plain))
