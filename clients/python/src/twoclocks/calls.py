"""The calls as data: what is sent for each, and what comes back. Sync and async clients send the same."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

from twoclocks import answers

T = TypeVar("T")
When = str | date
"""A moment: text such as ``2024-08``, a date, a datetime with its zone; of the record also ``seq:N``."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document to push. Pushing the same name with the same bytes again changes nothing."""

    external_id: str
    """What you call it; the same name again is a new version."""
    content: str | bytes
    filename: str = ""
    """Its ending tells how it is read; `external_id` if left out."""
    doc_time: When | None = None
    """The date the document bears, never when it is sent."""
    namespace: str = ""
    media_type: str | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request. Parameters without a value are not sent."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    tool: str = ""
    """The MCP tool that is called in place of a route; the parameters are its arguments."""

    def at(self, moment: str | None) -> Call[T]:
        """This call as of `moment`, unless it names its own or reads nothing."""
        if moment is None or "as_of" not in self.params or self.params["as_of"] or self.params.get("before"):
            return self
        return replace(self, params={**self.params, "as_of": moment})

    def go_on(self, cursor: str) -> Call[T]:
        """The page that follows."""
        return replace(self, params={**self.params, "cursor": cursor})

    @property
    def query(self) -> dict[str, Any]:
        return {} if self.tool else self._given()

    @property
    def sent(self) -> Any:
        """The body."""
        if not self.tool:
            return self.body
        params = {"name": self.tool, "arguments": self._given()}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    def _given(self) -> dict[str, Any]:
        return {key: said(value) for key, value in self.params.items() if value is not None}


def said(value: Any) -> Any:
    """A moment as text. Raises `ValueError` for a datetime without zone, which would mean another moment elsewhere."""
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return value.isoformat() if isinstance(value, date) else value


def _read(path: str, **params: Any) -> Call[Any]:
    return Call("GET", path, params)


def _segment(text: str) -> str:
    return quote(text, safe="")


def _tool(name: str, **params: Any) -> Call[Any]:
    return Call("POST", "mcp", params, tool=name)


def _fits_a_path(entity: str) -> bool:
    """Can the name be a part of a path? Servers take %2F for a slash, and dots for a way up."""
    return "/" not in entity and entity not in (".", "..")


def search(**given: Any) -> Call[answers.Search]:
    return _read("search", **given)


def context(**given: Any) -> Call[answers.Context]:
    return _read("context", **given)


def entities(**given: Any) -> Call[answers.Entities]:
    return _read("entities", **given)


def facts(entity: str, **given: Any) -> Call[answers.Facts]:
    if not _fits_a_path(entity):
        return _tool("entity_facts", entity_id=entity, **given)
    return _read(f"entities/{_segment(entity)}/facts", **given)


def timeline(entity: str, **given: Any) -> Call[answers.Timeline]:
    if not _fits_a_path(entity):
        return _tool("timeline", entity=entity, **given)
    return _read(f"entities/{_segment(entity)}/timeline", **given)


def changes(**given: Any) -> Call[answers.Changes]:
    return _read("changes", **given)


def neighbors(**given: Any) -> Call[answers.Neighbors]:
    return _read("neighbors", **given)


def paths(start: str, to: str, **given: Any) -> Call[answers.Paths]:
    return _read("paths", **{"from": start, "to": to, **given})


def explain(fact_id: str, **given: Any) -> Call[answers.Explanation]:
    return _read(f"facts/{_segment(fact_id)}/explanation", **given)


def document(document_id: str, **given: Any) -> Call[answers.DocumentText]:
    return _read(f"documents/{_segment(document_id)}", **given)


def documents(**given: Any) -> Call[answers.Documents]:
    return _read("documents", **given)


def review_status(**given: Any) -> Call[answers.ReviewStatus]:
    return _read("review/status", **given)


def push(items: Iterable[Document]) -> Call[answers.Push]:
    return Call("POST", "documents", body={"documents": [_pushed(item) for item in items]})


def _pushed(item: Document) -> dict[str, Any]:
    kept = {"external_id": item.external_id, "filename": item.filename or item.external_id}
    if isinstance(item.content, str):
        kept["content"] = item.content
    else:
        kept["content_base64"] = base64.b64encode(item.content).decode()
    optional = {"doc_time": said(item.doc_time), "media_type": item.media_type}
    kept |= {key: value for key, value in optional.items() if value is not None}
    return kept | {"namespace": item.namespace, "author": item.author}


def remember(text: str, occurred_at: When | None, idempotency_key: str | None) -> Call[answers.Remembered]:
    """A key is made where none is given, so that the call can be repeated when an answer was lost."""
    key = idempotency_key or str(uuid4())
    return _tool("remember", text=text, occurred_at=occurred_at, idempotency_key=key)


def many(texts: str | Sequence[str] | None) -> list[str] | None:
    """One or several as the list that a repeated parameter is sent from."""
    return [texts] if isinstance(texts, str) else None if texts is None else list(texts)
