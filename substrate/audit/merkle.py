"""The Merkle tree of RFC 6962, section 2.1: one root for a batch, and a short proof that a leaf is under it.

A leaf is hashed with a zero byte before it and a node with a one, so that no node can be passed off as a leaf.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

EMPTY = hashlib.sha256(b"").digest()
"""The root of no leaf at all."""


def leaf_hash(content: bytes) -> bytes:
    """SHA-256 of a leaf."""
    return hashlib.sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256 of two children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over hashes of leaves, in their order."""
    level = list(leaves)
    while len(level) > 1:
        # A last one without a neighbour goes up as it is, which is the RFC's split at the largest power of two.
        level = [node_hash(*level[i : i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return level[0] if level else EMPTY


def path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The siblings on the way from a leaf to the root, lowest first (RFC 6962, 2.1.1)."""
    level, siblings = list(leaves), []
    while len(level) > 1:
        if (neighbour := index ^ 1) < len(level):
            siblings.append(level[neighbour])
        level = [node_hash(*level[i : i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
        index //= 2
    return siblings


def root_of_path(leaf: bytes, index: int, size: int, siblings: Sequence[bytes]) -> bytes | None:
    """The root that a leaf at `index` of `size` has with these siblings; None if their number does not fit."""
    rest, current, last = list(siblings), leaf, size - 1
    if not 0 <= index < size:
        return None
    while last > 0:
        if index % 2 or index < last:
            if not rest:
                return None
            sibling = rest.pop(0)
            current = node_hash(sibling, current) if index % 2 else node_hash(current, sibling)
        index, last = index // 2, last // 2
    return None if rest else current
