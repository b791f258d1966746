"""The client that waits for its answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

import httpx

from twoclocks import answers, calls, wire
from twoclocks.calls import Call, Document, T, When
from twoclocks.errors import TwoclocksError


class Client:
    """One base, read and written with one token. Threads may share it.

    Methods raise `TwoclocksError`. Moments are `When`: ``at`` is world time, ``as_of`` and ``before`` record time.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        kb: str = "",
        timeout: httpx.Timeout | float = wire.TIMEOUT,
        retries: int = wire.RETRIES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`url` is a server's, with the base's id as `kb`, or that of the base's MCP endpoint."""
        base = wire.root(url, kb)
        self._http = httpx.Client(base_url=base, headers=wire.headers(token), timeout=timeout, transport=transport)
        self._retries = retries
        self._pin: str | None = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, those of views made by `at_seq` too."""
        self._http.close()

    def at_seq(self, seq: int) -> Client:
        """A view in which every read that names no moment of the record itself is as of transaction `seq`."""
        return self.as_of(f"seq:{int(seq)}")

    def as_of(self, moment: When) -> Client:
        """A view of the record as it was at a moment, over the same connections."""
        view = object.__new__(Client)
        view._http, view._retries, view._pin = self._http, self._retries, str(calls.said(moment))
        return view

    def search(
        self,
        query: str,
        *,
        as_of: When | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        document_id: str | Sequence[str] | None = None,
        source: str | Sequence[str] | None = None,
        type: str | Sequence[str] | None = None,
        entity: str | None = None,
        since: When | None = None,
        until: When | None = None,
        phrase: str | Sequence[str] | None = None,
        without: str | Sequence[str] | None = None,
        title: str | Sequence[str] | None = None,
        operators: bool | None = None,
        min_score: float | None = None,
    ) -> answers.Search:
        """The best passages for a question, among those that every filter leaves; `min_score` is from 0 to 1."""
        lists = {"document_id": document_id, "source": source, "type": type, "phrase": phrase, "without": without}
        many = {name: calls.many(given) for name, given in {**lists, "title": title}.items()}
        rest = {"until": until, "operators": operators, "min_score": min_score}
        plain = {"as_of": as_of, "limit": limit, "namespace": namespace, "entity": entity, "since": since}
        return self._do(calls.search(query=query, **plain, **many, **rest))

    def context(
        self,
        question: str,
        *,
        budget_tokens: int | None = None,
        at: When | None = None,
        as_of: When | None = None,
        before: When | None = None,
    ) -> answers.Context:
        """All that a question needs under a budget of tokens: facts on both clocks, and passages to cite."""
        call = calls.context(question=question, budget_tokens=budget_tokens, at=at, as_of=as_of, before=before)
        return self._do(call)

    def entities(
        self, name: str, *, as_of: When | None = None, before: When | None = None, limit: int | None = None
    ) -> answers.Entities:
        """Entities by whole or partial name, best match first."""
        return self._do(calls.entities(name=name, as_of=as_of, before=before, limit=limit))

    def facts(
        self,
        entity: str,
        *,
        at: When | None = None,
        as_of: When | None = None,
        before: When | None = None,
        predicate: str | None = None,
        object_type: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> answers.Facts:
        """One entity's facts, by its id or name. `since` and `until` are world time."""
        moments = {"at": at, "as_of": as_of, "before": before, "since": since, "until": until}
        rest = {"predicate": predicate, "object_type": object_type, "limit": limit, "cursor": cursor}
        return self._do(calls.facts(entity, **moments, **rest))

    def timeline(
        self,
        entity: str,
        *,
        as_of: When | None = None,
        before: When | None = None,
        predicate: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> answers.Timeline:
        """One entity's dated facts in the order of the world."""
        moments = {"as_of": as_of, "before": before, "since": since, "until": until}
        return self._do(calls.timeline(entity, **moments, predicate=predicate, limit=limit, cursor=cursor))

    def changes(
        self,
        since: When,
        *,
        until: When | None = None,
        entity: str | None = None,
        kinds: str | Sequence[str] | None = None,
        as_of: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> answers.Changes:
        """What the record learned or revised in a window of record time, newest first."""
        rest = {"entity": entity, "kinds": calls.many(kinds), "limit": limit, "cursor": cursor}
        return self._do(calls.changes(since=since, until=until, as_of=as_of, **rest))

    def neighbors(
        self,
        entity: str,
        *,
        predicate: str | None = None,
        object_type: str | None = None,
        at: When | None = None,
        as_of: When | None = None,
        before: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> answers.Neighbors:
        """The entities that facts join to one entity, one hop away."""
        moments = {"at": at, "as_of": as_of, "before": before}
        rest = {"predicate": predicate, "object_type": object_type, "limit": limit, "cursor": cursor}
        return self._do(calls.neighbors(entity=entity, **moments, **rest))

    def paths(
        self,
        start: str,
        to: str,
        *,
        max_hops: int | None = None,
        at: When | None = None,
        as_of: When | None = None,
        before: When | None = None,
    ) -> answers.Paths:
        """The chains of facts that join two entities, up to three hops, shortest first."""
        return self._do(calls.paths(start, to, max_hops=max_hops, at=at, as_of=as_of, before=before))

    def explain(self, fact_id: str, *, as_of: When | None = None, before: When | None = None) -> answers.Explanation:
        """Why a fact is held: quotes, history, conflicts, its place in the hash chain."""
        return self._do(calls.explain(fact_id, as_of=as_of, before=before))

    def document(
        self, document_id: str, *, offset: int | None = None, as_of: When | None = None
    ) -> answers.DocumentText:
        """One page of a document's text; where it is truncated, go on at ``next_offset``."""
        return self._do(calls.document(document_id, offset=offset, as_of=as_of))

    def documents(
        self,
        *,
        state: str | None = None,
        kind: str | None = None,
        as_of: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> answers.Documents:
        """Documents by file name; ``state="failed"`` lists what could not be read."""
        return self._do(calls.documents(state=state, kind=kind, as_of=as_of, limit=limit, cursor=cursor))

    def review_status(
        self,
        *,
        document_id: str | None = None,
        idempotency_key: str | None = None,
        since: When | None = None,
        as_of: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> answers.ReviewStatus:
        """What became of what you recorded, and of your questions that found nothing."""
        which = {"document_id": document_id, "idempotency_key": idempotency_key}
        return self._do(calls.review_status(**which, since=since, as_of=as_of, limit=limit, cursor=cursor))

    def push(self, documents: Iterable[Document]) -> answers.Push:
        """Take in documents, as a whole or not at all; they are read soon after. Needs a token that writes."""
        return self._do(calls.push(documents))

    def remember(
        self, text: str, *, occurred_at: When | None = None, idempotency_key: str | None = None
    ) -> answers.Remembered:
        """Record one sentence. It can be searched at once; its facts wait for a person. Needs a token that writes."""
        return self._do(calls.remember(text, occurred_at, idempotency_key))

    def iter_facts(self, entity: str, **given: Any) -> Iterator[answers.Fact]:
        """Every fact that `facts` would give, page by page."""
        return self._rows(calls.facts(entity, **_moment(given)), "facts")

    def iter_timeline(self, entity: str, **given: Any) -> Iterator[answers.Fact]:
        """Every fact that `timeline` would give, page by page."""
        return self._rows(calls.timeline(entity, **_moment(given)), "facts")

    def iter_changes(self, since: When, **given: Any) -> Iterator[answers.Change]:
        """Every change that `changes` would give, page by page."""
        return self._rows(calls.changes(since=since, **_moment(given)), "changes")

    def iter_neighbors(self, entity: str, **given: Any) -> Iterator[answers.Neighbor]:
        """Every neighbor that `neighbors` would give, page by page."""
        return self._rows(calls.neighbors(entity=entity, **_moment(given)), "neighbors")

    def iter_documents(self, **given: Any) -> Iterator[answers.DocumentRow]:
        """Every document that `documents` would give, page by page."""
        return self._rows(calls.documents(**_moment(given)), "documents")

    def _do(self, call: Call[T]) -> T:
        call = call.at(self._pin)
        attempt = 0
        while True:
            try:
                return self._once(call)
            except TwoclocksError as error:
                wait = wire.wait_s(attempt, error)
                if wait is None or attempt >= self._retries:
                    raise
            time.sleep(wait)
            attempt += 1

    def _once(self, call: Call[T]) -> T:
        try:
            response = self._http.request(call.method, call.path, params=call.query, json=call.sent)
        except httpx.TransportError as error:
            raise wire.lost(error) from error
        return wire.answer(call, response)

    def _rows(self, call: Call[Any], under: str) -> Iterator[Any]:
        while True:
            page = self._do(call)
            yield from page[under]
            if not page["next_cursor"]:
                return
            call = call.go_on(page["next_cursor"])


def _moment(given: dict[str, Any]) -> dict[str, Any]:
    """What a page is asked with; a moment of the record has its place even where none is given."""
    return {"as_of": None, **given}
