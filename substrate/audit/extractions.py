"""What one reading of a passage by an extractor gave, as one digest: its claims, then its drops.

The digest is written with the reading, in the transaction of its claims. Later it is reckoned again from the rows, so
that a claim that was changed, taken out or put in shows.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence

from substrate.ledger.canonical import canonical_bytes

CLAIM = (
    ("id", "ordinal", "subject", "subject_kind", "phrase", "wording", "object", "object_kind", "value_raw")
    + ("value_number", "value_unit", "value_type", "qualifiers", "quote", "quote_start", "quote_end", "valid_from")
    + ("valid_from_precision", "valid_to", "valid_to_precision", "grade", "time_words", "at_event", "mood", "denies")
    + ("corrects", "confidence")
)
DROP = ("ordinal", "code", "detail", "example")
_LENGTH = struct.Struct(">Q").pack


def content_of(claims: Sequence[Mapping[str, object]], drops: Sequence[Mapping[str, object]]) -> bytes:
    """SHA-256 over the canonical bytes of rows in their order, each with its length before it. 32 bytes.

    The rows may be those about to be written or those read back; ``qualifiers`` is plain JSON in both.
    """
    digest = hashlib.sha256()
    for columns, rows in ((CLAIM, claims), (DROP, drops)):
        digest.update(_LENGTH(len(rows)))
        for row in rows:
            content = canonical_bytes({column: row[column] for column in columns})
            digest.update(_LENGTH(len(content)) + content)
    return digest.digest()
