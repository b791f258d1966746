"""The tools as clients see them: names, descriptions, input and output schemas.

Input schemas hold no anyOf, oneOf or allOf (one client refuses every tool for one such schema); an optional argument
is one that is not required. No ``$schema``, names of at most 32 characters, every array with its items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_DATE = "YYYY, YYYY-MM, YYYY-MM-DD or an RFC 3339 moment with a zone"
_AS_OF = f"Record time: what the base held then, before later corrections. {_DATE}, or seq:N from an earlier answer."


def _text(description: str, **more: Any) -> Json:
    return {"type": "string", "description": description, **more}


_LIMIT = {"type": "integer", "minimum": 1, "maximum": 300, "description": "At most so many rows."}
_CURSOR = _text("next_cursor of the page before; repeat the other arguments.")
_ENTITY = _text("An entity's id or name.", minLength=1, maxLength=300)
_MOMENTS = {
    "as_of": _text(_AS_OF),
    "before": _text("Record time, strictly before this moment; wins over as_of. An event's `at` fits here."),
}


def _input(required: tuple[str, ...], **properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _null(kind: str) -> Json:
    return {"type": [kind, "null"]}


_STRING: Json = {"type": "string"}
_INTEGER: Json = {"type": "integer"}
_BOOLEAN: Json = {"type": "boolean"}
_STRINGS: Json = {"type": "array", "items": _STRING}


def _object(**properties: Json) -> Json:
    """An object that has all of these fields and may have more."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(**properties: Json) -> Json:
    """Rows with these fields, all of which are there; to say so again would lengthen the list of tools by a quarter."""
    return {"type": "array", "items": {"type": "object", "properties": properties}}


_ENVELOPE = {"kb_id": _STRING, "as_of": _STRING, "seq": _INTEGER, "head_hash": _STRING}
_SUBJECT = _object(id=_STRING, name=_STRING, type_key=_null("string"), type_label=_null("string"))
_INTERVAL = {
    "valid_from": _null("string"),
    "valid_to": _null("string"),
    "valid_from_precision": _null("string"),
    "valid_to_precision": _null("string"),
}
_FACTS = _list(
    id=_STRING,
    direction={"type": "string", "enum": ["in", "out"]},
    predicate_key=_null("string"),
    predicate_label=_STRING,
    inferred=_BOOLEAN,
    temporal=_STRING,
    other_id=_null("string"),
    other_name=_null("string"),
    object_value=_null("object"),
    confidence={"type": "number"},
    qualifiers={"type": "array", "items": {"type": "object"}},
    **_INTERVAL,
    holds_from=_null("string"),
    holds_to=_null("string"),
    undated=_BOOLEAN,
    contested={"type": "array", "items": {"type": "object"}},
    recorded_at=_STRING,
    invalidated_at=_null("string"),
    supersedes=_null("string"),
    document_ids=_STRINGS,
    evidence_count=_INTEGER,
    evidence={"type": "array", "items": {"type": "object"}},
    unconfirmed=_BOOLEAN,
    rested_on={"type": "array", "items": {"type": "object"}},
    since=_null("object"),
)
_PAGED = {
    "total_facts": _INTEGER,
    "matched_facts": _INTEGER,
    "limit": _INTEGER,
    "truncated": _BOOLEAN,
    "next_cursor": _null("string"),
}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as it is listed."""

    name: str
    title: str
    description: str
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    writes: bool = False


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "search_chunks",
        "Search passages",
        "Full-text and semantic search over the base's documents and remembered sentences. Returns the best passages, "
        "each cut at 800 characters, with its document_id. With as_of, the base as it stood then.",
        _input(("query",), query=_text("What to look for.", minLength=1, maxLength=2000), as_of=_text(_AS_OF)),
        _object(
            **_ENVELOPE,
            limit=_INTEGER,
            limit_reached=_BOOLEAN,
            arms=_object(lexical=_STRING, vector=_STRING),
            chunks=_list(
                chunk_id=_STRING,
                document_id=_STRING,
                seq=_INTEGER,
                filename=_STRING,
                text=_STRING,
                truncated=_BOOLEAN,
            ),
        ),
    ),
    ToolSpec(
        "context",
        "Context for a question",
        "All that a question needs, packed under a token budget: facts about whoever it names, on both clocks, and the "
        "best passages in reading order, with documents to cite and a count of what had no room. Start here.",
        _input(
            ("question",),
            question=_text("The question in words.", minLength=1, maxLength=2000),
            budget_tokens={
                "type": "integer",
                "minimum": 100,
                "maximum": 32000,
                "description": "At most so many tokens; 1500 unless told.",
            },
            at=_text(f"World time: facts that held then; passages have no world time. {_DATE}."),
            **_MOMENTS,
        ),
        _object(
            **_ENVELOPE,
            at=_null("string"),
            budget_tokens=_INTEGER,
            used_tokens=_INTEGER,
            arms=_object(lexical=_STRING, vector=_STRING),
            facts=_list(id=_STRING, entity=_STRING, statement=_STRING),
            documents=_list(
                document_id=_STRING,
                filename=_STRING,
                passages=_list(chunk_id=_STRING, seq=_INTEGER, text=_STRING),
            ),
            left_out=_object(facts=_INTEGER, passages=_INTEGER, copies=_INTEGER),
        ),
    ),
    ToolSpec(
        "get_document",
        "Read a document",
        "One document by document_id, its sections in order, up to 24,000 body characters a call. When truncated, call "
        "again with the next_offset given.",
        _input(
            ("document_id",),
            document_id=_text("From a search hit or a fact.", minLength=1, maxLength=64),
            offset={"type": "integer", "minimum": 0, "maximum": 10**12, "description": "Where to go on; 0 at first."},
            as_of=_text(_AS_OF),
        ),
        _object(
            **_ENVELOPE,
            document_id=_STRING,
            filename=_STRING,
            title=_STRING,
            doc_time=_null("string"),
            offset=_INTEGER,
            total_chars=_INTEGER,
            truncated=_BOOLEAN,
            next_offset=_null("integer"),
            sections=_list(chunk_id=_STRING, seq=_INTEGER, heading_path=_STRINGS, offset=_INTEGER, text=_STRING),
        ),
    ),
    ToolSpec(
        "find_entities",
        "Find entities",
        "Entities by whole or partial name: id, type, and what tells namesakes apart. Best match first.",
        _input(("name",), name=_text("A name or part of one.", minLength=1, maxLength=300), **_MOMENTS),
        _object(
            **_ENVELOPE,
            entities=_list(
                id=_STRING,
                name=_STRING,
                type_key=_null("string"),
                type_label=_null("string"),
                disambiguator=_null("string"),
                fact_count=_INTEGER,
            ),
        ),
    ),
    ToolSpec(
        "entity_facts",
        "Facts about an entity",
        "One entity's facts with their validity. `at` (world time) gives the world as of that date: the tool for 'who "
        "was X in 2024'. `as_of` (record time) gives what the base held then, before later corrections and merges. The "
        "two combine: `at` for the date asked about, `as_of` for when we believed it.",
        _input(
            ("entity_id",),
            entity_id=_ENTITY,
            at=_text(f"World time: facts that held then. {_DATE}."),
            **_MOMENTS,
            predicate=_text("Part of a relation's key or label.", maxLength=200),
            object_type=_text("Class of the other entity.", maxLength=200),
            since=_text(f"World time: facts that held at or after. {_DATE}."),
            until=_text(f"World time: facts that held at or before. {_DATE}."),
            limit=_LIMIT,
            cursor=_CURSOR,
        ),
        _object(
            **_ENVELOPE,
            entity=_SUBJECT,
            names={"type": "array", "items": {"type": "object"}},
            at=_null("string"),
            before=_null("string"),
            **_PAGED,
            facts=_FACTS,
            derived_facts={"type": "array", "items": {"type": "object"}},
        ),
    ),
    ToolSpec(
        "timeline",
        "Timeline of an entity",
        "One entity's facts whose sources state a date, in the order of the world. since and until narrow "
        "the window of world time.",
        _input(
            ("entity",),
            entity=_ENTITY,
            since=_text(f"World time. {_DATE}."),
            until=_text(f"World time. {_DATE}."),
            predicate=_text("Part of a relation's key or label.", maxLength=200),
            **_MOMENTS,
            limit=_LIMIT,
            cursor=_CURSOR,
        ),
        _object(**_ENVELOPE, entity=_SUBJECT, **_PAGED, facts=_FACTS),
    ),
    ToolSpec(
        "changes",
        "What changed on the record",
        "What the base learned or revised in a window of record time: asserted, corrected, rejected, merged, "
        "parted, retracted; newest first. Needs no entity: use it when the question names a period, not a subject.",
        _input(
            ("since",),
            since=_text(f"Record time, inclusive. {_DATE}."),
            until=_text(f"Record time, to the end of that day, month or year. {_DATE}."),
            entity_id=_ENTITY,
            kinds={
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "string",
                    "enum": ["asserted", "corrected", "rejected", "merged", "parted", "retracted"],
                },
                "description": "Only these kinds of event.",
            },
            as_of=_text(_AS_OF),
            limit={**_LIMIT, "maximum": 100},
            cursor=_CURSOR,
        ),
        _object(
            **_ENVELOPE,
            since=_STRING,
            until=_null("string"),
            limit=_INTEGER,
            limit_reached=_BOOLEAN,
            next_cursor=_null("string"),
            changes=_list(
                fact_id=_null("string"),
                at=_STRING,
                kind=_STRING,
                subject_id=_STRING,
                subject_name=_null("string"),
                predicate_label=_STRING,
                object_name=_null("string"),
                object_value=_null("object"),
                confidence=_null("number"),
                **_INTERVAL,
                document_id=_null("string"),
                filename=_null("string"),
                quote=_null("string"),
            ),
        ),
    ),
    ToolSpec(
        "remember",
        "Remember a sentence",
        "Record one sentence into the base's memory. It is searchable at once; the facts in it wait for a person's "
        "nod. Never tell a user that a fact was added: say that the sentence was recorded and its facts await "
        "confirmation.",
        _input(
            ("text",),
            text=_text("One sentence, as it was said.", minLength=1, maxLength=20000),
            occurred_at=_text(f"The date the sentence is told from. {_DATE}."),
            idempotency_key=_text(
                "Repeat it when a call may have been lost; nothing is recorded twice.", minLength=1, maxLength=200
            ),
        ),
        _object(kb_id=_STRING, document_id=_STRING, chunk_id=_STRING, seq=_INTEGER, status=_STRING),
        writes=True,
    ),
)
BY_NAME: Mapping[str, ToolSpec] = {tool.name: tool for tool in TOOLS}
