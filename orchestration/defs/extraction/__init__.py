"""Stage: what passages say."""
