"""As-of reads shared by MCP, REST, the console, the command line and asset checks.

Every answer is a plain dictionary ready for JSON. Of the ledger reads (all but documents and proposals) every field but
the ``since`` of a fact or row is a function of the question and the sequence number; see `promised`.
"""

from substrate.reads.changes import changes
from substrate.reads.confirmation import list_unconfirmed
from substrate.reads.conflicts import list_conflicts, list_corrections
from substrate.reads.deletions import document_deletions, list_deletions
from substrate.reads.diff import diff_between, record_diff, world_diff
from substrate.reads.documents import get_document, list_documents
from substrate.reads.entities import FOUND, find_entities
from substrate.reads.explain import explain_fact
from substrate.reads.facts import entity_facts, timeline
from substrate.reads.gaps import GapState, list_gaps, review_status
from substrate.reads.hints import with_hints
from substrate.reads.history import entity_history, fact_history
from substrate.reads.manual import search_manual
from substrate.reads.moments import envelope, resolve
from substrate.reads.neighbors import neighbors
from substrate.reads.paths import paths_between
from substrate.reads.review import list_pending, list_refusals
from substrate.reads.rules import list_rules
from substrate.reads.shapes import promised
from substrate.reads.snapshots import snapshot
from substrate.reads.undo import list_merges, list_retypings, list_verdicts
from substrate.reads.uniqueness import uniqueness

__all__ = [
    "FOUND",
    "GapState",
    "changes",
    "diff_between",
    "document_deletions",
    "entity_facts",
    "entity_history",
    "envelope",
    "explain_fact",
    "fact_history",
    "find_entities",
    "get_document",
    "list_conflicts",
    "list_corrections",
    "list_deletions",
    "list_documents",
    "list_gaps",
    "list_merges",
    "list_pending",
    "list_refusals",
    "list_retypings",
    "list_rules",
    "list_unconfirmed",
    "list_verdicts",
    "neighbors",
    "paths_between",
    "promised",
    "record_diff",
    "resolve",
    "review_status",
    "search_manual",
    "snapshot",
    "timeline",
    "uniqueness",
    "with_hints",
    "world_diff",
]
