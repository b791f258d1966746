"""Mentions, the entities they name, and the stage that resolves them."""
