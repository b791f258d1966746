"""Fixed hours: the nightly sweep and the clean-up of Dagster's own tables."""
