"""What may be pushed: every refusal names the field, and the document it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from substrate.errors import InvalidInput
from substrate.extraction.claims import Precision

MAX_BYTES = 25 * 1024 * 1024
"""Bytes of one document. A larger one is to be split by whoever knows where."""
MAX_NAME = 1024
MAX_SENTENCE = 20_000
"""Characters of one remembered text: it is one chunk and is shown whole."""


@dataclass(frozen=True, slots=True)
class PushItem:
    """A document as it arrives. ``doc_time`` is the date it bears, as ``parse_point`` reads it."""

    external_id: str
    filename: str
    content: bytes
    doc_time: str | None = None
    namespace: str = ""
    media_type: str | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class DocTime:
    """A stated date and how exact it is; both None where nothing is stated."""

    at: datetime | None = None
    precision: Precision | None = None


def check_text(value: str | None, field: str, document: str = "", *, blank: bool = False, most: int = MAX_NAME) -> None:
    """Raise `InvalidInput` unless Postgres can hold `value` and it says something (or may be blank)."""
    if value is None:
        return
    problem = ""
    if not blank and not value.strip():
        problem = "must not be blank"
    elif "\0" in value:
        problem = "must not hold a NUL character"
    elif len(value) > most:
        problem = f"has {len(value)} characters; at most {most} are taken"
    elif not _is_unicode(value):
        problem = "is not valid Unicode"
    if problem:
        where = f"document {document!r}: " if document else ""
        raise InvalidInput(f"{where}{field} {problem}", field=field, document=document)


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_doc_time(text: str | None, field: str, document: str = "") -> DocTime:
    """Raise `InvalidInput` for a date that cannot be read."""
    from substrate.extraction.times import parse_point

    if text is None:
        return DocTime()
    point = parse_point(text)
    if point is None:
        where = f"document {document!r}: " if document else ""
        message = f"{where}{field} {text!r} is not YYYY, YYYY-MM, YYYY-MM-DD or an RFC 3339 moment with a zone"
        raise InvalidInput(message, field=field, document=document)
    return DocTime(*point)


def check_items(items: Sequence[PushItem]) -> list[DocTime]:
    """The dates of the items, after everything about them was found to be in order."""
    seen: set[str] = set()
    dates = []
    for item in items:
        check_text(item.external_id, "external_id")
        check_text(item.filename, "filename", item.external_id)
        check_text(item.namespace, "namespace", item.external_id, blank=True)
        check_text(item.media_type, "media_type", item.external_id, blank=True)
        check_text(item.author, "author", item.external_id, blank=True)
        _check_content(item)
        if item.external_id in seen:
            message = f"document {item.external_id!r} comes twice in one push"
            raise InvalidInput(message, field="external_id", document=item.external_id)
        seen.add(item.external_id)
        dates.append(read_doc_time(item.doc_time, "doc_time", item.external_id))
    return dates


def _check_content(item: PushItem) -> None:
    if len(item.content) > MAX_BYTES:
        size, most = len(item.content) / 1024**2, MAX_BYTES // 1024**2
        message = f"document {item.external_id!r} has {size:.1f} MiB; at most {most} MiB are taken"
        raise InvalidInput(message, field="content", document=item.external_id)
