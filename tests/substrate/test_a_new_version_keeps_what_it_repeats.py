"""A document's new version, from the old one's facts to the new one's.

| the sentence stands in | before | while the new version is read | after |
|---|---|---|---|
| both versions | held | held, same row | held, same row, the new evidence alone |
| the old alone | held | held | not held; held as of before |
| the new alone | not held | not held | held |
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from substrate.documents.intake import PushItem, delete, push
from substrate.documents.stage import run_parse
from substrate.extraction.claims import Claim, Extraction, Passage
from substrate.extraction.stage import extractor_key, run_claims
from substrate.identity.stage import run_entities
from substrate.ledger.stage import run_facts

BY = {"actor": "person:Ada", "via": "rest"}


class Leads:
    """Reads "X leads Y." and nothing else."""

    name, version = "leads", "1"

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        return [Extraction(tuple(self._claims(p.text))) for p in passages]

    @staticmethod
    def _claims(text: str):
        for match in re.finditer(r"(\w+) leads (\w+)\.", text):
            yield Claim(match[1], "leads", match[0], match.start(), match.end(), object=match[2])


def put(database, kb, text: str) -> None:
    push(database, kb, [PushItem("memo", "memo.md", text.encode(), "2024-01-01")], **BY)
    run_parse(database, kb, next_versions={"claims": extractor_key(Leads())})


def read(database, kb) -> None:
    run_claims(database, kb, Leads())
    run_entities(database, kb)
    run_facts(database, kb)


def held(database, kb, seq: int | None = None) -> dict[str, str]:
    """Who leads → the fact's row id, held now or as of `seq`."""
    with database.read(kb) as connection:
        rows = connection.execute(
            """select e.label, f.id from facts f join entities e on e.kb_id = f.kb_id and e.id = f.subject_id
               where f.kb_id = %(kb)s and f.phrase = 'leads' and f.recorded_seq <= coalesce(%(seq)s, f.recorded_seq)
                 and (f.invalidated_seq is null or f.invalidated_seq > %(seq)s)""",
            {"kb": kb, "seq": seq},
        ).fetchall()
    return {row["label"]: str(row["id"]) for row in rows}


def head(database, kb) -> int:
    with database.read(kb) as connection:
        row = connection.execute("select seq from kb_head where kb_id = %s", (kb,)).fetchone()
    return row["seq"]


def evidence(database, kb) -> int:
    with database.read(kb) as connection:
        row = connection.execute(
            """select count(*) as n from evidence v join assertions a on a.kb_id = v.kb_id and a.id = v.assertion_id
               where v.kb_id = %s and v.invalidated_seq is null and a.phrase = 'leads'""",
            (kb,),
        ).fetchone()
    return row["n"]


def test_what_both_say_keeps_its_row_and_what_one_says_goes_or_comes(database, kb):
    put(database, kb, "Ada leads Orion.\n\nBo leads Vega.\n")
    read(database, kb)
    first, seq = held(database, kb), head(database, kb)
    assert sorted(first) == ["Ada", "Bo"]

    put(database, kb, "Ada leads Orion.\n\nCy leads Lyra.\n")
    assert held(database, kb) == first, "the new version has landed and is not read yet"
    read(database, kb)
    after = held(database, kb)
    assert sorted(after) == ["Ada", "Cy"]
    assert after["Ada"] == first["Ada"]
    assert evidence(database, kb) == 2
    assert all("Ada" in held(database, kb, n) for n in range(seq, head(database, kb) + 1)), "at every moment between"
    assert held(database, kb, seq) == first


def test_a_version_that_says_nothing_takes_everything_with_it(database, kb):
    put(database, kb, "Ada leads Orion.\n")
    read(database, kb)
    put(database, kb, "Nothing of note happened.\n")
    read(database, kb)
    assert held(database, kb) == {}


def test_a_document_deleted_between_the_two_takes_both_with_it(database, kb):
    put(database, kb, "Ada leads Orion.\n")
    read(database, kb)
    put(database, kb, "Bo leads Vega.\n")
    delete(database, kb, external_id="memo", **BY)
    read(database, kb)
    assert held(database, kb) == {}
