"""A gap closes when a document that came later answers it: when one passage holds most of what its words tell.

Most is measured by rarity: a word that few passages hold tells more than one that many do. A name that nobody bore is
answered by an entity that bears it. A person may open it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from substrate import reads, sql
from substrate.db import Database, ReadConnection
from substrate.ledger.drafts import normalise_name
from substrate.retrieval.lexical_reader import View, current_view
from substrate.retrieval.lexical_schema import question_terms
from substrate.settings import Settings

ENOUGH = 0.6
"""Share of what a question's words tell, by rarity, that one passage must hold. A guess, not tuned."""
_DEPTH = 20
BY = "pipeline"


def close_answered(db: Database, kb_id: UUID, settings: Settings) -> int:
    """Close every open gap that something recorded since answers; returns how many. Each passage is looked at once.

    Raises `Unavailable` where the lexical index cannot be read.
    """
    with db.read(kb_id) as conn:
        seq = reads.resolve(conn, kb_id).seq
        open_ = conn.execute(sql.query("gaps_to_check"), {"kb_id": kb_id, "seq": seq}).fetchall()
        if not open_:
            return 0
        view = current_view(settings, kb_id)
        view.catch_up(conn, kb_id, seq)
        answers = {gap["id"]: found for gap in open_ if any(found := _answer(conn, kb_id, view, gap, seq))}
    with db.write(kb_id) as conn:
        for gap_id, (chunk_id, entity_id) in answers.items():
            values = {"kb_id": kb_id, "id": gap_id, "by": BY, "seq": seq, "chunk_id": chunk_id, "entity_id": entity_id}
            conn.execute(sql.query("gap_answered"), values)
        checked = [gap["id"] for gap in open_ if gap["id"] not in answers]
        conn.execute(sql.query("gaps_checked"), {"kb_id": kb_id, "ids": checked, "seq": seq})
    return len(answers)


def _answer(
    conn: ReadConnection, kb_id: UUID, view: View, gap: Mapping[str, Any], seq: int
) -> tuple[UUID | None, UUID | None]:
    """The passage, else the entity that answers."""
    wanted = question_terms(gap["question"])
    found = [match.chunk_id for match in view.search(wanted, seq, None, _DEPTH)]
    values = {"kb_id": kb_id, "ids": found, "after": gap["asked_seq"]}
    since = {row["id"] for row in conn.execute(sql.query("gaps_passages_since"), values)}
    held = view.coverage(wanted, [i for i in found if i in since])
    best = max(held, key=lambda i: (held[i], str(i)), default=None)
    if best is not None and held[best] >= ENOUGH:
        return best, None
    names = {"kb_id": kb_id, "norms": [normalise_name(gap["question_plain"])]}
    named = conn.execute(sql.query("context_named"), names).fetchone()
    return None, named["id"] if named else None
