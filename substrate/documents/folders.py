"""A folder that is kept in step: what is new or changed comes in, what vanished is marked and never deleted.

The file system gives names and bytes. It gives no date: when a file was copied says nothing about the world.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection, Database
from substrate.documents.checks import MAX_BYTES, PushItem, check_items
from substrate.documents.intake import PushResult, ensure_source, push
from substrate.errors import InvalidInput, NotFound
from substrate.ledger.door import Via

BATCH_BYTES = 16 * 1024 * 1024
BATCH_ITEMS = 500


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What one look at a folder did."""

    counts: dict[str, int] = field(default_factory=dict)
    """``created``, ``updated``, ``unchanged``, ``revived``."""
    missing: tuple[str, ...] = ()
    """Documents whose file is there no more; marked just now, not deleted."""
    skipped: tuple[str, ...] = ()
    """Each as ``name: reason``."""


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder source of some base."""

    slug: str
    kb_id: UUID
    path: Path
    namespace: str = ""


def watched_folders(conn: AnyConnection) -> list[WatchedFolder]:
    """Every folder that `sync_folder` was asked to keep and that was not let go, of all bases."""
    rows = conn.execute(sql.query("documents_folder_sources")).fetchall()
    return [WatchedFolder(r["slug"], r["kb_id"], Path(r["name"]), r["config"].get("namespace", "")) for r in rows]


def let_go(db: Database, kb_id: UUID, path: Path) -> None:
    """Watch a folder no more, whether or not it is still there; its documents stay. `sync_folder` takes it up again.

    Raises `NotFound` if the base does not watch it.
    """
    with db.write(kb_id) as conn:
        found = conn.execute(sql.query("documents_let_go"), {"kb_id": kb_id, "name": str(path.resolve())}).fetchone()
    if found is None:
        raise NotFound(f"{path} is not watched", field="path")


def sync_watched(db: Database, kb_id: UUID) -> FolderReport:
    """Bring every folder of a base in step. A folder that is not there now is reported, and nothing of it marked."""
    with db.read(kb_id) as conn:
        folders = [f for f in watched_folders(conn) if f.kb_id == kb_id]
    counts: Counter[str] = Counter()
    missing: list[str] = []
    unread: list[str] = []
    for folder in folders:
        if not folder.path.is_dir():
            unread.append(f"{folder.path}: no such folder now")
            continue
        report = sync_folder(db, kb_id, folder.path, actor="pipeline", via="pipeline", namespace=folder.namespace)
        counts.update(report.counts)
        missing += report.missing
        unread += report.skipped
    return FolderReport(dict(counts), tuple(missing), tuple(unread))


def sync_folder(
    db: Database,
    kb_id: UUID,
    path: Path,
    *,
    actor: str,
    via: Via,
    namespace: str = "",
    batch_bytes: int = BATCH_BYTES,
) -> FolderReport:
    """Take in what is new or changed below `path`, in batches, and mark what vanished. The folder is kept from then on.

    A document is known by its path below the folder. One that was deleted by a person stays out until its bytes
    change. Raises `InvalidInput` if `path` is no folder.
    """
    root = path.resolve()
    if not root.is_dir():
        raise InvalidInput(f"{path} is not a folder", field="path")
    with db.write(kb_id) as conn:
        source_id = ensure_source(conn, kb_id, "folder", str(root), {"namespace": namespace})
        conn.execute(sql.query("documents_take_up_again"), {"kb_id": kb_id, "source_id": source_id})
    skipped = _Skipped()
    seen: list[str] = []
    counts: Counter[str] = Counter()
    for batch in _batches(_files(root, skipped), namespace, batch_bytes, skipped):
        seen += [item.external_id for item in batch]
        wanted = _without_deleted(db, kb_id, source_id, batch, skipped)
        results = push(db, kb_id, wanted, source=str(root), kind="folder", actor=actor, via=via) if wanted else []
        counts.update(_actions(results))
    missing = () if skipped.blind else _mark_missing(db, kb_id, source_id, [*seen, *skipped.names])
    return FolderReport(dict(counts), missing, tuple(skipped.lines))


def _mark_missing(db: Database, kb_id: UUID, source_id: UUID, seen: list[str]) -> tuple[str, ...]:
    values = {"kb_id": kb_id, "source_id": source_id, "seen": seen}
    with db.write(kb_id) as conn:
        rows = conn.execute(sql.query("documents_mark_missing"), values).fetchall()
    return tuple(sorted(row["external_id"] for row in rows))


def _actions(results: list[PushResult]) -> Counter[str]:
    return Counter(result.action for result in results)


class _Skipped:
    """What was not taken and why, in the order it was met."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.lines: list[str] = []
        self.blind = False
        """A folder could not be listed, so that not to be seen means nothing."""

    def add(self, name: str, reason: str) -> None:
        shown = name.encode(errors="backslashreplace").decode()
        self.names.append(shown)
        self.lines.append(f"{shown}: {reason}")


def _files(root: Path, skipped: _Skipped) -> Iterator[tuple[str, Path]]:
    """Names and paths of regular files below `root`, in name order; why others are not taken goes to `skipped`."""

    def unreadable(error: OSError) -> None:
        skipped.add(Path(error.filename).relative_to(root).as_posix(), f"cannot be listed ({error.strerror})")
        skipped.blind = True

    for directory, folders, names in os.walk(root, onerror=unreadable):
        here = Path(directory)
        reasons = {name: _refusal(root, here / name) for name in (*folders, *names)}
        for name in sorted(reasons):
            if reasons[name]:
                skipped.add((here / name).relative_to(root).as_posix(), reasons[name])
        folders[:] = sorted(name for name in folders if not reasons[name])
        for name in sorted(names):
            if not reasons[name]:
                yield (here / name).relative_to(root).as_posix(), here / name


def _refusal(root: Path, file: Path) -> str:
    """Why a file or folder is not taken; empty if it is."""
    if file.name.startswith("."):
        return "hidden"
    relative = str(file.relative_to(root))
    try:
        relative.encode()
    except UnicodeEncodeError:
        return "its name is not valid UTF-8"
    try:
        if file.is_symlink() and (file.is_dir() or not file.resolve().is_relative_to(root)):
            return "a link to a folder, or out of this one"
        if file.is_dir():
            return ""
        if not file.is_file():
            return "not a regular file"
        size = file.stat().st_size
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return f"{size / 1024**2:.1f} MiB; at most {MAX_BYTES // 1024**2} MiB are taken" if size > MAX_BYTES else ""


def _batches(
    files: Iterator[tuple[str, Path]], namespace: str, batch_bytes: int, skipped: _Skipped
) -> Iterator[list[PushItem]]:
    batch: list[PushItem] = []
    held = 0
    for name, file in files:
        try:
            item = PushItem(name, file.name, file.read_bytes(), None, namespace)
            check_items([item])
        except OSError as error:
            skipped.add(name, f"cannot be read ({error.strerror})")
            continue
        except InvalidInput as error:
            skipped.add(name, str(error))
            continue
        if batch and (held + len(item.content) > batch_bytes or len(batch) == BATCH_ITEMS):
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += len(item.content)
    if batch:
        yield batch


def _without_deleted(
    db: Database, kb_id: UUID, source_id: UUID, batch: list[PushItem], skipped: _Skipped
) -> list[PushItem]:
    """Drop what somebody deleted and nobody has changed since: a deletion is not undone by a look at a folder."""
    values = {"kb_id": kb_id, "source_id": source_id, "external_ids": [item.external_id for item in batch]}
    with db.read(kb_id) as conn:
        rows = conn.execute(sql.query("documents_newest_versions"), values).fetchall()
    deleted = {r["external_id"]: bytes(r["content_sha256"]) for r in rows if r["invalidated_kind"] == "deleted"}
    kept = []
    for item in batch:
        if deleted.get(item.external_id) == hashlib.sha256(item.content).digest():
            skipped.add(item.external_id, "deleted here and not changed since")
        else:
            kept.append(item)
    return kept


def fingerprint(folder: Path) -> str:
    """A digest of names, sizes and change times: moves whenever `sync_folder` may find something. Reads no file."""
    digest = hashlib.sha256()
    for name, file in _files(folder.resolve(), _Skipped()):
        try:
            found = file.stat()
        except FileNotFoundError:
            continue
        digest.update(f"{name}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}\n".encode())
    return digest.hexdigest()
