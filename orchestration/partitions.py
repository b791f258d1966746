"""A knowledge base is a partition; a document is a row. 100,000 documents change no number of partitions."""

import dagster as dg

BASES = "knowledge_bases"
BASE_TAG = "twoclocks/base"
"""On every run that works on one base, so that runs of a base queue behind one another."""

bases = dg.DynamicPartitionsDefinition(name=BASES)
"""Keys are slugs, which never change."""


def slug_of(context: dg.AssetCheckExecutionContext) -> str:
    """The base whose run a check belongs to. Partitions of checks themselves are a preview in this version."""
    tags = context.run.tags
    return str(tags.get("dagster/partition") or tags[BASE_TAG])
