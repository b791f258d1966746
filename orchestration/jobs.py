"""The whole chain of one base in one run: starting a process costs more than a small batch of documents.

Its last step has a job of its own, for what people change between documents, and so has what each night verifies.
"""

import dagster as dg

by_night = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("ledger_checkpoints"), "whole_ledger_verifies"))

process_base = dg.define_asset_job(
    "process_base",
    selection=dg.AssetSelection.all() - by_night,
    description="From documents to facts: every asset of one base, in order, with its checks.",
)

embed_ontology = dg.define_asset_job(
    "embed_ontology",
    selection=dg.AssetSelection.assets("term_vectors", "phrase_bindings"),
    description="The vectors of one base's terms, what is wrong in its ontology, and phrases bound anew under it.",
)

sign_base = dg.define_asset_job(
    "sign_base",
    selection=dg.AssetSelection.assets("ledger_checkpoints") - by_night,
    description="A signed checkpoint of one base, as far as it has moved since the last one.",
)

verify_base = dg.define_asset_job(
    "verify_base",
    selection=by_night,
    description="The whole ledger of one base, from its first transaction: chain, tables, seals, last checkpoint.",
)
