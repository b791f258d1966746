"""Phrases in use with what they are bound to, for people, by how often they are said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.ontology.binding import named
from substrate.ontology.bindings_phrases import Phrase, by_frequency, examples, phrases_in_use
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology
from substrate.reads.moments import envelope, resolve, rfc3339

State = Literal["undecided", "bound", "person"]
STATES: tuple[State, ...] = ("undecided", "bound", "person")
MOST = 500


def list_bindings(
    connection: AnyConnection,
    kb_id: UUID,
    *,
    state: State | None = None,
    limit: int = 50,
    offset: int = 0,
    most_examples: int = 3,
) -> dict[str, Any]:
    """Phrases in use as they are bound now, most frequent first, each with sentences that use it.

    `state`: ``undecided``, ``bound`` or ``person`` alone. ``bindings`` is one page of ``total``; ``by_method`` counts
    all phrases. A phrase that no pass has met yet shows as undecided, without an id. Decisions of people on phrases and
    wordings that no claim hangs on come last. Raises `InvalidInput` naming the parameter.
    """
    if state not in (None, *STATES):
        raise InvalidInput(f"state must be one of {', '.join(STATES)}", field="state")
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must lie between 1 and {MOST}", field="limit")
    if offset < 0:
        raise InvalidInput("offset must not be negative", field="offset")
    ontology = load_ontology(connection, kb_id)
    used = phrases_in_use(connection, kb_id, ontology)
    rows = {r["phrase"]: r for r in connection.execute(sql.query("bindings_held"), {"kb_id": kb_id}).fetchall()}
    said = {p: Phrase(p) for p, r in sorted(rows.items()) if r["method"] == "person" and p not in used}
    shown = [_shown(ontology, phrase, rows.get(phrase.plain)) for phrase in (*by_frequency(used), *said.values())]
    wanted = [one for one in shown if state is None or _is(one, state)]
    page = wanted[offset : offset + limit]
    told = examples(connection, kb_id, [used[one["phrase"]] for one in page if one["phrase"] in used], most_examples)
    return {
        "kb_id": str(kb_id),
        **envelope(resolve(connection, kb_id)),
        "total": len(wanted),
        "limit": limit,
        "offset": offset,
        "truncated": offset + len(page) < len(wanted),
        "by_method": dict(sorted(Counter(one["method"] for one in shown).items())),
        "bindings": [{**one, "examples": [_example(r) for r in told.get(one["phrase"], ())]} for one in page],
    }


def _shown(ontology: Ontology, phrase: Phrase, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """A phrase as it is bound now; what declared words say goes before a machine's row, as it does when binding."""
    by_person = row is not None and row["method"] == "person"
    hit = None if by_person else named(ontology, phrase.plain, of_person=_of_person(phrase))
    key, backwards, method = (
        (hit[0].key, hit[1], hit[2])
        if hit
        else (row["predicate_key"], row["backwards"], row["method"])
        if row
        else (None, False, "undecided")
    )
    if not by_person and key is not None and key not in ontology.by_key:
        key, backwards, method = None, False, "undecided"
    relation = ontology.by_key.get(key or "")
    return {
        "id": str(row["id"]) if row else None,
        "phrase": phrase.plain,
        "spellings": [s for s, _ in phrase.spellings.most_common(5)],
        "claims": phrase.claims,
        "claims_by_wording": phrase.worded,
        "method": method,
        "relation": key,
        "relation_label": relation.label if relation else None,
        "backwards": backwards,
        "why": row["why"] if row else "",
        "decided_at": rfc3339(row["recorded_at"]) if row else None,
        "seq": row["recorded_seq"] if row else None,
        "fingerprint": bytes(row["fingerprint"]).hex() if row else None,
        "basis": row["basis"] if row else {},
    }


def _of_person(phrase: Phrase) -> bool:
    return bool(phrase.looks) and phrase.profile.object_kind == "person"


def _is(one: Mapping[str, Any], state: State) -> bool:
    if state == "person":
        return bool(one["method"] == "person")
    return bool((one["method"] == "undecided") == (state == "undecided"))


def _example(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "quote": row["quote"],
        "subject": row["subject"],
        "wording": row["wording"],
        "object": row["object"],
        "filename": row["filename"],
        "document_id": str(row["document_id"]),
        "chunk_id": str(row["chunk_id"]),
        "claim_id": str(row["id"]),
    }
