"""Claims are the words of their passage."""

import dagster as dg

from orchestration.defs.extraction.assets import claims
from orchestration.metadata import quotes_checked
from orchestration.partitions import slug_of
from orchestration.resources import Substrate


@dg.asset_check(asset=claims, blocking=True)
def claim_quote_is_in_its_chunk(
    context: dg.AssetCheckExecutionContext, substrate: dg.ResourceParam[Substrate]
) -> dg.AssetCheckResult:
    """Each claim's quote stands in its passage at the place it names; otherwise nothing downstream runs."""
    from substrate.reads.invariants import misplaced_claim_quotes

    base = substrate.base(slug_of(context))
    with substrate.database.read(base.id) as connection:
        return quotes_checked(misplaced_claim_quotes(connection, base.id))
