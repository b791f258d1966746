"""The built-in extractor: claims without a model and without a key."""

from substrate.extraction.builtin.extractor import VERSION, BuiltinExtractor

__all__ = ["VERSION", "BuiltinExtractor"]
