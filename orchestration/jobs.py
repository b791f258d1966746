"""The whole chain of one base in one run: starting a process costs more than a small batch of documents.

Its last step has a job of its own, for what people change between documents.
"""

import dagster as dg

process_base = dg.define_asset_job(
    "process_base",
    selection=dg.AssetSelection.all(),
    description="From documents to facts: every asset of one base, in order, with its checks.",
)

sign_base = dg.define_asset_job(
    "sign_base",
    selection=dg.AssetSelection.assets("ledger_checkpoints"),
    description="A signed checkpoint of one base, as far as it has moved since the last one.",
)
