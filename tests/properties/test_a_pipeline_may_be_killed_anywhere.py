"""Killed anywhere and run again, run twice, or twice at once: by natural key the same held rows as one clean run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from substrate.bases import create_base
from substrate.db import Database
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
PEOPLE = ("Ada Keller", "Bo Lindqvist", "Cleo Marsh", "Dana Ruiz", "Eli Novak", "Finn Olsen")
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


@pytest.fixture
def run(settings: Settings) -> Callable[..., subprocess.Popen[str]]:
    """Starts a pipeline in a process of its own."""

    def start(*kbs: UUID, where: str = "never", count: int = 0) -> subprocess.Popen[str]:
        assert settings.database_url is not None
        dsn, data, models = settings.database_url.get_secret_value(), settings.data_dir, ROOT / ".models"
        bases = ",".join(map(str, kbs))
        command = [sys.executable, str(VICTIM), dsn, bases, str(data), str(models), where, str(count)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


def fill(database: Database, slug: str) -> UUID:
    """A base with a superseded version, a deleted document and a remembered sentence, none of it processed."""
    with database.write() as conn:
        kb = create_base(conn, slug, slug, ontology_yaml=ONTOLOGY)
    for n, name in enumerate(PEOPLE):
        text = f"{name} leads Project Orion{n} since March 202{n % 5}.\n"
        push(database, kb, [PushItem(f"memo{n}", f"memo{n}.md", text.encode(), f"2024-0{n + 1}-01")], **BY)
    push(database, kb, [PushItem("memo0", "memo0.md", b"Gita Rao leads Project Orion0 since May 2024.\n")], **BY)
    delete(database, kb, external_id="memo5", **BY)
    remember(database, kb, "Hal Ito leads Project Zephyr since June 2024.", "2024-07-01", **BY)
    return kb


def held(database: Database, kb: UUID) -> dict[str, list[tuple[Any, ...]]]:
    with database.read() as conn:
        return {
            name: sorted(tuple(map(str, row.values())) for row in conn.execute(query, (kb,)).fetchall())
            for name, query in HELD.items()
        }


def finished(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def forget_the_dead(database: Database) -> None:
    """Let the leases of killed workers run out now."""
    with database.write() as conn:
        conn.execute("update work set lease_until = now() - interval '1 second' where lease_until is not null")


def head(database: Database, kb: UUID) -> int:
    with database.read() as conn:
        row = conn.execute("select seq from kb_head where kb_id = %s", (kb,)).fetchone()
    return row["seq"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_killed_pipeline_run_again_holds_what_a_clean_run_holds(
    database: Database, run: Callable[..., subprocess.Popen[str]]
) -> None:
    clean = fill(database, "clean")
    finished(run(clean))
    expected = held(database, clean)
    assert len(expected["facts"]) >= 5
    assert len(expected["evidence"]) >= 5
    assert len(expected["pending"]) == 1
    assert expected["unfinished work"] == []
    assert not any("memo5" in row for row in expected["evidence"])

    points = [("lease", 1), ("finish", 2), ("lease", 6), ("commit", 14), ("finish", 11)]
    bases = [(fill(database, f"killed{n}"), *point) for n, point in enumerate(points)]
    for kb, where, count in bases:
        process = run(kb, where=where, count=count)
        process.communicate(timeout=120)
        assert process.returncode == -9, f"the run was over before {where} {count}"
    forget_the_dead(database)
    finished(run(*(kb for kb, _, _ in bases)))
    for kb, where, count in bases:
        assert held(database, kb) == expected, f"killed at {where} {count}"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_pipelines_at_once_hold_what_one_holds_and_a_further_run_changes_nothing(
    database: Database, run: Callable[..., subprocess.Popen[str]]
) -> None:
    alone, shared = fill(database, "alone"), fill(database, "shared")
    finished(run(alone))
    pair = [run(shared), run(shared)]
    for process in pair:
        finished(process)
    finished(run(shared))
    assert held(database, shared) == held(database, alone)
    seq = head(database, shared)
    finished(run(shared))
    assert head(database, shared) == seq
