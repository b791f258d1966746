"""Where a base's lexical index lies: versioned directories, a pointer file that names one, a writer's lock.

::

    <index_dir>/<base id>/current          "v1-3f2a…", replaced atomically
    <index_dir>/<base id>/writer.lock      held by the one writer, freed by the kernel if it dies
    <index_dir>/<base id>/v1-3f2a…/        a Tantivy directory
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid4

from substrate.retrieval.lexical_schema import VERSION

_KEEP_SECONDS = 600
"""A directory that was swapped out stays this long for readers that had just read the pointer."""


class IndexFiles:
    """The files of one base's index. Nothing is made before something is written."""

    def __init__(self, index_dir: Path, kb_id: UUID) -> None:
        self.root = index_dir / str(kb_id)

    def current(self) -> Path | None:
        """The directory in use, or None where there is none of this version of the code."""
        try:
            name = (self.root / "current").read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None
        directory = self.root / name
        return directory if name.startswith(f"v{VERSION}-") and directory.is_dir() else None

    def new(self) -> Path:
        """An empty directory that nobody reads yet."""
        directory = self.root / f"v{VERSION}-{uuid4().hex[:12]}"
        directory.mkdir(parents=True)
        return directory

    def point_to(self, directory: Path) -> None:
        """Make `directory` the one in use: readers see it whole or not at all, also after a power cut."""
        temporary = self.root / "current.new"
        with temporary.open("w", encoding="utf-8") as handle:
            handle.write(directory.name + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(self.root / "current")

    def prune(self, *, at_once: bool = False) -> None:
        """Remove directories out of use, what a killed rebuild left included. Only the writer may.

        `at_once` leaves no time to readers that had just read the pointer: they look again.
        """
        current = self.current()
        for directory in self.root.glob("v*-*"):
            if directory != current and (at_once or time.time() - directory.stat().st_mtime > _KEEP_SECONDS):
                shutil.rmtree(directory, ignore_errors=True)

    def state(self) -> tuple[tuple[int, int], ...]:
        """Changes whenever a commit or a swap may be seen; two calls of stat."""
        marks = [_mark(self.root / "current")]
        directory = self.current() if marks[0][0] else None
        if directory is not None:
            marks.append(_mark(directory / "meta.json"))
        return tuple(marks)

    @contextmanager
    def writer(self) -> Iterator[bool]:
        """Hold the writer's lock; yields False at once where another process or thread holds it."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "writer.lock").open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True


def _mark(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns
