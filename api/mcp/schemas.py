"""The tools as clients see them: names, descriptions, input and output schemas.

Input schemas hold no anyOf, oneOf or allOf (one client refuses every tool for one such schema); an optional argument
is one that is not required. No ``$schema``, names of at most 32 characters, every array with its items. The whole list
stays under 5,000 tokens, since every conversation pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.mcp.shapes import (
    AS_OF,
    AT,
    BOOLEAN,
    CURSOR,
    DATE,
    ENTITY,
    ENVELOPE,
    FACTS,
    HINTS,
    INTEGER,
    INTERVAL,
    KIND,
    LINK,
    MOMENTS,
    OBJECTS,
    PAGED,
    PREDICATE,
    STRING,
    STRINGS,
    SUBJECT,
    TODAY,
    Json,
    fields,
    limit,
    maybe,
    rows,
    takes,
    text,
)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as it is listed."""

    name: str
    title: str
    description: str
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    """All fields of an answer and of its rows: what is promised, and what tests hold every answer to."""
    writes: bool = False

    @property
    def listed_output(self) -> Json:
        """`output` as clients are told it: the fields of an answer, not those of its rows, which would cost every
        conversation thousands of tokens; rows name their fields themselves."""
        return {"type": "object", "properties": {n: _brief(s) for n, s in self.output["properties"].items()}}


def _brief(schema: Json) -> Json:
    if schema["type"] != "array":
        return {"type": schema["type"]}
    return {"type": "array", "items": {"type": schema["items"]["type"]}}


_READING = (
    ToolSpec(
        "search_chunks",
        "Search passages",
        "Full-text and semantic search over documents and remembered sentences. Returns the best passages, each cut at "
        "800 characters, with its document_id.",
        takes(("query",), query=text("What to look for.", minLength=1, maxLength=2000), as_of=text(AS_OF)),
        fields(
            **ENVELOPE,
            limit=INTEGER,
            limit_reached=BOOLEAN,
            arms=fields(lexical=STRING, vector=STRING),
            chunks=rows(
                chunk_id=STRING,
                document_id=STRING,
                seq=INTEGER,
                filename=STRING,
                text=STRING,
                truncated=BOOLEAN,
                **TODAY,
            ),
            **HINTS,
        ),
    ),
    ToolSpec(
        "context",
        "Context for a question",
        "All that a question needs under a token budget: facts about whoever it names, on both clocks, and the best "
        "passages in reading order, with documents to cite. Start here.",
        takes(
            ("question",),
            question=text("The question in words.", minLength=1, maxLength=2000),
            budget_tokens={
                "type": "integer",
                "minimum": 100,
                "maximum": 32000,
                "description": "1500 unless told.",
            },
            at=text(AT),
            **MOMENTS,
        ),
        fields(
            **ENVELOPE,
            at=maybe("string"),
            budget_tokens=INTEGER,
            used_tokens=INTEGER,
            arms=fields(lexical=STRING, vector=STRING),
            facts=rows(id=STRING, entity=STRING, statement=STRING, **TODAY),
            documents=rows(
                document_id=STRING,
                filename=STRING,
                passages=rows(chunk_id=STRING, seq=INTEGER, text=STRING),
            ),
            left_out=fields(facts=INTEGER, passages=INTEGER, copies=INTEGER),
            **HINTS,
        ),
    ),
    ToolSpec(
        "get_document",
        "Read a document",
        "One document, its sections in order, up to 24,000 characters a call; when truncated, go on at next_offset.",
        takes(
            ("document_id",),
            document_id=text("From a search hit or a fact.", minLength=1, maxLength=64),
            offset={"type": "integer", "minimum": 0, "maximum": 10**12},
            as_of=text(AS_OF),
        ),
        fields(
            **ENVELOPE,
            document_id=STRING,
            filename=STRING,
            title=STRING,
            doc_time=maybe("string"),
            offset=INTEGER,
            total_chars=INTEGER,
            truncated=BOOLEAN,
            next_offset=maybe("integer"),
            sections=rows(chunk_id=STRING, seq=INTEGER, heading_path=STRINGS, offset=INTEGER, text=STRING),
        ),
    ),
    ToolSpec(
        "find_entities",
        "Find entities",
        "Entities by whole or partial name, best match first: id, type, and what tells namesakes apart.",
        takes(("name",), name=text("A name or part of one.", minLength=1, maxLength=300), **MOMENTS),
        fields(
            **ENVELOPE,
            entities=rows(
                id=STRING,
                name=STRING,
                type_key=maybe("string"),
                type_label=maybe("string"),
                disambiguator=maybe("string"),
                fact_count=INTEGER,
                **TODAY,
            ),
            **HINTS,
        ),
    ),
    ToolSpec(
        "entity_facts",
        "Facts about an entity",
        "One entity's facts with their validity. `at` (world time): the world at that date, for 'who was X in 2024'. "
        "`as_of` (record time): what the base held then, before later corrections and merges. The two combine.",
        takes(
            ("entity_id",),
            entity_id=ENTITY,
            at=text(AT),
            **MOMENTS,
            predicate=PREDICATE,
            object_type=KIND,
            since=text("World time: held at or after."),
            until=text("World time: held at or before."),
            limit=limit(300),
            cursor=CURSOR,
        ),
        fields(
            **ENVELOPE,
            entity=SUBJECT,
            names=OBJECTS,
            at=maybe("string"),
            before=maybe("string"),
            **PAGED,
            facts=FACTS,
            derived_facts=OBJECTS,
            **HINTS,
        ),
    ),
    ToolSpec(
        "neighbors",
        "Linked entities",
        "The entities that facts join to one entity, one hop away, by relation.",
        takes(
            ("entity",),
            entity=ENTITY,
            predicate=PREDICATE,
            object_type=KIND,
            at=text(AT),
            **MOMENTS,
            limit=limit(300),
            cursor=CURSOR,
        ),
        fields(
            **ENVELOPE,
            entity=SUBJECT,
            at=maybe("string"),
            total=INTEGER,
            limit=INTEGER,
            truncated=BOOLEAN,
            next_cursor=maybe("string"),
            groups=rows(predicate_key=maybe("string"), predicate_label=STRING, direction=STRING, count=INTEGER),
            neighbors=rows(
                id=STRING,
                name=STRING,
                type_key=maybe("string"),
                type_label=maybe("string"),
                fact_id=STRING,
                **LINK,
            ),
            **HINTS,
        ),
    ),
    ToolSpec(
        "timeline",
        "Timeline of an entity",
        "One entity's facts whose sources state a date, in the order of the world.",
        takes(
            ("entity",),
            entity=ENTITY,
            since=text("World time."),
            until=text("World time."),
            predicate=PREDICATE,
            **MOMENTS,
            limit=limit(300),
            cursor=CURSOR,
        ),
        fields(**ENVELOPE, entity=SUBJECT, **PAGED, facts=FACTS, **HINTS),
    ),
    ToolSpec(
        "paths_between",
        "Chains between two entities",
        "The chains of facts that join two entities, up to three hops, shortest first. Every fact holds at `at`.",
        takes(
            ("from", "to"),
            **{"from": ENTITY, "to": ENTITY},
            max_hops={"type": "integer", "minimum": 1, "maximum": 3},
            at=text(AT),
            **MOMENTS,
        ),
        fields(
            **ENVELOPE,
            **{"from": SUBJECT, "to": SUBJECT},
            at=maybe("string"),
            max_hops=INTEGER,
            total=INTEGER,
            limit=INTEGER,
            truncated=BOOLEAN,
            left_out=fields(hubs=INTEGER, entities=INTEGER, facts=INTEGER),
            paths=rows(
                hops=INTEGER,
                edges=rows(
                    fact_id=STRING,
                    **{"from": {"type": "object"}, "to": {"type": "object"}},
                    **LINK,
                    more_facts=INTEGER,
                ),
            ),
            **HINTS,
        ),
    ),
    ToolSpec(
        "explain_fact",
        "Why a fact is held",
        "One fact with its evidence (quotes, documents, who recorded and confirmed it), its history on the record, "
        "conflicts, corrections, and its place in the hash chain.",
        takes(("fact_id",), fact_id=text("From a fact shown.", minLength=1, maxLength=64), **MOMENTS),
        fields(
            **ENVELOPE,
            facts=FACTS,
            evidence=rows(
                quote=STRING,
                span=maybe("array"),
                chunk_id=maybe("string"),
                document_id=maybe("string"),
                filename=maybe("string"),
                doc_time=maybe("string"),
                recorded_by=STRING,
                recorded_at=STRING,
                confirmed=maybe("object"),
                passage=maybe("string"),
            ),
            history=OBJECTS,
            history_truncated=BOOLEAN,
            conflicts=OBJECTS,
            corrections=OBJECTS,
            proof=rows(
                fact_id=STRING,
                event=STRING,
                seq=INTEGER,
                ordinal=INTEGER,
                prev_hash=STRING,
                hash=STRING,
                head_hash=STRING,
            ),
            checkpoint=maybe("object"),
            **HINTS,
        ),
    ),
    ToolSpec(
        "changes",
        "What changed on the record",
        "What the base learned or revised in a window of record time, newest first. Needs no entity: use it when the "
        "question names a period, not a subject.",
        takes(
            ("since",),
            since=text(f"Record time, inclusive. {DATE}."),
            until=text("Record time, to the end of that day, month or year."),
            entity_id=ENTITY,
            kinds={
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "string",
                    "enum": ["asserted", "corrected", "rejected", "merged", "parted", "retracted"],
                },
            },
            as_of=text(AS_OF),
            limit=limit(100),
            cursor=CURSOR,
        ),
        fields(
            **ENVELOPE,
            since=STRING,
            until=maybe("string"),
            limit=INTEGER,
            limit_reached=BOOLEAN,
            next_cursor=maybe("string"),
            changes=rows(
                fact_id=maybe("string"),
                at=STRING,
                kind=STRING,
                subject_id=STRING,
                subject_name=maybe("string"),
                predicate_label=STRING,
                object_name=maybe("string"),
                object_value=maybe("object"),
                confidence=maybe("number"),
                **INTERVAL,
                document_id=maybe("string"),
                filename=maybe("string"),
                quote=maybe("string"),
                **TODAY,
            ),
            **HINTS,
        ),
    ),
    ToolSpec(
        "list_rules",
        "What the base goes by",
        "What relations and classes are declared to be (functional, symmetric, ...) and what follows from it.",
        takes((), as_of=text(AS_OF)),
        fields(
            **ENVELOPE,
            total=INTEGER,
            rules=rows(
                on=STRING,
                kind=STRING,
                label=STRING,
                rule=STRING,
                effect=STRING,
                says=STRING,
                declared_at=STRING,
                redeclared=INTEGER,
            ),
            refused=INTEGER,
        ),
    ),
    ToolSpec(
        "review_status",
        "What became of what I recorded",
        "What you recorded with its proposals (pending, confirmed, merged, rejected, withdrawn; by whom and why), and "
        "your questions that found nothing, with the answer once there is one.",
        takes(
            (),
            document_id=text("Only this document.", minLength=1, maxLength=64),
            idempotency_key=text("Only what was recorded under it.", minLength=1, maxLength=200),
            since=text("Record time."),
            as_of=text(AS_OF),
            limit=limit(200),
            cursor=CURSOR,
        ),
        fields(
            **ENVELOPE,
            total=INTEGER,
            limit=INTEGER,
            truncated=BOOLEAN,
            next_cursor=maybe("string"),
            recorded=rows(
                document_id=STRING,
                chunk_id=maybe("string"),
                sentence=maybe("string"),
                recorded_at=STRING,
                recorded_seq=INTEGER,
                state=STRING,
                proposals=rows(
                    pending_id=STRING,
                    subject=STRING,
                    predicate_label=STRING,
                    object=STRING,
                    status=STRING,
                    decided_by=maybe("string"),
                    why=maybe("string"),
                    fact_id=maybe("string"),
                ),
            ),
            gaps=rows(
                gap_id=STRING,
                question=STRING,
                asked=INTEGER,
                state=STRING,
                why=STRING,
                answer=maybe("object"),
            ),
            total_gaps=INTEGER,
        ),
    ),
    ToolSpec(
        "search_docs",
        "Search the manual",
        "Twoclocks' own manual, for questions about how it works. Never the user's documents.",
        takes(("query",), query=text("What to look for.", minLength=1, maxLength=2000)),
        fields(
            kb_id=STRING,
            limit=INTEGER,
            results=rows(page=STRING, heading=STRING, text=STRING, truncated=BOOLEAN),
        ),
    ),
)
_WRITING = (
    ToolSpec(
        "remember",
        "Remember a sentence",
        "Record one sentence. It is searchable at once; its facts wait for a person's nod. Never tell a user that a "
        "fact was added: say that the sentence was recorded and its facts await confirmation.",
        takes(
            ("text",),
            text=text("One sentence, as it was said.", minLength=1, maxLength=20000),
            occurred_at=text(f"The date it is told from. {DATE}."),
            idempotency_key=text("Repeat it when a call may have been lost.", minLength=1, maxLength=200),
        ),
        fields(kb_id=STRING, document_id=STRING, chunk_id=STRING, seq=INTEGER, status=STRING),
        writes=True,
    ),
    ToolSpec(
        "report_gap",
        "Report a question without answer",
        "Keep a question that the base could not answer, for its reviewers; review_status tells when a document does. "
        "Searches that find nothing are kept by themselves.",
        takes(("question",), question=text("In plain words, without secrets.", minLength=1, maxLength=2000)),
        fields(kb_id=STRING, gap_id=STRING, question=STRING, asked=INTEGER, seq=INTEGER, status=STRING),
        writes=True,
    ),
)
TOOLS: tuple[ToolSpec, ...] = (*_READING, *_WRITING)
BY_NAME: Mapping[str, ToolSpec] = {tool.name: tool for tool in TOOLS}
