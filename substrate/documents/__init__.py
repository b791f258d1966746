"""Sources, documents and their versions, parsing and chunking."""
