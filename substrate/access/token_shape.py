"""The shape of a token: ``tc_pat_`` or what else tells its kind + 43 characters of secret + 6 of checksum.

Prefix and checksum let a secret scanner find a leaked token and let us refuse a typing error without asking
the database. They protect nothing: only the 256 random bits do, and only their SHA-256 is stored.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from typing import Literal

Kind = Literal["personal", "service", "session", "agent"]
PREFIXES: dict[Kind, str] = {"personal": "tc_pat_", "service": "tc_svc_", "session": "tc_ses_", "agent": "tc_agt_"}
PREFIX = PREFIXES["personal"]
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY = 43
"""Digits of base 62 that 32 bytes need: 62**43 > 2**256 > 62**42."""
_CHECK = 6
_SHOWN = len(PREFIX) + 4


def new_secret(kind: Kind = "personal") -> str:
    """A fresh token, 56 characters. Show it once and keep `digest` of it."""
    body = PREFIXES[kind] + _base62(int.from_bytes(secrets.token_bytes(32)), _BODY)
    return body + _checksum(body)


def well_formed(presented: str) -> bool:
    """Could `presented` be a token of ours? Costs no query."""
    if len(presented) != len(PREFIX) + _BODY + _CHECK or kind_of(presented) is None:
        return False
    body, check = presented[:-_CHECK], presented[-_CHECK:]
    return body.isascii() and check == _checksum(body)


def kind_of(presented: str) -> Kind | None:
    """What kind of token `presented` claims to be."""
    return next((kind for kind, prefix in PREFIXES.items() if presented.startswith(prefix)), None)


def digest(token: str) -> bytes:
    """What is stored: 32 bytes. The secret has full entropy, so that no slow hash is needed."""
    return hashlib.sha256(token.encode()).digest()


def shown_prefix(token: str) -> str:
    """The start of a token, which a list may show."""
    return token[:_SHOWN]


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECK)


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
