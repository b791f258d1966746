"""Vectors of an ontology's terms, made anew in the background when words or model change."""

import dagster as dg

from orchestration.automation import on_change, retry_transient
from orchestration.defs.ledger.assets import facts
from orchestration.metadata import OWNERS, Materialized, stored, terms_materialized
from orchestration.partitions import bases
from orchestration.resources import Substrate


@dg.asset(
    deps=[facts],
    partitions_def=bases,
    group_name="ontology",
    automation_condition=on_change,
    retry_policy=retry_transient,
    pool="embedder",
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("term_vectors", "postgres"),
)
def term_vectors(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """One vector per class, relation and attribute, of the words that the term has now and of the model in use.

    A vector of other words or another model is found by comparing and made anew; people edit terms without a document,
    so that a sensor asks for this one alone.
    """
    from substrate.ontology.candidates import refresh_terms

    base = substrate.base(context.partition_key)
    made = refresh_terms(substrate.database, base.id, lambda: substrate.services.embedder)
    return terms_materialized(substrate, base, made)
