"""What one passage says, word for word: extractors, claims, time words."""
