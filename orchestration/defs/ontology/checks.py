"""The ontology and what is held under it agree, or a person has said why not."""

import dagster as dg

from orchestration.defs.ontology.assets import term_vectors
from orchestration.metadata import defects_checked
from orchestration.partitions import slug_of
from orchestration.resources import Substrate


@dg.asset_check(asset=term_vectors)
def ontology_has_no_defects(
    context: dg.AssetCheckExecutionContext, substrate: dg.ResourceParam[Substrate]
) -> dg.AssetCheckResult:
    """No cycle, no class that nothing can be, no entity of two disjoint classes, but for what people waived.

    Warns and stops nothing: what is wrong is queued for people.
    """
    from substrate.ontology.defects import list_defects

    base = substrate.base(slug_of(context))
    with substrate.database.read(base.id) as connection:
        return defects_checked(list_defects(connection, base.id))
