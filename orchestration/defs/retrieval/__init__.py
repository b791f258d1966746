"""Stage: what search looks in."""
