"""The shapes of answers. Fields are those that the server promises; an answer may hold more.

Times are RFC 3339 text; ids are opaque. ``valid_from`` and ``valid_to`` are world time, ``recorded_at`` and
``invalidated_at`` record time.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Json = dict[str, Any]


class Hint(TypedDict):
    """What an honest colleague would add, and the call that goes further."""

    kind: str
    says: str
    tool: str
    arguments: Json
    items: list[str]


class Envelope(TypedDict):
    """Where an answer stands on the record: asked again with ``as_of="seq:N"`` it is the same."""

    kb_id: str
    as_of: str
    seq: int
    head_hash: str


class Hinted(Envelope):
    hints: list[Hint]


class Arms(TypedDict):
    """Which of the two indexes answered."""

    lexical: str
    vector: str


class Subject(TypedDict):
    id: str
    name: str
    type_key: str | None
    type_label: str | None


class _Today(TypedDict):
    status: str
    successor_id: str | None


class _Interval(TypedDict):
    valid_from: str | None
    valid_to: str | None
    valid_from_precision: str | None
    valid_to_precision: str | None


class Fact(_Today, _Interval):
    id: str
    direction: Literal["in", "out"]
    predicate_key: str | None
    predicate_label: str
    inferred: bool
    temporal: str
    other_id: str | None
    other_name: str | None
    object_value: Json | None
    confidence: float
    qualifiers: list[Json]
    holds_from: str | None
    holds_to: str | None
    undated: bool
    contested: list[Json]
    recorded_at: str
    invalidated_at: str | None
    supersedes: str | None
    document_ids: list[str]
    evidence_count: int
    evidence: list[Json]
    unconfirmed: bool
    rested_on: list[Json]
    since: Json | None


class _Link(_Today, _Interval):
    direction: str
    predicate_key: str | None
    predicate_label: str
    confidence: float
    holds_from: str | None
    holds_to: str | None
    undated: bool
    contested: list[Json]
    unconfirmed: bool
    document_ids: list[str]
    since: Json | None


class Passage(_Today):
    chunk_id: str
    document_id: str
    seq: int
    filename: str
    text: str
    truncated: bool


class Search(Hinted):
    limit: int
    limit_reached: bool
    arms: Arms
    chunks: list[Passage]


class ContextFact(_Today):
    id: str
    entity: str
    statement: str


class ContextPassage(TypedDict):
    chunk_id: str
    seq: int
    text: str


class ContextDocument(TypedDict):
    document_id: str
    filename: str
    passages: list[ContextPassage]


class LeftOut(TypedDict):
    facts: int
    passages: int
    copies: int


class Context(Hinted):
    at: str | None
    budget_tokens: int
    used_tokens: int
    arms: Arms
    facts: list[ContextFact]
    documents: list[ContextDocument]
    left_out: LeftOut


class Section(TypedDict):
    chunk_id: str
    seq: int
    heading_path: list[str]
    offset: int
    text: str


class DocumentText(Envelope):
    document_id: str
    filename: str
    title: str
    doc_time: str | None
    offset: int
    total_chars: int
    truncated: bool
    next_offset: int | None
    sections: list[Section]


class FoundEntity(_Today):
    id: str
    name: str
    type_key: str | None
    type_label: str | None
    disambiguator: str | None
    fact_count: int


class Entities(Hinted):
    entities: list[FoundEntity]


class _Paged(Hinted):
    entity: Subject
    total_facts: int
    matched_facts: int
    limit: int
    truncated: bool
    next_cursor: str | None
    facts: list[Fact]


class Facts(_Paged):
    names: list[Json]
    at: str | None
    before: str | None
    derived_facts: list[Json]


class Timeline(_Paged):
    pass


class Group(TypedDict):
    predicate_key: str | None
    predicate_label: str
    direction: str
    count: int


class Neighbor(_Link):
    id: str
    name: str
    type_key: str | None
    type_label: str | None
    fact_id: str


class Neighbors(Hinted):
    entity: Subject
    at: str | None
    total: int
    limit: int
    truncated: bool
    next_cursor: str | None
    groups: list[Group]
    neighbors: list[Neighbor]


_Ends = TypedDict("_Ends", {"from": Json, "to": Json})


class Edge(_Link, _Ends):
    fact_id: str
    more_facts: int


class Path(TypedDict):
    hops: int
    edges: list[Edge]


class LeftOutOfPaths(TypedDict):
    hubs: int
    entities: int
    facts: int


_Between = TypedDict("_Between", {"from": Subject, "to": Subject})


class Paths(Hinted, _Between):
    at: str | None
    max_hops: int
    total: int
    limit: int
    truncated: bool
    left_out: LeftOutOfPaths
    paths: list[Path]


class Evidence(TypedDict):
    quote: str
    span: list[Any] | None
    chunk_id: str | None
    document_id: str | None
    filename: str | None
    doc_time: str | None
    recorded_by: str
    recorded_at: str
    confirmed: Json | None
    passage: str | None


class Proof(TypedDict):
    fact_id: str
    event: str
    seq: int
    ordinal: int
    prev_hash: str
    hash: str
    head_hash: str


class Explanation(Hinted):
    facts: list[Fact]
    evidence: list[Evidence]
    history: list[Json]
    history_truncated: bool
    conflicts: list[Json]
    corrections: list[Json]
    proof: list[Proof]
    checkpoint: Json | None


class Change(_Today, _Interval):
    fact_id: str | None
    at: str
    kind: str
    subject_id: str
    subject_name: str | None
    predicate_label: str
    object_name: str | None
    object_value: Json | None
    confidence: float | None
    document_id: str | None
    filename: str | None
    quote: str | None


class Changes(Hinted):
    since: str
    until: str | None
    limit: int
    limit_reached: bool
    next_cursor: str | None
    changes: list[Change]


class Proposal(TypedDict):
    pending_id: str
    subject: str
    predicate_label: str
    object: str
    status: str
    decided_by: str | None
    why: str | None
    fact_id: str | None


class Recorded(TypedDict):
    document_id: str
    chunk_id: str | None
    sentence: str | None
    recorded_at: str
    recorded_seq: int
    state: str
    proposals: list[Proposal]


class Gap(TypedDict):
    gap_id: str
    question: str
    asked: int
    state: str
    why: str
    answer: Json | None


class ReviewStatus(Envelope):
    total: int
    limit: int
    truncated: bool
    next_cursor: str | None
    recorded: list[Recorded]
    gaps: list[Gap]
    total_gaps: int


class Remembered(TypedDict):
    """The sentence is recorded and can be searched; its facts wait for a person."""

    kb_id: str
    document_id: str
    chunk_id: str
    seq: int
    status: str


class Pushed(TypedDict):
    external_id: str
    document_id: str
    version_id: str
    action: str


class Push(TypedDict):
    documents: list[Pushed]


class DocumentRow(TypedDict):
    document_id: str
    version_id: str | None
    version: int | None
    external_id: str
    kind: str
    namespace: str
    filename: str | None
    title: str | None
    doc_time: str | None
    recorded_at: str | None
    state: str
    failure: str | None


class Documents(Envelope):
    total: int
    failed: int
    limit: int
    truncated: bool
    next_cursor: str | None
    documents: list[DocumentRow]
