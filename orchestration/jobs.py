"""The whole chain of one base in one run: starting a process costs more than a small batch of documents."""

import dagster as dg

process_base = dg.define_asset_job(
    "process_base",
    selection=dg.AssetSelection.all(),
    description="From documents to facts: every asset of one base, in order, with its checks.",
)
