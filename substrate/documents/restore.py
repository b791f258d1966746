"""How a deleted document comes back: exactly what its deletion took, in one ledger transaction.

Rows that were closed stay closed. Each version, chunk, claim, assertion and proposal of the list is written anew, and
the restoration says which new row stands for which old one. What a model was paid for (claims, vectors) is copied.

Facts are not copied: the assertions go through the door like any others, so that a triple refused since stays refused
and one that another document states meanwhile gains evidence. A fact that does come back goes on under its lineage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from substrate import sql, work
from substrate.audit.extractions import content_of
from substrate.audit.seals import seal_base
from substrate.db import Database
from substrate.documents.checks import check_text
from substrate.documents.parser_version import PARSER
from substrate.errors import Conflict, NotFound
from substrate.extraction.claims import ClaimTime, Value
from substrate.ledger import Door, open_door
from substrate.ledger.assertions import assert_batch
from substrate.ledger.door import Via
from substrate.ledger.drafts import Draft, Evidence
from substrate.ontology.store import load_ontology

Row = Mapping[str, Any]
Ids = dict[UUID, UUID]
"""Old id → the id of the row that stands for it now."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back with a document."""

    restoration_id: UUID
    deletion_id: UUID
    document_id: UUID
    external_id: str
    version_ids: tuple[UUID, ...]
    chunks: int
    fact_ids: tuple[UUID, ...]
    """The rows now held of facts that the deletion had taken."""
    kept_out: tuple[UUID, ...]
    """Facts that the deletion had taken and that are not held under their lineage: refused since, or another fact
    speaks for them now."""
    refused: int
    """Statements that are refused now."""
    seq: int


def restore(db: Database, kb_id: UUID, deletion_id: UUID, *, actor: str, via: Via, why: str = "") -> Restored:
    """Bring back what a deletion took. It is searchable as soon as this returns.

    Raises `NotFound` for an unknown deletion, and `Conflict` if it was undone before, if the document was pushed again
    since (delete that first: what it says now is not overwritten) or was purged.
    """
    check_text(why, "why", blank=True)
    with db.write(kb_id) as conn:
        with open_door(conn, kb_id, actor=actor, via=via, action="document restored", why=why) as door:
            deletion = _restorable(door, deletion_id)
            restored = _Restoration(door, deletion).run()
    seal_base(db, kb_id)  # what was read of the document is told anew, and no server need run for it to be sealed
    return restored


def _restorable(door: Door, deletion_id: UUID) -> Row:
    row = door.connection.execute(sql.query("lifecycle_deletion"), {"kb_id": door.kb_id, "id": deletion_id}).fetchone()
    if row is None:
        raise NotFound("no deletion with that id", field="deletion_id")
    name = row["external_id"]
    if row["purged_seq"] is not None:
        message = f"the document was purged at seq:{row['purged_seq']}; nothing is left to restore"
        raise Conflict(message, field="deletion_id")
    if row["restored_seq"] is not None:
        raise Conflict(f"this deletion was undone before, at seq:{row['restored_seq']}", field="deletion_id")
    if row["held_versions"]:
        message = f"document {name!r} came in again since; delete it first, or keep what it says now"
        raise Conflict(message, field="deletion_id", document=name)
    return row


@dataclass(slots=True)
class _Restoration:
    """One deletion being undone: what stands for what so far."""

    door: Door
    deletion: Row
    versions: Ids = field(default_factory=dict)
    chunks: Ids = field(default_factory=dict)
    claims: Ids = field(default_factory=dict)
    assertions: Ids = field(default_factory=dict)
    proposals: Ids = field(default_factory=dict)
    decided: list[Row] = field(default_factory=list)
    _spelled: dict[str, str] = field(default_factory=dict)

    def run(self) -> Restored:
        """All of it. Rows that others refer to come first."""
        self._bring_versions()
        self._bring_chunks()
        self._bring_claims()
        withdrawn = self.deletion["proposal_ids"]
        self.decided = self._rows("lifecycle_decided", list(self.claims), withdrawn=withdrawn)
        refused = self._assert()
        self._propose()
        self._decide()
        back, kept_out = self._facts()
        restoration_id = self._note(back)
        d = self.deletion
        return Restored(
            restoration_id,
            d["id"],
            d["document_id"],
            d["external_id"],
            tuple(self.versions.values()),
            len(self.chunks),
            tuple(back.values()),
            kept_out,
            refused,
            self.door.seq,
        )

    def _rows(self, name: str, ids: Sequence[UUID], **more: object) -> list[Row]:
        values = {"kb_id": self.door.kb_id, "ids": list(ids), **more}
        return list(self.door.connection.execute(sql.query(name), values).fetchall())

    def _copy(self, name: str, ids: Ids, **more: object) -> list[Row]:
        """Run a copying statement over old and new ids; its rows, if it returns any."""
        values = {"kb_id": self.door.kb_id, "old": list(ids), "new": list(ids.values()), **more}
        cursor = self.door.connection.execute(sql.query(name), values)
        return list(cursor.fetchall()) if cursor.description else []

    def _bring_versions(self) -> None:
        old = self._rows("lifecycle_versions", self.deletion["version_ids"])
        self.versions = {row["id"]: uuid4() for row in old}
        rows = []
        for number, row in enumerate(old, self.deletion["last_number"] + 1):
            rows.append({**row, "id": self.versions[row["id"]], "number": number})
        self.door.insert("document_versions", rows)
        parsed = {row["id"]: self.versions[row["id"]] for row in old if row["parsed"]}
        self._copy("lifecycle_copy_parse_results", parsed)
        self._copy("lifecycle_copy_parse_work", parsed)
        unread = [new for known, new in self.versions.items() if known not in parsed]
        work.add_due(self.door.connection, self.door.kb_id, "parse", unread, PARSER)

    def _bring_chunks(self) -> None:
        old = self._rows("lifecycle_chunks", self.deletion["chunk_ids"])
        self.chunks = {row["id"]: uuid4() for row in old}
        rows = [{**r, "id": self.chunks[r["id"]], "version_id": self.versions[r["version_id"]]} for r in old]
        self.door.insert("chunks", rows)
        self._copy("lifecycle_copy_embeddings", self.chunks)

    def _bring_claims(self) -> None:
        old = self._rows("lifecycle_claims", list(self.chunks))
        self.claims = {row["id"]: uuid4() for row in old}
        readings = self._readings(old)
        self._copy("lifecycle_copy_claims", self.claims, chunks=[self.chunks[row["chunk_id"]] for row in old])
        self._copy("lifecycle_copy_drops", self.chunks)
        mentions = self._rows("lifecycle_mentions", list(self.claims))
        self.door.insert("mentions", [{**m, "claim_id": self.claims[m["claim_id"]]} for m in mentions])
        self._make_due(readings)

    def _readings(self, claims: Sequence[Row]) -> list[Row]:
        """Note that the new chunks were read, at no cost this time; returns which extractor had read which.

        The digest of a reading is over its claims' ids too, so that it is reckoned anew.
        """
        given: dict[tuple[UUID, str], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
        for claim in claims:
            given[claim["chunk_id"], claim["extractor"]][0].append({**claim, "id": self.claims[claim["id"]]})
        for drop in self._rows("lifecycle_drops", list(self.chunks)):
            given[drop["chunk_id"], drop["extractor"]][1].append(drop)
        rows: list[Row] = []
        for read in self._rows("lifecycle_readings", list(self.chunks)):
            kept, dropped = given[read["chunk_id"], read["extractor"]]
            reading = {"claims": len(kept), "drops": len(dropped), "content": content_of(kept, dropped)}
            rows.append({"extractor": read["extractor"], "chunk_id": self.chunks[read["chunk_id"]], **reading})
        columns = ("chunk_id", "extractor", "claims", "drops", "content")
        values = {"kb_id": self.door.kb_id, **{c: [row[c] for row in rows] for c in columns}}
        self.door.connection.execute(sql.query("lifecycle_keep_readings"), values)
        return rows

    def _make_due(self, readings: Sequence[Row]) -> None:
        """Let the later stages look at what was read: what was not done when the document went is done now.

        A remembered sentence that was asked about is not asked about again.
        """
        proposed = {self.chunks[r["chunk_id"]] for r in self._rows("lifecycle_proposed_chunks", list(self.chunks))}
        by_version: dict[str, list[UUID]] = defaultdict(list)
        for row in readings:
            by_version[row["extractor"]].append(row["chunk_id"])
        conn, kb_id = self.door.connection, self.door.kb_id
        for code_version, chunk_ids in sorted(by_version.items()):
            work.add_due(conn, kb_id, "entities", [c for c in chunk_ids if c not in proposed], code_version)
            settled = {"kb_id": kb_id, "code_version": code_version, "items": [c for c in chunk_ids if c in proposed]}
            conn.execute(sql.query("lifecycle_settle_work"), settled)

    def _assert(self) -> int:
        """Assert what the deletion had withdrawn; returns how many statements are refused now."""
        d = self.deletion
        rows = self._rows("lifecycle_assertions", d["assertion_ids"], seq=d["recorded_seq"])
        rows = self._still_confirmed(rows)
        if not rows:
            return 0
        self._spelled = {str(old): str(new) for old, new in (*self.claims.items(), *self.chunks.items())}
        drafts = {row["id"]: self._draft(row) for row in rows}
        lineages = {drafts[r["id"]].source_key: r["lineage_id"] for r in rows if r["free"]}
        ontology = load_ontology(self.door.connection, self.door.kb_id)
        outcome = assert_batch(self.door, list(drafts.values()), ontology, lineages=lineages)
        keys = [draft.source_key for draft in drafts.values()]
        values = {"kb_id": self.door.kb_id, "keys": keys}
        found = self.door.connection.execute(sql.query("lifecycle_of_source_keys"), values)
        made = {row["source_key"]: row["id"] for row in found}
        self.assertions = {old: made[d.source_key] for old, d in drafts.items() if d.source_key in made}
        return outcome.refused

    def _still_confirmed(self, rows: list[Row]) -> list[Row]:
        """Without what a verdict asserted that was taken back since; a name stays that another verdict needs too."""
        confirmed = [r for r in self.decided if r["verdict"] == "confirmed"]
        taken_back = {r["claim_id"] for r in confirmed if r["reverted_seq"] is not None}
        needed = {r["chunk_id"] for r in confirmed if r["reverted_seq"] is None}
        return [
            r
            for r in rows
            if r["claim_id"] not in taken_back or (r["source_key"].startswith("name:") and r["chunk_id"] in needed)
        ]

    def _draft(self, row: Row) -> Draft:
        value = None
        if row["object_id"] is None:
            value = Value(row["value_raw"], row["value_number"], row["value_unit"], row["value_type"])
        return Draft(
            source_key=self._source_key(row["source_key"]),
            subject_id=row["subject_id"],
            phrase=row["phrase"],
            predicate_key=row["predicate_key"],
            object_id=row["object_id"],
            value=value,
            time=_time(row),
            attested_at=row["attested_at"],
            denies=row["denies"],
            corrects=row["corrects"],
            replaces=row["replaces"],
            origin=row["origin"],
            confidence=row["confidence"],
            qualifiers=tuple((str(k), str(v)) for k, v in row["qualifiers"]),
            evidence=self._evidence(row),
        )

    def _evidence(self, row: Row) -> Evidence:
        return Evidence(
            claim_id=self.claims.get(row["claim_id"], row["claim_id"]),
            chunk_id=self.chunks.get(row["chunk_id"], row["chunk_id"]),
            document_id=row["document_id"],
            version_id=self.versions.get(row["version_id"], row["version_id"]),
            quote=row["quote"],
            quote_start=row["quote_start"],
            quote_end=row["quote_end"],
            wording=row["wording"],
        )

    def _source_key(self, key: str) -> str:
        """The key under which a stage that reads the new chunk would assert the same."""
        kind, colon, rest = key.partition(":")
        named, mark, tail = rest.partition(":")
        known = self._spelled.get(named, named) if kind in ("claim", "name") else named
        return f"{kind}{colon}{known}{mark}{tail}"

    def _propose(self) -> None:
        """Proposals that waited when the document went wait again, as do those whose verdict was taken back since."""
        since = self.deletion["recorded_seq"]
        asked = [r for r in self.decided if r["reverted_seq"] is not None and r["reverted_seq"] > since]
        self._bring_proposals([*self._rows("lifecycle_proposals", self.deletion["proposal_ids"]), *asked])

    def _bring_proposals(self, old: Sequence[Row]) -> None:
        rows = []
        for row in old:
            self.proposals[row["id"]] = uuid4()
            stands = {"claim_id": self.claims[row["claim_id"]], "chunk_id": self.chunks[row["chunk_id"]]}
            rows.append({**row, **stands, "id": self.proposals[row["id"]]})
        self.door.insert("pending_facts", rows)

    def _decide(self) -> None:
        """Verdicts in force are carried over, each in its batch, so that its revert finds what it decided."""
        carried = [row for row in self.decided if row["reverted_seq"] is None]
        self._bring_proposals(carried)
        for row in carried:
            why = f"as {row['decided_by']} decided before the document was deleted"
            self.door.decide(self.proposals[row["id"]], row["verdict"], why)
        verdicts = [
            {"batch_id": row["batch_id"], "pending_id": self.proposals[row["id"]], "refusal_id": row["refusal_id"]}
            for row in carried
            if row["batch_id"] is not None
        ]
        self.door.insert("verdicts", verdicts)

    def _facts(self) -> tuple[Ids, tuple[UUID, ...]]:
        rows = self._rows("lifecycle_lineages", self.deletion["fact_ids"])
        back = {row["id"]: row["held_id"] for row in rows if row["held_id"] is not None}
        return back, tuple(row["id"] for row in rows if row["held_id"] is None)

    def _note(self, facts: Ids) -> UUID:
        listed = {
            "versions": self.versions,
            "chunks": self.chunks,
            "assertions": self.assertions,
            "proposals": self.proposals,
            "facts": facts,
        }
        restoration_id = uuid4()
        row = {
            "id": restoration_id,
            "deletion_id": self.deletion["id"],
            "document_id": self.deletion["document_id"],
            "why": self.door.why,
            "items": {kind: [[str(old), str(new)] for old, new in ids.items()] for kind, ids in listed.items()},
        }
        self.door.insert("document_restorations", [row])
        return restoration_id


def _time(row: Row) -> ClaimTime:
    return ClaimTime(
        valid_from=row["stated_from"],
        valid_from_precision=row["stated_from_precision"],
        valid_to=row["stated_to"],
        valid_to_precision=row["stated_to_precision"],
        grade=row["grade"],
        at_event=row["at_event"],
    )
