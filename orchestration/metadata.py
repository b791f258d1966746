"""Results of the substrate as what the Dagster UI shows: counts, a trend, and failures by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from orchestration.resources import Substrate
from substrate.audit.seals import LATE_S
from substrate.audit.signing import Kept
from substrate.audit.whole import Verified
from substrate.bases import Base
from substrate.documents.folders import FolderReport
from substrate.ontology.bindings_list import list_bindings
from substrate.ontology.candidates import Embedded, marks_of_terms
from substrate.reads.invariants import Mark, Misplaced, Table, mark
from substrate.work import StageResult

OWNERS = ["team:twoclocks"]
SEALED_IN_TIME = "what_was_served_is_sealed_in_time"


Materialized = dg.MaterializeResult[None]
"""What every asset returns: metadata and a data version, no value."""


def stored(name: str, kind: str) -> dict[str, str]:
    """Where an asset's rows are: a table of the product's database, or a folder."""
    return {"dagster/table_name": name, "dagster/storage_kind": kind}


def stage_materialized(substrate: Substrate, base: Base, table: Table, result: StageResult) -> Materialized:
    """A stage's result, versioned by where its table stands now."""
    with substrate.database.read(base.id) as connection:
        stands = mark(connection, base.id, table)
    return Materialized(
        metadata={**counts(result), "dagster/partition_row_count": stands.rows}, data_version=version_of(stands)
    )


def bindings_materialized(substrate: Substrate, base: Base, result: StageResult) -> Materialized:
    """A pass over the phrases, with how many stand by which method and the most frequent that are undecided."""
    with substrate.database.read(base.id) as connection:
        stands = mark(connection, base.id, "phrase_bindings")
        found = list_bindings(connection, base.id, state="undecided", limit=20)
    undecided = [f"{b['phrase']}: {b['claims']} claims, as in {_quotes(b)}" for b in found["bindings"]]
    shown = {
        "methods": dg.MetadataValue.json(found["by_method"]),
        "undecided": listed(undecided, unlisted=found["total"] - len(undecided)),
    }
    return Materialized(
        metadata={**counts(result), **shown, "dagster/partition_row_count": stands.rows},
        data_version=version_of(stands),
    )


def _quotes(binding: Mapping[str, Any]) -> str:
    return "; ".join(repr(e["quote"][:80]) for e in binding["examples"])


def funnel_materialized(substrate: Substrate, base: Base, result: StageResult) -> Materialized:
    """The funnel as a table, with a figure for each level's drops by code, so that Dagster draws their trend."""
    from substrate.funnel import count_funnel, picture

    with substrate.database.read(base.id) as connection:
        stands = mark(connection, base.id, "funnel")
        found = count_funnel(connection, base.id)
    figures: dict[str, Any] = {"balanced": found.balanced, "funnel": dg.MetadataValue.md(picture.markdown(found))}
    for level in found.levels:
        figures |= {f"{level.name}_in": level.came_in, f"{level.name}_out": level.went_on}
        dropped = {p.code: p.items for p in level.parts if not p.goes_on}
        figures |= {f"{level.name}_dropped": level.dropped, f"{level.name}_drops": dg.MetadataValue.json(dropped)}
    figures |= {"sentences": found.coverage["sentences"], "sentences_with_a_claim": found.coverage["covered"]}
    return Materialized(
        metadata={**counts(result), **figures, "dagster/partition_row_count": stands.rows},
        data_version=version_of(stands),
    )


def index_materialized(result: StageResult) -> Materialized:
    """The lexical index has no table; it stands where its last transaction stands."""
    return Materialized(metadata=counts(result), data_version=dg.DataVersion(f"seq:{result.watermark}"))


def documents_materialized(substrate: Substrate, base: Base, report: FolderReport) -> Materialized:
    """What the watched folders gave, versioned by what the base holds of documents."""
    with substrate.database.read(base.id) as connection:
        stands = mark(connection, base.id, "documents")
    found: dict[str, Any] = {
        action: report.counts.get(action, 0) for action in ("created", "updated", "revived", "unchanged")
    }
    found |= {"missing": len(report.missing), "skipped": len(report.skipped)}
    found |= {"skipped_files": listed(report.skipped), "missing_files": listed(report.missing)}
    return Materialized(metadata={**found, "dagster/partition_row_count": stands.rows}, data_version=version_of(stands))


def terms_materialized(substrate: Substrate, base: Base, made: Embedded) -> Materialized:
    """Vectors of terms, versioned by where the terms stand."""
    with substrate.database.read(base.id) as connection:
        stands = marks_of_terms(connection).get(base.slug, "none")
    counted: dict[str, Any] = {"rows_written": made.done, "forgotten": made.forgotten, "waits": made.waits or "no"}
    return Materialized(metadata=counted, data_version=dg.DataVersion(f"{made.model}:{stands}"))


def defects_checked(found: Mapping[str, Any]) -> dg.AssetCheckResult:
    """Passes if none waits for a person; lists those that do."""
    lines = [f"{d['code']}: {d.get('entity', '')} {d['detail']}".replace(":  ", ": ") for d in found["defects"]]
    return dg.AssetCheckResult(
        passed=not lines,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"defects": listed(lines), "count": found["total"], "entities": found["entities"]},
    )


def checkpoint_materialized(kept: Kept) -> Materialized:
    """A checkpoint with its text, versioned by where the base stood, and whether seals had come in time before it."""
    made, seq, sealed = kept.exported, kept.exported.checkpoint.seq, kept.exported.checkpoint.sealed
    metadata: dict[str, Any] = {
        "seq": seq,
        "seal": sealed,
        "new": made.new,
        "latest": dg.MetadataValue.path(made.latest),
        "note": made.text,
    }
    in_time = dg.AssetCheckResult(
        check_name=SEALED_IN_TIME,
        passed=not kept.waited.late,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={"rows": kept.waited.rows, "oldest_waits_s": round(kept.waited.oldest_s, 1), "most_s": LATE_S},
    )
    return Materialized(metadata=metadata, data_version=dg.DataVersion(f"seq:{seq}:{sealed}"), check_results=[in_time])


def counts(result: StageResult) -> dict[str, Any]:
    """A `StageResult` as metadata."""
    return {
        "done": result.done,
        "rows_written": result.written,
        "skipped": result.skipped,
        "failed": result.failed,
        "remaining": result.remaining,
        "seconds": round(result.seconds, 3),
        "watermark": result.watermark,
        "cost": dg.MetadataValue.json(dict(result.cost)),
        "failures": listed(result.failures, unlisted=result.unlisted),
    }


def listed(lines: Sequence[str], most: int = 20, *, unlisted: int = 0) -> dg.MarkdownMetadataValue:
    """The first lines as a list, with how many there are more; `unlisted` are those that are no lines here."""
    shown = [f"- {line}" for line in lines[:most]]
    more = len(lines[most:]) + unlisted
    if more:
        shown.append(f"- … and {more} more")
    return dg.MetadataValue.md("\n".join(shown) or "none")


def version_of(stands: Mark) -> dg.DataVersion:
    """A digest that is the same as long as the table is."""
    return dg.DataVersion(hashlib.sha256(stands.text.encode()).hexdigest()[:16])


def quotes_checked(misplaced: Sequence[Misplaced]) -> dg.AssetCheckResult:
    """Passes if there are none; names the rows otherwise."""
    rows = [f"{row.id} in chunk {row.chunk_id}: {row.quote[:80]!r}" for row in misplaced]
    return dg.AssetCheckResult(
        passed=not misplaced, severity=dg.AssetCheckSeverity.ERROR, metadata={"misplaced": listed(rows)}
    )


def verified(found: Verified) -> dg.AssetCheckResult:
    """Passes if chain and seals are sound; says what was walked, what waits for a seal, and the first damage."""
    ledger, seals = found.ledger, found.seals
    walked: dict[str, Any] = {"events": ledger.events, "rows": ledger.rows, "since": ledger.since}
    walked |= {"head_seq": ledger.head_seq, "seals": seals.seals, "served": seals.events, "read": seals.extractions}
    waits = {"waiting_for_a_seal": seals.waiting, "oldest_waits_s": round(seals.oldest_s, 1)}
    first = {"first_bad_seq": ledger.first_bad_seq, "first_bad_seal": seals.first_bad_seal}
    return dg.AssetCheckResult(
        passed=found.ok,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={**walked, **waits, "damage": found.damage or "none", **first, "problem": found.problem},
    )


def base_tags(slug: str, trigger: str) -> Mapping[str, str]:
    """Tags of a run: its base, and why it was asked for."""
    from orchestration.partitions import BASE_TAG

    return {BASE_TAG: slug, "twoclocks/trigger": trigger}
