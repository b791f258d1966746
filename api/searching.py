"""Search as it is served: with the reason why an arm is missing, and nothing of this machine in that reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from api.deps import Member

if TYPE_CHECKING:
    from substrate.retrieval.filters import Narrowing

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s;,()]+")
_SECRET = re.compile(r"\b(?:sk|pk|tc_pat|key|Bearer)[-_ ][\w.-]{8,}")
_FOLDERS = re.compile(r"(?<![\w.~-])(?:[\w.~-]*/)+(?=[\w.~-])")


def search(
    who: Member, query: str, as_of: str | None, limit: int, narrowing: Narrowing | None = None
) -> dict[str, Any]:
    """The best passages for a question; ``arms`` tells how either arm stands. `narrowing` filters before ranking."""
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
        )
    return {**answer, "arms": {arm: without_places(state) for arm, state in answer["arms"].items()}}


def gather(
    who: Member,
    question: str,
    budget: int,
    *,
    at: str | None = None,
    as_of: str | None = None,
    before: str | None = None,
) -> dict[str, Any]:
    """Facts and passages for a question under a budget of tokens; ``arms`` as in `search`."""
    from substrate.retrieval.context import context

    embedder = who.embedder_or_error()
    with who.read() as conn:
        moment = who.moment(conn, at=at, as_of=as_of, before=before)
        answer = context(conn, who.kb_id, question, moment, embedder=embedder, settings=who.settings, budget=budget)
    return {**answer, "arms": {arm: without_places(state) for arm, state in answer["arms"].items()}}


def without_places(reason: str) -> str:
    """A reason without addresses, folders and keys: what a model or a file said may name them."""
    plain = _ADDRESS.sub("the endpoint", reason)
    return _FOLDERS.sub("", _SECRET.sub("***", plain))
