"""Facts rest on words that are there, and the record is the one that was written."""

import dagster as dg

from orchestration.defs.ledger.assets import facts, ledger_checkpoints
from orchestration.metadata import quotes_checked, verified
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
    """What came since the last checkpoint continues it, and every table is what the log says of it.

    What was served and read since is under its seals. The whole is walked each night, by `whole_ledger_verifies`.
    """
    from substrate.audit.whole import verify_new

    base = substrate.base(slug_of(context))
    with substrate.database.read(base.id) as connection:
        return verified(verify_new(connection, base.id, substrate.settings))


@dg.asset_check(asset=ledger_checkpoints)
def whole_ledger_verifies(
    context: dg.AssetCheckExecutionContext, substrate: dg.ResourceParam[Substrate]
) -> dg.AssetCheckResult:
    """From the first transaction to the last: chain, tables, seals, and the last checkpoint. Run each night."""
    from substrate.audit.whole import verify_signed

    base = substrate.base(slug_of(context))
    with substrate.database.read(base.id) as connection:
        return verified(verify_signed(connection, base.id, substrate.settings))
