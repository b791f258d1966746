"""If a person says that Bo does not lead, "Bo replaced Ann" did not move Ann out either.

| | Ann at 2025 | Bo at 2025 |
|---|---|---|
| hand-over asserted | not held | held |
| Bo refused | held, open | not held |
| hand-over said again elsewhere | held, open | not held, counted |
| Ann's end said by itself | not held | not held |
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from substrate.bases import create_base
from substrate.db import NO_BASE
from substrate.documents.intake import PushItem, push
from substrate.documents.stage import run_parse
from substrate.extraction.claims import Claim, ClaimTime, Extraction, Passage
from substrate.extraction.stage import extractor_key, run_claims
from substrate.identity.stage import run_entities
from substrate.ledger import open_door
from substrate.ledger.retractions import reject_fact
from substrate.ledger.stage import run_facts
from substrate.reads.facts import entity_facts
from substrate.reads.moments import resolve

BY = {"actor": "person:Ada", "via": "rest"}
ONTOLOGY = "relations:\n  - {key: leads, label: leads, inverse_functional: true}\n"
DAY = datetime(2024, 7, 5, tzinfo=UTC)
STARTED = ClaimTime(datetime(2020, 1, 1, tzinfo=UTC), "day")


class Told:
    """Reads three sentences."""

    name, version = "told", "1"

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        return [Extraction(tuple(self._claims(p.text.strip()))) for p in passages]

    @staticmethod
    def _claims(text: str) -> list[Claim]:
        def claim(who: str, time: ClaimTime) -> Claim:
            return Claim(who, "leads", text, 0, len(text), object="Orion", time=time)

        ends = ClaimTime(valid_to=DAY, valid_to_precision="day")
        if text.startswith("Bo replaced Ann"):
            return [claim("Bo", ClaimTime(DAY, "day")), claim("Ann", ends)]
        return [claim("Ann", ends if "until" in text else STARTED)]


def put(database, kb: UUID, name: str, text: str) -> None:
    push(database, kb, [PushItem(name, f"{name}.md", text.encode(), "2024-07-06")], **BY)
    run_parse(database, kb, next_versions={"claims": extractor_key(Told())})
    run_claims(database, kb, Told())
    run_entities(database, kb)
    run_facts(database, kb)


def leaders(database, kb: UUID, at: str = "2025-01-01") -> list[tuple[str, str]]:
    with database.read(kb) as connection:
        answer = entity_facts(connection, kb, "Orion", resolve(connection, kb, at=at))
    return [(fact["other_name"], fact["id"]) for fact in answer["facts"]]


def names(database, kb: UUID, at: str = "2025-01-01") -> list[str]:
    return [name for name, _ in leaders(database, kb, at)]


def test_a_refused_successor_moved_nobody_out(database):
    with database.write(NO_BASE) as connection:
        kb = create_base(connection, "told", "Told", ontology_yaml=ONTOLOGY)
    put(database, kb, "charter", "Ann leads Orion.")
    put(database, kb, "memo", "Bo replaced Ann as lead of Orion.")
    assert names(database, kb) == ["Bo"]
    with database.write(kb) as connection:
        with open_door(connection, kb, actor="person:Eve", via="rest", action="rejected") as door:
            reject_fact(door, UUID(leaders(database, kb)[0][1]), "not him")
    assert names(database, kb) == ["Ann"]
    put(database, kb, "note", "Bo replaced Ann, as was said before.")
    assert names(database, kb) == ["Ann"]
    with database.read(kb) as connection:
        counted = connection.execute("select count(*) as n from refusal_restatements").fetchone()["n"]
    assert counted == 1
    put(database, kb, "later", "Ann led Orion until 5 July 2024.")
    assert names(database, kb) == []
    assert names(database, kb, "2023-01-01") == ["Ann"]
