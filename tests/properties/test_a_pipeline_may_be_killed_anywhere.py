"""Killed anywhere and run again, run twice, or twice at once: by natural key the same held rows as one clean run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from substrate.bases import create_base
from substrate.db import EVERY_BASE, NO_BASE, Database
from substrate.documents.intake import PushItem, delete, push, remember
from substrate.settings import Settings

VICTIM = Path(__file__).parent / "pipeline_victim.py"
ROOT = Path(__file__).parents[2]
BY = {"actor": "person:Ada", "via": "rest"}
ONTOLOGY = """
classes:
  - {key: person, label: Person}
  - {key: project, label: Project}
relations:
  - {key: leads, label: leads, aliases: [lead], kind: relation, temporal: state, inverse_functional: true}
"""
PEOPLE = ("Ada Keller", "Bo Lindqvist", "Cleo Marsh", "Dana Ruiz")
HELD = {
    "facts": """
        select s.label as subject, f.predicate_key, f.phrase, coalesce(o.label, f.value_norm) as object,
               f.valid_from, f.valid_to, f.valid_to_precision, f.attested_from, f.grade
        from facts f join entities s on s.kb_id = f.kb_id and s.id = f.subject_id
        left join entities o on o.kb_id = f.kb_id and o.id = f.object_id
        where f.kb_id = %s and f.invalidated_seq is null""",
    "evidence": """
        select case d.kind when 'memory' then 'memory' else d.external_id end as name,
               a.quote, a.quote_start, a.phrase from evidence e
        join assertions a on a.kb_id = e.kb_id and a.id = e.assertion_id
        join documents d on d.kb_id = a.kb_id and d.id = a.document_id
        where e.kb_id = %s and e.invalidated_seq is null and a.invalidated_seq is null""",
    "claims": """
        select case d.kind when 'memory' then 'memory' else d.external_id end as name,
               v.number, k.position, c.extractor, c.ordinal, c.subject, c.phrase, c.quote
        from claims c join chunks k on k.kb_id = c.kb_id and k.id = c.chunk_id
        join documents d on d.kb_id = k.kb_id and d.id = k.document_id
        join document_versions v on v.kb_id = k.kb_id and v.id = k.version_id
        where c.kb_id = %s and k.invalidated_seq is null""",
    "embeddings": """
        select case d.kind when 'memory' then 'memory' else d.external_id end as name,
               k.position, e.model, e.embedding::text from embeddings e
        join chunks k on k.kb_id = e.kb_id and k.id = e.chunk_id
        join documents d on d.kb_id = k.kb_id and d.id = k.document_id
        where e.kb_id = %s and k.invalidated_seq is null""",
    "pending": """
        select c.subject, c.phrase, c.object, c.quote from pending_facts p
        join claims c on c.kb_id = p.kb_id and c.id = p.claim_id
        where p.kb_id = %s and p.invalidated_seq is null""",
    "unfinished work": "select stage, state from work where kb_id = %s and state <> 'done'",
}


Point = tuple[UUID, str, int]


@pytest.fixture
def start(settings: Settings) -> Callable[..., subprocess.Popen[str]]:
    """Starts a process that runs a pipeline for each point."""

    def started(*points: Point) -> subprocess.Popen[str]:
        assert settings.database_url is not None
        dsn, data, models = settings.database_url.get_secret_value(), settings.data_dir, ROOT / ".models"
        command = [sys.executable, str(VICTIM), dsn, str(data), str(models), *(f"{k}:{w}:{n}" for k, w, n in points)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return started


@dataclass(frozen=True)
class Ends:
    """How each pipeline ended, 0 or minus the signal, and how often the last whole one passed each place."""

    codes: list[int]
    passed: dict[str, int]


def ends(process: subprocess.Popen[str]) -> Ends:
    said, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    lines = said.splitlines()
    passed = [json.loads(line.removeprefix("passed ")) for line in lines if line.startswith("passed ")]
    return Ends([int(line) for line in lines if not line.startswith("passed ")], passed[-1] if passed else {})


def whole(*kbs: UUID) -> list[Point]:
    return [(kb, "never", 0) for kb in kbs]


def fill(database: Database, slug: str) -> UUID:
    """A base with a superseded version, a deleted document and a remembered sentence, none of it processed."""
    with database.write(NO_BASE) as conn:
        kb = create_base(conn, slug, slug, ontology_yaml=ONTOLOGY)
    for n, name in enumerate(PEOPLE):
        text = f"{name} leads Project Orion{n} since March 202{n % 5}.\n"
        push(database, kb, [PushItem(f"memo{n}", f"memo{n}.md", text.encode(), f"2024-0{n + 1}-01")], **BY)
    push(database, kb, [PushItem("memo0", "memo0.md", b"Gita Rao leads Project Orion0 since May 2024.\n")], **BY)
    delete(database, kb, external_id="memo3", **BY)
    remember(database, kb, "Hal Ito leads Project Zephyr since June 2024.", "2024-07-01", **BY)
    return kb


def held(database: Database, kb: UUID) -> dict[str, list[tuple[Any, ...]]]:
    with database.read(kb) as conn:
        return {
            name: sorted(tuple(map(str, row.values())) for row in conn.execute(query, (kb,)).fetchall())
            for name, query in HELD.items()
        }


def forget_the_dead(database: Database) -> None:
    """Let the leases of killed workers run out now."""
    with database.write(EVERY_BASE) as conn:
        conn.execute("update work set lease_until = now() - interval '1 second' where lease_until is not null")


def head(database: Database, kb: UUID) -> int:
    with database.read(kb) as conn:
        row = conn.execute("select seq from kb_head where kb_id = %s", (kb,)).fetchone()
    return row["seq"]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_pipeline_run_again_holds_what_a_clean_run_holds(
    database: Database, start: Callable[..., subprocess.Popen[str]]
) -> None:
    clean = fill(database, "clean")
    run = ends(start(*whole(clean)))
    expected = held(database, clean)
    assert (run.codes, len(run.passed)) == ([0], 3)
    assert len(expected["facts"]) >= 3
    assert len(expected["evidence"]) >= 3
    assert len(expected["pending"]) == 1
    assert expected["unfinished work"] == []
    assert not any("memo3" in row for row in expected["evidence"])

    places = [(where, n) for where, times in run.passed.items() for n in range(1, times + 1)]
    assert len(places) > 30
    points = [(fill(database, f"killed-{where}{n}"), where, n) for where, n in places]
    assert set(ends(start(*points)).codes) == {-9}
    forget_the_dead(database)
    assert set(ends(start(*whole(*(kb for kb, _, _ in points)))).codes) == {0}
    wrong = [f"{where} {count}" for kb, where, count in points if held(database, kb) != expected]
    assert wrong == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_pipelines_at_once_hold_what_one_holds_and_a_further_run_changes_nothing(
    database: Database, start: Callable[..., subprocess.Popen[str]]
) -> None:
    alone, *shared = (fill(database, f"base{n}") for n in range(5))
    assert ends(start(*whole(alone))).codes == [0]
    expected = held(database, alone)
    pair = [start(*whole(*shared)), start(*whole(*shared))]
    assert [set(ends(process).codes) for process in pair] == [{0}, {0}]
    assert set(ends(start(*whole(*shared))).codes) == {0}
    assert [held(database, kb) for kb in shared] == [expected] * 4
    seqs = [head(database, kb) for kb in shared]
    assert set(ends(start(*whole(*shared))).codes) == {0}
    assert [head(database, kb) for kb in shared] == seqs
