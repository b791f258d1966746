"""bench-claims: what an extractor takes from sentences that were annotated by hand."""
