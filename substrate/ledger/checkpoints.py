"""Signed checkpoints: one line of trust in the chain that can be kept where the database's owner cannot write.

The text is a C2SP signed note (https://c2sp.org/signed-note, https://c2sp.org/tlog-checkpoint)::

    twoclocks/0b5c…-….        the origin, with the base's id
    1042                      how many transactions the chain has
    47DEQpj8HBSa+/TImW+…      its last hash, base64
    seals 17 x1Kc…            where there are any: the last seal of what was served and read, and its hash

    — twoclocks yK3…          name of the key, base64 of key id and Ed25519 signature

The private key lies in a file under the data directory, never in the database.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from substrate import sql
from substrate.db import AnyConnection
from substrate.errors import InvalidInput, LedgerDamaged, NotFound, Unavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ORIGIN = "twoclocks/"
KEY_NAME = "twoclocks"
_ALGORITHM = b"\x01"  # Ed25519, in the signed note's numbering
_NOTE = re.compile(
    rf"({ORIGIN}([0-9a-f-]{{36}})\n(0|[1-9][0-9]{{0,18}})\n([A-Za-z0-9+/]{{43}}=)\n"
    r"(?:seals ([1-9][0-9]{0,18}) ([A-Za-z0-9+/]{43}=)\n)?)\n((?:— \S+ \S+\n)+)"
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was signed: the base, the number of its last transaction, and the chain's hash after it.

    `sealed` and `sealed_hash` are the number and the hash of its last seal (`substrate.audit`), 0 and empty where there
    was none.
    """

    kb_id: UUID
    seq: int
    hash: bytes
    sealed: int = 0
    sealed_hash: bytes = b""

    def body(self) -> str:
        """The three or four lines that are signed."""
        seals = f"seals {self.sealed} {base64.b64encode(self.sealed_hash).decode()}\n" if self.sealed else ""
        return f"{ORIGIN}{self.kb_id}\n{self.seq}\n{base64.b64encode(self.hash).decode()}\n{seals}"


def make_checkpoint(connection: AnyConnection, kb_id: UUID, key: Ed25519PrivateKey) -> str:
    """The head of a base as a signed note. Raises `NotFound`. Whether the chain is sound is `verify`'s to say."""
    return sign(_stands(connection, kb_id), key)


def _stands(connection: AnyConnection, kb_id: UUID) -> Checkpoint:
    """Where a base stands now. Raises `NotFound`."""
    head = connection.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    if head is None:
        raise NotFound("no knowledge base with that id", field="kb_id")
    seal = connection.execute(sql.query("seal_last"), {"kb_id": kb_id}).fetchone()
    sealed = (seal["number"], bytes(seal["hash"])) if seal else (0, b"")
    return Checkpoint(kb_id, head["seq"], bytes(head["hash"]), *sealed)


def sign(checkpoint: Checkpoint, key: Ed25519PrivateKey) -> str:
    """A checkpoint as a note with one signature."""
    body = checkpoint.body()
    signature = _key_id(key.public_key()) + key.sign(body.encode())
    return f"{body}\n— {KEY_NAME} {base64.b64encode(signature).decode()}\n"


def check_checkpoint(text: str, public_key: Ed25519PublicKey) -> Checkpoint:
    """What the note says, if this key signed it. Other signatures on it are passed over. Raises `InvalidInput`."""
    from cryptography.exceptions import InvalidSignature

    note = _NOTE.fullmatch(text)
    if note is None:
        raise InvalidInput("this is not a checkpoint", field="checkpoint")
    body, kb_id, seq, head, sealed, sealed_hash, signatures = note.groups()
    mine = _key_id(public_key)
    for line in signatures.splitlines():
        _, name, encoded = line.split(" ")
        signature = _decoded(encoded)
        if name != KEY_NAME or signature[:4] != mine:
            continue
        try:
            public_key.verify(signature[4:], body.encode())
        except InvalidSignature:
            raise InvalidInput("the checkpoint's signature does not verify", field="checkpoint") from None
        seals = (int(sealed), base64.b64decode(sealed_hash)) if sealed else (0, b"")
        return Checkpoint(UUID(kb_id), int(seq), base64.b64decode(head), *seals)
    raise InvalidInput("the checkpoint is not signed by this key", field="checkpoint")


def load_key(path: Path) -> Ed25519PrivateKey:
    """The signing key in a file, made there on first use, readable by its owner alone; its public half lies beside it.

    Raises `Unavailable` if others may read it or it is no Ed25519 key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if not path.exists():
        _make_key(path)
    if path.stat().st_mode & 0o077:
        raise Unavailable(f"others may read the signing key {path}; make its mode 0600", field="key")
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except ValueError as error:
        raise Unavailable(f"{path} holds no signing key", field="key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise Unavailable(f"{path} holds no Ed25519 key", field="key")
    _put(public_key_file(path), public_key_text(key.public_key()).encode(), 0o644)
    return key


def public_key_file(path: Path) -> Path:
    """Where the public half of the key in `path` lies, for whoever verifies."""
    return path.with_suffix(".pub")


def public_key_text(key: Ed25519PublicKey) -> str:
    """The public key in the signed note's form: name, key id, base64 of algorithm and key."""
    return f"{KEY_NAME}+{_key_id(key).hex()}+{base64.b64encode(_ALGORITHM + key.public_bytes_raw()).decode()}\n"


def read_public_key(text: str) -> Ed25519PublicKey:
    """The reverse of `public_key_text`. Raises `InvalidInput`."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    parts = text.strip().split("+", 2)
    raw = _decoded(parts[-1])
    if len(parts) != 3 or parts[0] != KEY_NAME or raw[:1] != _ALGORITHM or len(raw) != 33:
        raise InvalidInput("this is not a public key for checkpoints", field="public_key")
    key = Ed25519PublicKey.from_public_bytes(raw[1:])
    if _key_id(key).hex() != parts[1]:
        raise InvalidInput("the public key does not fit its id", field="public_key")
    return key


@dataclass(frozen=True, slots=True)
class Exported:
    """A checkpoint in its files. `new` is false where the base has not moved since the last one."""

    checkpoint: Checkpoint
    text: str
    latest: Path
    new: bool


def export_checkpoint(connection: AnyConnection, kb_id: UUID, directory: Path, key: Ed25519PrivateKey) -> Exported:
    """Write ``<base>/latest.txt`` and ``<base>/history/<seq>.txt``, unless the base stands where the last one does.

    Of one transaction number the newest is kept, with the seals that came since. What came since the last checkpoint is
    verified before it is signed. Raises `LedgerDamaged` if it does not follow from what was signed then: a checkpoint
    never paints over damage. Use one snapshot (`Database.read`).
    """
    from substrate.audit.seals import Seal
    from substrate.audit.verify import verify_seals
    from substrate.ledger.verify import verify

    last = latest_checkpoint(directory, kb_id, key.public_key())
    report = verify(connection, kb_id, tables=False, against=last, since=_trusted(connection, kb_id, last))
    if not report.ok:
        raise LedgerDamaged(report.problem, damage=report.damage, first_bad_seq=report.first_bad_seq)
    signed = Seal(last.sealed, last.sealed_hash) if last and last.sealed else None
    seals = verify_seals(connection, kb_id, since=signed.number if signed else 0, against=signed, late_s=math.inf)
    if not seals.ok:
        raise LedgerDamaged(seals.problem, damage=seals.damage, first_bad_seal=seals.first_bad_seal)
    text, latest = make_checkpoint(connection, kb_id, key), _latest(directory, kb_id)
    checkpoint = check_checkpoint(text, key.public_key())
    if checkpoint == last:
        return Exported(checkpoint, text, latest, new=False)
    _put(latest.parent / "history" / f"{checkpoint.seq:012}.txt", text.encode(), 0o644)
    _put(latest, text.encode(), 0o644)
    return Exported(checkpoint, text, latest, new=True)


def is_behind(connection: AnyConnection, kb_id: UUID, directory: Path) -> bool:
    """Whether a base has moved since its last checkpoint in `directory`, or has none there. Raises `NotFound`."""
    latest, body = _latest(directory, kb_id), _stands(connection, kb_id).body()
    return not latest.exists() or not latest.read_text(encoding="utf-8").startswith(body + "\n")


def latest_checkpoint(directory: Path, kb_id: UUID, public_key: Ed25519PublicKey) -> Checkpoint | None:
    """The last checkpoint of a base in `directory`. Raises `InvalidInput` if it is not one that this key signed."""
    latest = _latest(directory, kb_id)
    return check_checkpoint(latest.read_text(encoding="utf-8"), public_key) if latest.exists() else None


def _latest(directory: Path, kb_id: UUID) -> Path:
    return directory / str(kb_id) / "latest.txt"


def _trusted(connection: AnyConnection, kb_id: UUID, last: Checkpoint | None) -> int:
    """Up to where the last checkpoint vouches; a base that has not come so far is walked whole, and found out."""
    head = connection.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    return last.seq if last is not None and head is not None and head["seq"] >= last.seq else 0


def _make_key(path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = _fresh(path, pem, 0o600)
    try:
        os.link(fresh, path)  # fails if another process was first, whose key then counts
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def _put(path: Path, content: bytes, mode: int) -> None:
    """Whole or not at all; a reader never sees half a file."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _fresh(path, content, mode).replace(path)


def _fresh(path: Path, content: bytes, mode: int) -> Path:
    fresh = path.with_name(f".{path.name}.{uuid4().hex}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return fresh


def _key_id(key: Ed25519PublicKey) -> bytes:
    return hashlib.sha256(KEY_NAME.encode() + b"\n" + _ALGORITHM + key.public_bytes_raw()).digest()[:4]


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""
