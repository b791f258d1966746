"""Stage: what the base holds."""
