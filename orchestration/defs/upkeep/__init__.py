"""Fixed hours: the nightly sweep, signed checkpoints, vector indexes, and the clean-up of Dagster's own tables."""
