"""How checkpoints are made, whoever makes them: the API each minute, Dagster after each run, a person at a terminal.

What waits is sealed first. One file lock orders those who share a directory, so that nobody compares an older state of
the base with a checkpoint that somebody else has just signed. A copy goes where ``checkpoint_copies`` says.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from substrate.audit.seals import Waiting, seal_base, waiting
from substrate.bases import list_bases
from substrate.db import EVERY_BASE, Database
from substrate.errors import TwoclocksError, Unavailable
from substrate.ledger.checkpoints import Exported, export_checkpoint, is_behind, load_key, public_key_file
from substrate.settings import Settings


@dataclass(frozen=True, slots=True)
class Kept:
    """A checkpoint in its files, and what had waited for a seal before it was made."""

    exported: Exported
    waited: Waiting


def keep_checkpoint(db: Database, kb_id: UUID, settings: Settings) -> Kept:
    """Seal what waits, sign where the base stands, and copy it out.

    Raises `LedgerDamaged` where the base does not follow from what was signed before, `Unavailable` where the key or
    the place of the copies cannot be used; a copy that failed is made by the next call.
    """
    with db.read(kb_id) as connection:
        waited = waiting(connection, kb_id)
    seal_base(db, kb_id)
    key = load_key(settings.checkpoint_key)
    with _alone(settings.checkpoints_dir / str(kb_id)), db.read(kb_id) as connection:
        exported = export_checkpoint(connection, kb_id, settings.checkpoints_dir, key)
    if settings.checkpoint_copies is not None:
        _copy(exported, public_key_file(settings.checkpoint_key), settings.checkpoint_copies)
    return Kept(exported, waited)


def keep_checkpoints(db: Database, settings: Settings) -> list[Kept]:
    """`keep_checkpoint` for every base that has moved; all are tried before the first error is raised."""
    with db.read(EVERY_BASE) as connection:
        moved = [b.id for b in list_bases(connection) if is_behind(connection, b.id, settings.checkpoints_dir)]
    made, problems = list[Kept](), list[TwoclocksError]()
    for kb_id in moved:
        try:
            made.append(keep_checkpoint(db, kb_id, settings))
        except TwoclocksError as error:
            problems.append(error)
    if problems:
        raise problems[0]
    return made


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _copy(exported: Exported, public_key: Path, place: str) -> None:
    """``<base>/latest.txt``, ``<base>/history/<seq>.txt`` and the public key, whole or not at all."""
    import fsspec

    checkpoint = exported.checkpoint
    base = f"{checkpoint.kb_id}"
    texts = {
        f"{base}/history/{checkpoint.seq:012}.txt": exported.text,
        f"{base}/latest.txt": exported.text,
        public_key.name: public_key.read_text(encoding="utf-8"),
    }
    try:
        files, root = fsspec.core.url_to_fs(place)
        for name, text in texts.items():
            path = f"{root.rstrip('/')}/{name}"
            if files.exists(path) and files.cat_file(path) == text.encode():
                continue
            files.makedirs(path.rpartition("/")[0], exist_ok=True)
            with files.transaction, files.open(path, "wb") as file:
                file.write(text.encode())
    except Exception as error:
        # fsspec raises whatever its backends raise; a URL may hold a key and is not repeated.
        reason = f"the copy of a checkpoint cannot be written: {type(error).__name__}"
        raise Unavailable(reason, field="checkpoint_copies") from error
