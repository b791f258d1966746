"""Is a past answer the same bytes for ever? Asked under load, later, after a rerun and after a restart."""
