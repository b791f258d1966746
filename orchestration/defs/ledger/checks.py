"""Facts rest on words that are there, and the record is the one that was written."""

import dagster as dg

from orchestration.defs.ledger.assets import facts
from orchestration.metadata import quotes_checked
from orchestration.partitions import slug_of
from orchestration.resources import Substrate


@dg.asset_check(asset=facts, blocking=True)
def evidence_quote_is_in_its_chunk(
    context: dg.AssetCheckExecutionContext, substrate: dg.ResourceParam[Substrate]
) -> dg.AssetCheckResult:
    """Each held assertion's quote stands in its passage at the place it names."""
    from substrate.reads.invariants import misplaced_evidence

    base = substrate.base(slug_of(context))
    with substrate.database.read(base.id) as connection:
        return quotes_checked(misplaced_evidence(connection, base.id))


@dg.asset_check(asset=facts, blocking=True)
def ledger_chain_verifies(
    context: dg.AssetCheckExecutionContext, substrate: dg.ResourceParam[Substrate]
) -> dg.AssetCheckResult:
    """The log is one unbroken chain up to the head, and every table is what the log says."""
    from substrate.ledger.verify import verify

    base = substrate.base(slug_of(context))
    with substrate.database.read(base.id) as connection:
        report = verify(connection, base.id)
    found = {"damage": report.damage or "none", "first_bad_seq": report.first_bad_seq, "problem": report.problem}
    return dg.AssetCheckResult(
        passed=report.ok,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={"events": report.events, "rows": report.rows, "head_seq": report.head_seq, **found},
    )
