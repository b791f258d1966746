"""Ids in the order they were made.

Version 7 of RFC 9562: what is written together lies together in every index that an id leads, where random ids would
touch a page each. Measured at a million facts, that is the larger part of what an index costs.
"""

from __future__ import annotations

import os
import time
from uuid import UUID

_VERSION_AND_VARIANT = 0x7 << 76 | 0x2 << 62
_RANDOM = (1 << 62) - 1


def new_id() -> UUID:
    """An id no other call gives: milliseconds, the fraction in 12 bits, and 62 bits of chance."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    chance = int.from_bytes(os.urandom(8), "big") & _RANDOM
    return UUID(int=milliseconds << 80 | _VERSION_AND_VARIANT | (rest << 12) // 1_000_000 << 64 | chance)
