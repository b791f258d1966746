"""The version of parsing and chunking together: raise it whenever the same bytes may give other chunks."""

PARSER = "twoclocks@5"
MEMORY_PARSER = "memory@1"
"""Marks the one chunk of a remembered sentence, which is never parsed."""
