"""The ``bindings`` step: every phrase in use is bound, or is on record as undecided, with what that rests on.

Run again it writes nothing: a phrase is decided anew only where the fingerprint of what it was decided on has changed.
A person's decision is never decided anew. Facts follow in the transaction that records the decisions; models are asked
before it is opened.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from substrate import sql, work
from substrate.db import AnyConnection, Database
from substrate.errors import ModelUnavailable
from substrate.ledger.canonical import canonical_bytes
from substrate.ledger.door import Door, open_door
from substrate.ledger.ids import new_id
from substrate.ontology.binding import named
from substrate.ontology.bindings_phrases import Phrase, by_frequency, examples, phrases_in_use
from substrate.ontology.bindings_similarity import CALIBRATED, Candidate, candidates, chosen
from substrate.ontology.rebinding import any_moves, rebind
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import Ontology
from substrate.ontology.votes import NONE, Ballot, Example, Question, Voter
from substrate.retrieval.embedders.protocol import Embedder

VERSION = "1"
"""Raised when the same phrase may be decided otherwise on the same grounds."""
MOST_VOTES = 200
"""Phrases that a model is asked about in one pass, the most frequent first; the next pass goes on."""
EXAMPLES = 3
Row = Mapping[str, Any]


@dataclass(slots=True)
class Outcome:
    """What one pass decided, before it is written."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    kept: int = 0
    put_off: int = 0
    """Phrases that a model is still to be asked about."""
    failed: int = 0
    problem: str = ""
    cost: Counter[str] = field(default_factory=Counter)


def ontology_version(ontology: Ontology) -> str:
    """A digest of everything that is declared."""
    return hashlib.sha256(canonical_bytes(ontology.model_dump(mode="json"))).hexdigest()[:16]


def run_bindings(
    db: Database,
    kb_id: UUID,
    embedder: Callable[[], Embedder] | None = None,
    voter: Voter | None = None,
    *,
    limit: int | None = None,
) -> work.StageResult:
    """Decide what is new or rests on something that changed, and bring facts to it; safe to kill and to run twice.

    Without an embedder only declared words bind, without a voter nothing is voted on. A model that cannot be reached
    leaves its phrases as they are and is named under failures. `limit`: phrases a model may be asked about.
    """
    began = time.monotonic()
    with db.read(kb_id) as connection:
        pass_ = _Pass.read(connection, kb_id)
        moves = any_moves(connection, kb_id, pass_.ontology)
    decided = pass_.decide(embedder, voter, MOST_VOTES if limit is None else limit)
    written = _write(db, kb_id, pass_, decided.rows) if decided.rows or moves else 0
    with db.read(kb_id) as connection:
        mark = work.watermark(connection, kb_id)
    return work.StageResult(
        "bindings",
        done=len(decided.rows),
        skipped=decided.kept,
        failed=decided.failed,
        written=written,
        remaining=decided.put_off,
        seconds=time.monotonic() - began,
        cost=dict(decided.cost),
        failures=(f"{decided.failed} phrases wait: {decided.problem}",) if decided.failed else (),
        watermark=mark,
    )


def _write(db: Database, kb_id: UUID, pass_: _Pass, rows: Sequence[dict[str, Any]]) -> int:
    """Record the decisions and let facts follow. What was decided or declared otherwise meanwhile is left alone."""
    with db.write(kb_id) as connection:
        with open_door(connection, kb_id, actor="pipeline", via="pipeline", action="phrases bound") as door:
            before = load_ontology(connection, kb_id)
            if ontology_version(before) != pass_.version:
                return 0  # the next pass decides under what is declared now
            fresh = _undisturbed(door, pass_, rows)
            door.close("bindings", [r["supersedes"] for r in fresh if r["supersedes"] is not None])
            door.insert("bindings", fresh)
            moved = rebind(door, before, load_ontology(connection, kb_id))
    return len(fresh) + moved


def _undisturbed(door: Door, pass_: _Pass, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    asked = {"kb_id": door.kb_id, "phrases": [r["phrase"] for r in rows]}
    now = {r["phrase"]: r["id"] for r in door.connection.execute(sql.query("bindings_of_phrases"), asked).fetchall()}
    return [r for r in rows if now.get(r["phrase"]) == r["supersedes"]]


@dataclass
class _Pass:
    """What one pass goes by."""

    kb_id: UUID
    ontology: Ontology
    version: str
    phrases: list[Phrase]
    held: dict[str, Row]
    examples: Mapping[str, Sequence[Row]]

    @staticmethod
    def read(connection: AnyConnection, kb_id: UUID) -> _Pass:
        ontology = load_ontology(connection, kb_id)
        phrases = by_frequency(phrases_in_use(connection, kb_id, ontology))
        rows = connection.execute(sql.query("bindings_held"), {"kb_id": kb_id}).fetchall()
        open_ = [p for p in phrases if _by_words(ontology, p) is None]
        told = examples(connection, kb_id, open_, EXAMPLES)
        return _Pass(kb_id, ontology, ontology_version(ontology), phrases, {r["phrase"]: r for r in rows}, told)

    def decide(self, embedder: Callable[[], Embedder] | None, voter: Voter | None, most_votes: int) -> Outcome:
        found, open_ = Outcome(), list[Phrase]()
        for phrase in self.phrases:
            held = self.held.get(phrase.plain)
            if held is not None and held["method"] == "person":
                found.kept += 1
            elif (row := self._worded(phrase)) is not None:
                self._add(found, row)
            else:
                open_.append(phrase)
        if not self.ontology.relations:
            embedder = voter = None  # nothing to resemble
        try:
            opened = embedder() if embedder is not None else None
        except ModelUnavailable as error:
            found.failed, found.problem = len(open_), str(error)
            return found
        grounds = {p.plain: self._grounds(p, opened, voter) for p in open_}
        stale = [p for p in open_ if not self._stands(p, _digest(grounds[p.plain]))]
        found.kept += len(open_) - len(stale)
        self._open(found, stale, grounds, opened, voter, most_votes)
        return found

    def _worded(self, phrase: Phrase) -> dict[str, Any] | None:
        """What declared words say of it: known without a model, and true whatever else is declared."""
        hit = _by_words(self.ontology, phrase)
        if hit is None:
            return None
        relation, backwards, method = hit
        said = {"phrase": phrase.plain, "relation": relation.model_dump(mode="json"), "method": method}
        return self._row(phrase, relation.key, backwards, method, {"version": VERSION, "words": said}, {})

    def _grounds(self, phrase: Phrase, embedder: Embedder | None, voter: Voter | None) -> dict[str, Any]:
        profile = phrase.profile
        how = CALIBRATED.get(embedder.name) if embedder else None
        return {
            "version": VERSION,
            "phrase": phrase.plain,
            "looks": [profile.form, profile.subject_kind, profile.object_kind],
            "ontology": self.version,
            "embedder": embedder.name if embedder else None,
            "thresholds": [how.least, how.margin] if how else None,
            "voter": voter.name if voter else None,
        }

    def _stands(self, phrase: Phrase, fingerprint: bytes) -> bool:
        held = self.held.get(phrase.plain)
        return held is not None and bytes(held["fingerprint"]) == fingerprint

    def _row(
        self,
        phrase: Phrase,
        key: str | None,
        backwards: bool,
        method: str,
        grounds: Mapping[str, Any],
        more: Mapping[str, Any],
    ) -> dict[str, Any]:
        held = self.held.get(phrase.plain)
        return {
            "id": new_id(),
            "phrase": phrase.plain,
            "predicate_key": key,
            "backwards": backwards,
            "method": method,
            "basis": {**_brief(grounds), **more},
            "fingerprint": _digest(grounds),
            "why": "",
            "supersedes": held["id"] if held else None,
        }

    def _add(self, found: Outcome, row: dict[str, Any]) -> None:
        held = self.held.get(row["phrase"])
        same = held is not None and bytes(held["fingerprint"]) == row["fingerprint"]
        if same:
            found.kept += 1
        else:
            found.rows.append(row)

    def _open(
        self,
        found: Outcome,
        stale: Sequence[Phrase],
        grounds: Mapping[str, Mapping[str, Any]],
        embedder: Embedder | None,
        voter: Voter | None,
        most_votes: int,
    ) -> None:
        """Phrases that no declared word names: by resemblance, else by votes, else undecided."""
        try:
            profiles = [p.profile for p in stale]
            ranked = candidates(self.ontology, profiles, embedder) if embedder and stale else [[] for _ in stale]
        except ModelUnavailable as error:
            found.failed, found.problem = len(stale), str(error)
            return
        contested: list[tuple[Phrase, list[Candidate]]] = []
        for phrase, some in zip(stale, ranked, strict=True):
            best = chosen(some, embedder.name) if embedder else None
            if best is not None:
                key, turned = best.relation, bool(best.backwards)
                more = {"candidates": _shown(some)}
                found.rows.append(self._row(phrase, key, turned, "similarity", grounds[phrase.plain], more))
            elif voter is not None and some:
                contested.append((phrase, some))
            else:
                more = {"candidates": _shown(some)}
                found.rows.append(self._row(phrase, None, False, "undecided", grounds[phrase.plain], more))
        found.put_off = len(contested[most_votes:])
        if voter is not None and contested:
            self._vote(found, contested[:most_votes], grounds, voter)

    def _vote(
        self,
        found: Outcome,
        contested: Sequence[tuple[Phrase, list[Candidate]]],
        grounds: Mapping[str, Mapping[str, Any]],
        voter: Voter,
    ) -> None:
        """Ask about each question that was not asked in the same words before."""
        questions = [self._question(phrase, some) for phrase, some in contested]
        digests = [
            _digest(
                {"voter": voter.name, "phrase": q.phrase, "relations": [r.model_dump(mode="json") for r in q.relations]}
            ).hex()
            for q in questions
        ]
        known = [self._voted(phrase, digest) for (phrase, _), digest in zip(contested, digests, strict=True)]
        asked = [q for q, votes in zip(questions, known, strict=True) if votes is None]
        answers = iter(voter.ballots(asked))
        for (phrase, some), digest, votes in zip(contested, digests, known, strict=True):
            more: dict[str, Any] = {"candidates": _shown(some), "question": digest}
            if votes is None:
                ballot = next(answers)
                if isinstance(ballot, ModelUnavailable):
                    found.failed, found.problem = found.failed + 1, str(ballot)
                    continue
                found.cost.update(ballot.usage)
                votes = _votes(ballot)
            more["votes"] = votes
            key, backwards = votes["agreed"] or (None, False)
            method = "undecided" if key is None else "votes"
            found.rows.append(self._row(phrase, key, backwards, method, grounds[phrase.plain], more))

    def _question(self, phrase: Phrase, some: Sequence[Candidate]) -> Question:
        told = [Example(r["quote"], r["subject"], r["object"]) for r in self.examples.get(phrase.plain, ())]
        return Question(phrase.plain, tuple(self.ontology.by_key[c.relation] for c in some), tuple(told))

    def _voted(self, phrase: Phrase, digest: str) -> Any:
        """Votes on the very same question, kept with the decision that stood on them."""
        basis = self.held[phrase.plain]["basis"] if phrase.plain in self.held else {}
        return basis.get("votes") if basis.get("question") == digest else None


def _by_words(ontology: Ontology, phrase: Phrase) -> Any:
    return named(ontology, phrase.plain, of_person=phrase.profile.object_kind == "person")


def _votes(ballot: Ballot) -> dict[str, Any]:
    """As it is kept: both votes, and what they agree on."""
    said = [None if v is None else [v.relation, v.direction] for v in ballot.votes]
    agreed = ballot.agreed
    bound = agreed is not None and agreed.relation != NONE
    return {"said": said, "agreed": [agreed.relation, agreed.direction == "backward"] if agreed and bound else None}


def _shown(some: Sequence[Candidate]) -> list[dict[str, Any]]:
    return [{"relation": c.relation, "backwards": c.backwards, "score": c.score, "word": c.word} for c in some]


def _brief(grounds: Mapping[str, Any]) -> dict[str, Any]:
    """What of the grounds is worth reading; the definition of a relation is in the ontology."""
    return {k: v for k, v in grounds.items() if k not in ("phrase", "words")}


def _digest(grounds: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(canonical_bytes(grounds)).digest()
