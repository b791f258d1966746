"""Reading documents: `parse` in this process, `ParserPool` and `parse_isolated` in a child that may die."""

from substrate.documents.parsing.isolation import ParserPool, parse_isolated
from substrate.documents.parsing.limits import DEFAULT, Limits
from substrate.documents.parsing.parse import parse

__all__ = ["DEFAULT", "Limits", "ParserPool", "parse", "parse_isolated"]
