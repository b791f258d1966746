"""What search looks in: vectors and the lexical index."""

import dagster as dg

from orchestration.automation import on_change, retry_transient
from orchestration.defs.documents.assets import document_chunks
from orchestration.defs.retrieval.indexes import indexes_materialized
from orchestration.metadata import OWNERS, Materialized, index_materialized, stage_materialized, stored
from orchestration.partitions import bases
from orchestration.resources import Substrate


@dg.asset(
    deps=[document_chunks],
    partitions_def=bases,
    group_name="retrieval",
    automation_condition=on_change,
    retry_policy=retry_transient,
    pool="embedder",
    owners=OWNERS,
    kinds={"python", "postgres"},
    metadata=stored("embeddings", "postgres"),
)
def chunk_embeddings(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """One vector per passage and embedding model, kept for ever under that pair."""
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    result = run_step(substrate.database, base.id, substrate.services, "embed")
    return stage_materialized(substrate, base, "chunk_embeddings", result)


@dg.asset(
    deps=[document_chunks],
    partitions_def=bases,
    group_name="retrieval",
    automation_condition=on_change,
    retry_policy=retry_transient,
    pool="tantivy",
    owners=OWNERS,
    kinds={"python", "tantivy"},
    metadata=stored("index/{base}", "tantivy"),
)
def lexical_index(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """The full-text index of every passage with its record interval; a folder that can be rebuilt from the passages."""
    from substrate.pipeline import run_step

    base = substrate.base(context.partition_key)
    return index_materialized(run_step(substrate.database, base.id, substrate.services, "index"))


@dg.asset(
    deps=[chunk_embeddings],
    partitions_def=bases,
    group_name="retrieval",
    automation_condition=on_change,
    retry_policy=retry_transient,
    pool="embedder",
    owners=OWNERS,
    kinds={"postgres"},
    metadata=stored("embeddings", "postgres"),
)
def vector_indexes(context: dg.AssetExecutionContext, substrate: dg.ResourceParam[Substrate]) -> Materialized:
    """An HNSW index over a base's vectors once it has outgrown the exact scan, and the change from model to model.

    Made with the owner's login. Where that may not, the scan stays exact, and the metadata says why.
    """
    return indexes_materialized(substrate, substrate.base(context.partition_key))
