"""Secrets of a base, such as the key of its model endpoint, sealed with AES-256-GCM.

The database holds nonce, ciphertext and tag; the key is never there. Base, name and key id are bound into the seal, so
that a row which is copied to another base or name opens nowhere.
"""

from __future__ import annotations

import re
import secrets
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from substrate import sql
from substrate.access.keys import Key, Keys
from substrate.db import AnyConnection, WriteConnection
from substrate.errors import InvalidInput, NotFound

NONCE_BYTES = 12
MOST_BYTES = 64 * 1024
_NAME = r"[a-z0-9][a-z0-9._-]{0,62}"


def set_credential(conn: WriteConnection, kb_id: UUID, name: str, secret: SecretStr, keys: Keys, *, by: str) -> None:
    """Seal a secret under a name, or another in its place. Raises `InvalidInput` naming the field."""
    if not re.fullmatch(_NAME, name):
        raise InvalidInput("name: lower-case letters, digits, dot, hyphen, underscore; at most 63", field="name")
    value = secret.get_secret_value().encode()
    if not 1 <= len(value) <= MOST_BYTES:
        raise InvalidInput(f"a credential has between 1 and {MOST_BYTES} bytes", field="secret")
    _keep(conn, kb_id, name, keys.current, value, by)


def open_credential(conn: AnyConnection, kb_id: UUID, name: str, keys: Keys) -> SecretStr:
    """The secret of that name. Raises `NotFound`, and `InvalidInput` where the seal does not open here."""
    row = conn.execute(sql.query("credential"), {"kb_id": kb_id, "name": name}).fetchone()
    if row is None:
        raise NotFound(f"no credential {name!r} in this base", field="name")
    key = keys.named(row["key_id"])
    return SecretStr(_opened(key, kb_id, name, row["sealed"]).decode())


def list_credentials(conn: AnyConnection, kb_id: UUID) -> list[dict[str, Any]]:
    """Names with the id of their key, who set them and when; nothing of what they seal."""
    return conn.execute(sql.query("credentials"), {"kb_id": kb_id}).fetchall()


def remove_credential(conn: WriteConnection, kb_id: UUID, name: str) -> None:
    """Forget a secret. Raises `NotFound`."""
    if conn.execute(sql.query("credential_remove"), {"kb_id": kb_id, "name": name}).fetchone() is None:
        raise NotFound(f"no credential {name!r} in this base", field="name")


def rotate_credentials(conn: WriteConnection, kb_id: UUID, keys: Keys) -> int:
    """Seal anew what another key than the first sealed; how many. Called again it does the rest, or nothing."""
    done = 0
    for row in conn.execute(sql.query("credentials_to_rotate"), {"kb_id": kb_id, "key_id": keys.current.id}).fetchall():
        value = _opened(keys.named(row["key_id"]), kb_id, row["name"], row["sealed"])
        _keep(conn, kb_id, row["name"], keys.current, value, row["set_by"])
        done += 1
    return done


def keys_in_use(conn: AnyConnection) -> set[str]:
    """Ids of the keys that seal something in the bases that the connection reaches."""
    return {row["key_id"] for row in conn.execute(sql.query("credential_keys")).fetchall()}


def _keep(conn: WriteConnection, kb_id: UUID, name: str, key: Key, value: bytes, by: str) -> None:
    bound = {"kb_id": kb_id, "name": name, "key_id": key.id, "sealed": _sealed(key, kb_id, name, value), "by": by}
    conn.execute(sql.query("credential_set"), bound)


def _sealed(key: Key, kb_id: UUID, name: str, value: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key.secret).encrypt(nonce, value, _bound(key, kb_id, name))


def _opened(key: Key, kb_id: UUID, name: str, sealed: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key.secret).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(key, kb_id, name))
    except InvalidTag:
        raise InvalidInput(f"the seal of the credential {name!r} is broken", field="name") from None


def _bound(key: Key, kb_id: UUID, name: str) -> bytes:
    return b"\0".join((b"twoclocks credential 1", key.id.encode(), kb_id.bytes.hex().encode(), name.encode()))
