"""Context: what a question needs to be answered, packed under a budget of tokens, on both clocks, each line citable.

Facts about whoever the question names come first, in the order of the world, then passages in the order of reading.
What there was no room for is counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import ReadConnection
from substrate.documents.chunking import estimate_tokens
from substrate.errors import InvalidInput, ModelUnavailable
from substrate.ledger.drafts import normalise_name
from substrate.reads import words
from substrate.reads.facts import entity_facts
from substrate.reads.moments import envelope, rfc3339
from substrate.retrieval.analysis import normalised, telling, terms
from substrate.retrieval.analysis import words as words_of
from substrate.retrieval.embedders import Embedder
from substrate.retrieval.packing import Packed, Passage, pack
from substrate.retrieval.questions import label
from substrate.retrieval.search import check_question, ranked_passages
from substrate.settings import Settings

BUDGETS = (100, 32_000)
"""Least and most tokens."""
_MOST_ENTITIES = 3
_FACTS_READ = 100
_FACTS_SHARE = 0.35
"""Of the budget, what facts may take at most."""
_LONGEST_NAME = 5
"""Words of a name that is looked for in a question."""
_LONGEST_PASSAGE = 20_000
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def context(
    conn: ReadConnection,
    kb_id: UUID,
    question: str,
    as_of: AsOf,
    *,
    embedder: Embedder | ModelUnavailable | None,
    settings: Settings,
    budget: int = 1500,
) -> dict[str, Any]:
    """The facts and passages for a question that fit into `budget` tokens (estimated, see `documents.chunking`).

    ``facts`` are of the entities that the question names, filtered by ``at`` where the moment has one; ``documents``
    hold the ``passages``, which have no valid time. ``text`` is all of it in words; ``left_out`` counts passages and
    facts without room, and copies. Raises `InvalidInput` naming ``question`` or ``budget_tokens``.
    """
    check_question(question, "question")
    if not BUDGETS[0] <= budget <= BUDGETS[1]:
        raise InvalidInput(
            f"budget_tokens: {budget} is not between {BUDGETS[0]} and {BUDGETS[1]}", field="budget_tokens"
        )
    facts, spent, without_room = _facts(conn, kb_id, question, as_of, int(budget * _FACTS_SHARE))
    record = replace(as_of, valid_at=None, at_text=None)
    ranked, _, states = ranked_passages(conn, kb_id, question, record, embedder=embedder, settings=settings)
    rows = _passages(conn, kb_id, ranked.ids, record)
    stamps = _shared_stamps(rows)
    titles = {row["version_id"]: _title(row, stamps) for row in rows}
    costs = {version: estimate_tokens(title) for version, title in titles.items()}
    packed = pack([_passage(row, stamps) for row in rows], budget - spent, costs)
    answer: dict[str, Any] = {
        "kb_id": str(kb_id),
        "question": question,
        "at": as_of.at_text,
        **envelope(as_of),
        "budget_tokens": budget,
        "used_tokens": spent + packed.tokens,
        "arms": states,
        "facts": facts,
        "documents": _documents(packed, {row["chunk_id"]: row for row in rows}, titles),
        "left_out": {"facts": without_room, "passages": packed.left_out, "copies": packed.copies},
    }
    return {**answer, "text": in_words(answer, {str(p.chunk_id): p.text for p in packed.passages})}


def _facts(
    conn: ReadConnection, kb_id: UUID, question: str, as_of: AsOf, budget: int
) -> tuple[list[dict[str, Any]], int, int]:
    """The chosen facts in the order of the world, their tokens, and how many had no room."""
    asked = set(terms(telling(words_of(normalised(question, "question"), asked=True))))
    found: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
    for entity in _named(conn, kb_id, question, as_of):
        answer = entity_facts(conn, kb_id, str(entity), as_of, limit=_FACTS_READ)
        name = answer["entity"]["name"]
        for place, fact in enumerate(answer["facts"]):
            if fact["predicate_key"] == "known_as":
                continue
            line = words.statement(name, fact)
            held = set(terms(words_of(normalised(line)))) - set(terms(words_of(normalised(name))))
            found.setdefault(fact["id"], ((-len(held & asked), place), {**fact, "entity": name, "statement": line}))
    chosen, spent, without_room = [], 0, 0
    for _, fact in sorted(found.values(), key=lambda pair: pair[0]):
        cost = estimate_tokens(fact["statement"]) + 3
        if spent + cost > budget:
            without_room += 1
            continue
        spent += cost
        chosen.append(fact)
    chosen.sort(key=lambda f: (f["holds_from"] is not None, f["holds_from"] or "", f["statement"]))
    return chosen, spent, without_room


def _named(conn: ReadConnection, kb_id: UUID, question: str, as_of: AsOf) -> list[UUID]:
    """The entities whose whole name stands in the question, those with the longest names first."""
    norms = sorted(set(_possible_names(question)))
    parameters = sql.parameters(as_of, kb_id=kb_id, norms=norms)
    rows = conn.execute(sql.query("context_named", as_of), parameters).fetchall()
    kept: list[Mapping[str, Any]] = []
    for row in rows:
        if not any(row["norm"] != other["norm"] and row["norm"] in other["norm"] for other in kept):
            kept.append(row)
    return [row["id"] for row in kept[:_MOST_ENTITIES]]


def _possible_names(question: str) -> Iterator[str]:
    listed = question.split()
    for start in range(len(listed)):
        for end in range(start + 1, min(len(listed), start + _LONGEST_NAME) + 1):
            plain = " ".join(listed[start:end]).strip("?!.,;:()[]“”\"'？！。，；：")
            if len(plain) > 1:
                yield normalise_name(plain)
    for run in _CJK.findall(question):
        for start in range(len(run)):
            for end in range(start + 2, min(len(run), start + 12) + 1):
                yield normalise_name(run[start:end])


def _passages(conn: ReadConnection, kb_id: UUID, ids: Sequence[UUID], as_of: AsOf) -> list[Mapping[str, Any]]:
    values = {"kb_id": kb_id, "ids": list(ids), "cut": _LONGEST_PASSAGE}
    rows = conn.execute(sql.query("retrieval_passages", as_of), sql.parameters(as_of, **values)).fetchall()
    place = {chunk_id: n for n, chunk_id in enumerate(ids)}
    return sorted(rows, key=lambda row: place[row["chunk_id"]])


def _shared_stamps(rows: Sequence[Mapping[str, Any]]) -> dict[UUID, str]:
    """Version → the stamp ("8 May, 2023") that most of its messages here bear: said once, above them."""
    counted: defaultdict[UUID, Counter[str]] = defaultdict(Counter)
    for row in rows:
        stamp = label(row["text"])[1]
        if stamp:
            counted[row["version_id"]][stamp] += 1
    return {version: max(sorted(found), key=found.__getitem__) for version, found in counted.items()}


def _passage(row: Mapping[str, Any], stamps: Mapping[UUID, str]) -> Passage:
    text = row["text"]
    name, stamp = label(text)
    if stamp and stamp == stamps.get(row["version_id"]):
        text = f"{name}: {text.partition(': ')[2]}"
    return Passage(row["chunk_id"], row["version_id"], row["seq"], text, estimate_tokens(text) + 1)


def _title(row: Mapping[str, Any], stamps: Mapping[UUID, str]) -> str:
    dated = stamps.get(row["version_id"]) or words.moment(rfc3339(row["doc_time"]), row["doc_time_precision"])
    return f'"{row["filename"]}"{f", {dated}" if dated else ""} (document_id {row["document_id"]})'


def _documents(
    packed: Packed, rows: Mapping[UUID, Mapping[str, Any]], titles: Mapping[UUID, str]
) -> list[dict[str, Any]]:
    found: dict[UUID, dict[str, Any]] = {}
    for passage in packed.passages:
        row = rows[passage.chunk_id]
        document = found.setdefault(
            passage.version_id,
            {
                "document_id": str(row["document_id"]),
                "version_id": str(row["version_id"]),
                "filename": row["filename"],
                "doc_time": rfc3339(row["doc_time"]),
                "title": titles[passage.version_id],
                "passages": [],
            },
        )
        shown = {"chunk_id": str(passage.chunk_id), "seq": passage.position, "heading_path": row["heading_path"]}
        document["passages"].append({**shown, "text": row["text"]})
    return list(found.values())


def in_words(answer: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Facts as a list, then each document's passages (their `texts` by id) under its title, then what had no room."""
    lines = []
    if answer["facts"]:
        when = f", held at {answer['at']}" if answer["at"] else ""
        lines += [f"Facts on record{when}:", *(f"- {fact['statement']}" for fact in answer["facts"])]
    for document in answer["documents"]:
        lines += ["", " ".join(document["title"].split())]
        # Each line is set in, so that none of a passage can pass for a title, a fact or a word of ours.
        lines += [f" {line}" for passage in document["passages"] for line in texts[passage["chunk_id"]].splitlines()]
    if not lines:
        lines = ["Nothing on record about this."]
    missing = [f"{count} {kind}" for kind, count in answer["left_out"].items() if count and kind != "copies"]
    if missing:
        lines += ["", f"Left out for want of room: {', '.join(missing)}."]
    return "\n".join(lines).strip()
