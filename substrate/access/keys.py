"""The keys under which credentials are sealed: 32 random bytes each, kept outside the database.

A key file, or the setting, has one key a line (or between commas) as base64; the first one seals, all of them open.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from substrate.errors import Conflict, InvalidInput
from substrate.settings import Settings

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Key:
    """One key and the id by which a seal names it; the id tells nothing of the key."""

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Keys:
    """Every key that opens, the one that seals first."""

    all: tuple[Key, ...]

    @property
    def current(self) -> Key:
        return self.all[0]

    def named(self, key_id: str) -> Key:
        """The key of that id. Raises `InvalidInput` naming it."""
        found = next((key for key in self.all if key.id == key_id), None)
        if found is None:
            raise InvalidInput(f"credentials are sealed with the key {key_id}, which is not here", field="key")
        return found


def load_keys(settings: Settings) -> Keys:
    """The keys as set, else of the key file. Raises `InvalidInput` where there is none, with the command for one."""
    if settings.credentials_key is not None:
        return parse_keys(settings.credentials_key.get_secret_value(), "TWOCLOCKS_CREDENTIALS_KEY")
    place = settings.credentials_keys
    if not place.exists():
        raise InvalidInput(
            "there is no key to seal credentials with; make one with: twoclocks credentials key", field="key"
        )
    return parse_keys(place.read_text(encoding="ascii"), place.name)


def parse_keys(text: str, where: str) -> Keys:
    """Keys in base64, between commas or line ends. Raises `InvalidInput` naming the place, never showing a key."""
    found = [part.strip() for part in text.replace(",", "\n").splitlines() if part.strip()]
    if not found:
        raise InvalidInput(f"{where}: holds no key", field="key")
    return Keys(tuple(_key(part, where) for part in found))


def _key(text: str, where: str) -> Key:
    try:
        secret = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) != KEY_BYTES:
        raise InvalidInput(f"{where}: a key is {KEY_BYTES} bytes as base64", field="key")
    return Key(hashlib.sha256(b"twoclocks credentials key\0" + secret).hexdigest()[:16], secret)


def add_key(settings: Settings) -> Keys:
    """Put a new key first in the key file, which its owner alone may read. Raises `Conflict` if keys are set."""
    if settings.credentials_key is not None:
        raise Conflict("TWOCLOCKS_CREDENTIALS_KEY holds the keys; put a new one before them there", field="key")
    place = settings.credentials_keys
    had = place.read_text(encoding="ascii") if place.exists() else ""
    if had:
        parse_keys(had, place.name)
    write_keys(place, base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode() + "\n" + had)
    return load_keys(settings)


def drop_keys(settings: Settings, but: Keys) -> None:
    """Leave only those keys in the key file."""
    write_keys(settings.credentials_keys, "".join(base64.b64encode(k.secret).decode() + "\n" for k in but.all))


def write_keys(place: Path, text: str) -> None:
    """Whole or not at all, whenever this is killed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(place.name + ".new")
    beside.unlink(missing_ok=True)
    with open(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(place)
