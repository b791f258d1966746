"""Stage: documents and their passages."""
