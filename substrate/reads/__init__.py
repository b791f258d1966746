"""As-of reads shared by MCP, REST, the console, the command line and asset checks.

Every answer is a plain dictionary ready for JSON. Of the ledger reads (`find_entities`, `entity_facts`, `timeline`,
`changes`) every field but a fact's ``since`` is a function of the question and the sequence number; see `promised`.
"""

from substrate.reads.changes import changes
from substrate.reads.documents import get_document, list_documents
from substrate.reads.entities import find_entities
from substrate.reads.facts import entity_facts, timeline
from substrate.reads.moments import envelope, resolve
from substrate.reads.review import list_pending
from substrate.reads.shapes import promised

__all__ = [
    "changes",
    "entity_facts",
    "envelope",
    "find_entities",
    "get_document",
    "list_documents",
    "list_pending",
    "promised",
    "resolve",
    "timeline",
]
