"""A claim that became an assertion and is bound to nothing."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from substrate.audit.extractions import CLAIM
from tests.ledger_history import read


def claimed(scribe, sentence: str) -> None:
    """Claim and assert a sentence of three words, its phrase the second."""
    subject, phrase, other = sentence.rstrip(".").split()
    evidence = scribe.document(sentence)
    claim = uuid4()
    said = {"subject": subject, "phrase": phrase, "wording": phrase, "object": other, "time_words": ""}
    rest = {"id": claim, "ordinal": 0, "quote": sentence, "quote_start": 0, "quote_end": len(sentence), "grade": "A"}
    flags = {"qualifiers": [], "at_event": False, "denies": False, "corrects": False, "confidence": 1.0}
    with scribe.database.write(scribe.kb_id) as conn:
        read(conn, scribe.kb_id, evidence.chunk_id, "test@1", [dict.fromkeys(CLAIM) | said | rest | flags])
    scribe.say(subject, None, other, phrase=phrase, evidence=replace(evidence, claim_id=claim))
