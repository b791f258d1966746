"""Refusals: a triple that a person said no to stays out on every path, follows merges and their revert.

An assertion that a refusal reaches is recorded and withheld: it is live, and no fact rests on it. What is withheld is
a function of the assertions, the refusals and the merges in force, so that taking back a merge or a verdict gives
back exactly what it kept out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from substrate import sql
from substrate.errors import NotFound
from substrate.ledger.door import Door
from substrate.ledger.drafts import Draft
from substrate.ledger.entities import clusters_of, merged_into
from substrate.ledger.recompute import recompute
from substrate.ledger.scenes import Row, Triple, only_ends, relation_of, triple_of
from substrate.ontology.store import load_ontology

Pair = tuple[UUID, UUID]
"""An assertion and a refusal that keeps it out."""
_COLUMNS = ("subject_id", "predicate_key", "phrase", "object_id", "value_norm")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused triple, on the ids it was refused with."""

    id: UUID
    subject_id: UUID
    predicate_key: str | None
    phrase: str
    object_id: UUID | None
    value_norm: str | None

    def triples(self, canonical: Mapping[UUID, UUID]) -> set[Triple]:
        """What it refuses, by predicate and by wording, on canonical ids (an empty mapping: on its own)."""
        subject = canonical.get(self.subject_id, self.subject_id)
        target = f"={self.value_norm}"
        if self.object_id is not None:
            target = str(canonical.get(self.object_id, self.object_id))
        return {(subject, relation, target) for relation in _relations(self.predicate_key, self.phrase)}


def _relations(predicate_key: str | None, phrase: str) -> set[str]:
    return {f"phrase:{phrase}"} | ({predicate_key} if predicate_key else set())


def refuse(door: Door, draft: Draft, why: str) -> UUID:
    """Refuse the triple of `draft` from now on. What states it already is the caller's to withdraw or `withhold`."""
    refusal_id = uuid4()
    row = {
        "id": refusal_id,
        "subject_id": draft.subject_id,
        "predicate_key": draft.predicate_key,
        "phrase": draft.phrase,
        "object_id": draft.object_id,
        "value_norm": None if draft.object_id is not None else draft.object_key({})[1:],
        "why": why,
    }
    door.insert("refusals", [row])
    return refusal_id


def lift(door: Door, refusal_id: UUID) -> None:
    """Let the triple in again from now on.

    Nothing is asserted by this: what had been said of the refused names themselves stays withheld. What the refusal
    reached through a merge alone counts again. Raises `NotFound` if no such refusal is in force.
    """
    row = door.connection.execute(sql.query("held_refusal"), {"kb_id": door.kb_id, "id": refusal_id}).fetchone()
    if row is None:
        raise NotFound("no refusal with that id is in force", field="refusal_id")
    kept_out = _kept_out_by(door, [refusal_id])
    door.close("refusals", [refusal_id])
    settle(door, kept_out)


def release(door: Door, refusal_ids: Sequence[UUID]) -> None:
    """Take refusals back as if they had never been, lifted ones too: whatever they alone kept out counts again."""
    kept_out = _kept_out_by(door, refusal_ids)
    asked = {"kb_id": door.kb_id, "ids": list(refusal_ids)}
    in_force = door.connection.execute(sql.query("refusals_in_force"), asked).fetchall()
    door.close("refusals", [row["id"] for row in in_force])
    changed = withhold(door, kept_out, released=frozenset(refusal_ids))
    recompute(door, changed, load_ontology(door.connection, door.kb_id), withdrawal="rejected")


def settle(door: Door, rows: Sequence[Row]) -> set[UUID]:
    """`withhold`, and the facts recomputed for what changed by it. Returns the lineages that changed."""
    changed = withhold(door, rows)
    return recompute(door, changed, load_ontology(door.connection, door.kb_id), withdrawal="rejected")


def withhold(door: Door, rows: Sequence[Row], *, released: Collection[UUID] = frozenset()) -> list[Row]:
    """Make what is withheld among these live assertions agree with the refusals and merges in force.

    The other halves of hand-overs told in their sentences go with them. A refusal that was lifted withholds what was
    said of its own names before that, unless it is `released`. Returns the rows that are withheld from now on or no
    more, for the caller to recompute.
    """
    held = _held(door, rows)
    hits = _hits(door, rows)
    reached = {i for i, _ in (*held, *hits)}
    beside = _beside(door, [r for r in rows if r["id"] in reached])
    known = {r["id"] for r in rows}
    mates = [r for r in beside if r["id"] not in known]
    held |= _held(door, mates)
    hits |= _hits(door, mates)
    every = {r["id"]: r for r in (*rows, *mates)}
    lifted = {
        pair
        for pair, kept in held.items()
        if not kept.in_force and pair[1] not in released and _states(every[pair[0]], kept.refusal)
    }
    wanted = hits | lifted
    wanted |= _halves(list(every.values()), wanted)
    door.close("withheld", sorted(held[pair].id for pair in held.keys() - wanted))
    door.insert("withheld", withheld_rows(sorted(wanted - held.keys())))
    before, after = {i for i, _ in held}, {i for i, _ in wanted}
    return [r for i, r in every.items() if (i in before) != (i in after)]


def withheld_rows(pairs: Iterable[Pair]) -> list[dict[str, object]]:
    """Rows of ``withheld``."""
    return [{"id": uuid4(), "assertion_id": a, "refusal_id": r} for a, r in pairs]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A held row of ``withheld``, with its refusal."""

    id: UUID
    refusal: Refusal
    in_force: bool


def _held(door: Door, rows: Sequence[Row]) -> dict[Pair, _Kept]:
    if not rows:
        return {}
    found = door.connection.execute(
        sql.query("withheld_of_assertions"), {"kb_id": door.kb_id, "ids": [r["id"] for r in rows]}
    ).fetchall()
    kept = {}
    for row in found:
        refusal = Refusal(row["refusal_id"], *(row[c] for c in _COLUMNS))
        kept[row["assertion_id"], row["refusal_id"]] = _Kept(row["id"], refusal, row["in_force"])
    return kept


def _kept_out_by(door: Door, refusal_ids: Sequence[UUID]) -> list[Row]:
    found: list[Row] = list(
        door.connection.execute(
            sql.query("assertions_withheld_by"), {"kb_id": door.kb_id, "ids": list(refusal_ids)}
        ).fetchall()
    )
    return found


def _beside(door: Door, rows: Sequence[Row]) -> list[Row]:
    """Every live assertion made by the sentences of these."""
    told = {(r["chunk_id"], r["quote_start"]): r["document_id"] for r in rows if r["chunk_id"] is not None}
    if not told:
        return []
    parameters = {
        "kb_id": door.kb_id,
        "document_ids": list(set(told.values())),
        "chunk_ids": list({chunk for chunk, _ in told}),
    }
    found = door.connection.execute(sql.query("assertions_beside"), parameters).fetchall()
    return [r for r in found if (r["chunk_id"], r["quote_start"]) in told]


def _halves(rows: Sequence[Row], pairs: Collection[Pair]) -> set[Pair]:
    """The other halves of hand-overs to someone who is refused: "Bo replaced Ann": if not Bo, Ann did not go."""
    by_id = {r["id"]: r for r in rows}
    told: dict[tuple[object, ...], set[Pair]] = defaultdict(set)
    for pair in pairs:
        if by_id[pair[0]]["chunk_id"] is not None:
            told[_told(by_id[pair[0]])].add(pair)
    ends = (r for r in rows if told and only_ends(r["stated_from"], r["stated_to_precision"]))
    return {(r["id"], refusal) for r in ends for said, refusal in told.get(_told(r), ()) if said != r["id"]}


def _told(row: Row) -> tuple[object, ...]:
    return row["chunk_id"], row["quote_start"], relation_of(row)


def hand_overs_to(refused: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """Those of `rows` that tell the other half of a hand-over in the sentence of a refused one."""
    told = {_told(r) for r in refused if r["chunk_id"] is not None}
    own = {r["id"] for r in refused}
    return [
        r
        for r in rows
        if r["id"] not in own and _told(r) in told and only_ends(r["stated_from"], r["stated_to_precision"])
    ]


def states(row: Row, draft: Draft) -> bool:
    """Does an assertion state the triple of `draft` on the very ids of it, whatever was merged?"""
    subject = (row["subject_id"], relation_of(row))
    return subject == (draft.subject_id, draft.relation) and triple_of(row, {})[2] == draft.object_key({})


def _states(row: Row, refusal: Refusal) -> bool:
    return not _spellings(row, {}).isdisjoint(refusal.triples({}))


def _spellings(row: Row, canonical: Mapping[UUID, UUID]) -> set[Triple]:
    subject, _, target = triple_of(row, canonical)
    return {(subject, relation, target) for relation in _relations(row["predicate_key"], row["phrase"])}


def _hits(door: Door, rows: Sequence[Row]) -> set[Pair]:
    """Each assertion with every refusal in force that its triple meets, judged on canonical ids."""
    if not rows:
        return set()
    ids: set[UUID] = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    canonical = merged_into(door, ids)
    subjects: set[UUID] = {r["subject_id"] for r in rows}
    by_triple = _refused_triples(door, {canonical.get(i, i) for i in subjects}, canonical)
    if not by_triple:
        return set()
    return {(r["id"], refusal) for r in rows for t in _spellings(r, canonical) for refusal in by_triple.get(t, ())}


def refused(door: Door, drafts: Sequence[Draft], canonical: Mapping[UUID, UUID]) -> dict[str, tuple[UUID, ...]]:
    """source key → refusals, for the drafts whose triple is refused now, judged on canonical ids."""
    by_triple = _refused_triples(door, {canonical.get(d.subject_id, d.subject_id) for d in drafts}, canonical)
    if not by_triple:
        return {}
    known = dict(canonical)
    found: dict[str, tuple[UUID, ...]] = {}
    for d in drafts:
        subject, target = canonical.get(d.subject_id, d.subject_id), d.object_key(known)
        met = (by_triple.get((subject, relation, target), ()) for relation in _relations(d.predicate_key, d.phrase))
        if hits := sorted({refusal for some in met for refusal in some}):
            found[d.source_key] = tuple(hits)
    return found


def kept_silent(door: Door, drafts: Sequence[Draft], canonical: Mapping[UUID, UUID]) -> set[str]:
    """Source keys of drafts that refusals kept out whenever they were met, had what was taken back never been.

    Judged by the merges in force and without refusals of reverted batches. A refusal that was lifted counts for when
    it was in force.
    """
    asked = {"kb_id": door.kb_id, "keys": [d.source_key for d in drafts]}
    rows = door.connection.execute(sql.query("refusals_that_met"), asked).fetchall()
    ends = {i for r in rows for i in (r["subject_id"], r["object_id"]) if i is not None}
    known = {**canonical, **merged_into(door, ends)}
    by_key: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_key[row["source_key"]].append(row)
    return {d.source_key for d in drafts if by_key[d.source_key] and _always_met(d, by_key[d.source_key], known)}


def _always_met(draft: Draft, rows: Sequence[Row], known: dict[UUID, UUID]) -> bool:
    subject, target = known.get(draft.subject_id, draft.subject_id), draft.object_key(known)
    said = {(subject, relation, target) for relation in _relations(draft.predicate_key, draft.phrase)}
    stand = [r for r in rows if not r["undone"]]
    reach = [r for r in stand if said & Refusal(r["refusal_id"], *(r[c] for c in _COLUMNS)).triples(known)]
    return {r["met_seq"] for r in rows} == {r["met_seq"] for r in reach}


def _refused_triples(door: Door, subjects: set[UUID], canonical: Mapping[UUID, UUID]) -> dict[Triple, list[UUID]]:
    if not door.may_hold("refusals"):
        return {}
    members = clusters_of(door, subjects)
    rows = door.connection.execute(
        sql.query("refusals_of_subjects"), {"kb_id": door.kb_id, "ids": list(members)}
    ).fetchall()
    refusals = [Refusal(**row) for row in rows]
    objects = {r.object_id for r in refusals if r.object_id is not None and r.object_id not in canonical}
    known = {**canonical, **merged_into(door, objects), **members}
    found: dict[Triple, list[UUID]] = defaultdict(list)
    for r in refusals:
        for triple in r.triples(known):
            found[triple].append(r.id)
    return found


def count_restatements(door: Door, hits: Mapping[str, Sequence[UUID]], drafts: Sequence[Draft]) -> None:
    """Keep each restatement of a refused triple once per refusal, with the document that made it."""
    rows = door.connection.execute(
        sql.query("counted_restatements"), {"kb_id": door.kb_id, "keys": list(hits)}
    ).fetchall()
    counted = {(row["refusal_id"], row["source_key"]) for row in rows}
    door.insert(
        "refusal_restatements",
        [
            {"refusal_id": refusal, "source_key": d.source_key, "document_id": d.evidence.document_id}
            for d in drafts
            for refusal in hits.get(d.source_key, ())
            if (refusal, d.source_key) not in counted
        ],
    )
