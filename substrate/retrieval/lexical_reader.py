"""The reading side of the lexical index: what the files hold, united with what was committed since.

One reader per base and process. A search takes one view (a searcher, the watermark of that very searcher, the tail
beyond it) and keeps it to the end, whatever commits or swaps meanwhile. Cost when nothing changed: two calls of stat.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import ReadConnection
from substrate.errors import Unavailable
from substrate.retrieval.filters import Filters
from substrate.retrieval.lexical_files import IndexFiles
from substrate.retrieval.lexical_schema import (
    FIELDS,
    Field,
    Term,
    among,
    any_of,
    chunk_numbers,
    coverage_query,
    open_index,
    scoring_query,
    search_query,
    watermark,
)
from substrate.retrieval.lexical_tail import Statistics, Tail
from substrate.settings import Settings

_OPEN_READERS = 256
"""Bases whose index stays open in one process; the one unused for longest is let go."""
_UNREADABLE = "the lexical index cannot be read ({}); the next run builds it anew, as does: twoclocks index rebuild"
_ATTEMPTS = 5
"""How often a directory may vanish under a reader (two swaps within one opening) before it gives up."""


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk that the words led to."""

    chunk_id: UUID
    score: float


@dataclass
class View:
    """One state of the files and the tail beyond it."""

    searcher: Any | None
    tail: Tail
    lock: threading.Lock = field(default_factory=threading.Lock)

    def catch_up(self, conn: ReadConnection, kb_id: UUID, seq: int) -> None:
        """See everything up to `seq`: one query, and none where the view has seen it before."""
        after = self.tail.upto
        if seq <= after:
            return
        rows = conn.execute(sql.query("retrieval_events"), {"kb_id": kb_id, "after": after, "upto": seq}).fetchall()
        # A sequence resolved in a later snapshot than this one must not pass for seen.
        visible = min(seq, rows[0]["head"]) if rows else after
        with self.lock:
            self.tail.take(rows, visible)

    def search(self, wanted: Sequence[Term], seq: int, filters: Filters | None, depth: int) -> list[Match]:
        """The `depth` best chunks held at `seq`, best first, ties by id."""
        if not wanted:
            return []
        with self.lock:
            found = self.tail.search(wanted, seq, filters, self.statistics)
            closed = self.tail.closed(seq)
        if self.searcher is not None:
            quick = None if filters else _quick(self.searcher, any_of(wanted), seq, frozenset(closed), depth)
            if quick is None:
                quick = _best(self.searcher, search_query(wanted, seq, filters, closed), depth)
            found += quick
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return [Match(chunk_id, score) for score, chunk_id in found[:depth]]

    def scores(self, wanted: Sequence[Term], ids: Collection[UUID]) -> dict[UUID, float]:
        """What `search` would give these chunks, which the caller knows to have been held; none for no match."""
        return self.judged(ids).scores(wanted)

    def coverage(
        self, wanted: Sequence[Term], ids: Collection[UUID], fields: Sequence[Field] = ("body", "title")
    ) -> dict[UUID, float]:
        """The share of the question's terms that these chunks hold in any of the fields, by rarity; 0 to 1."""
        return self.judged(ids).coverage(wanted, fields)

    def judged(self, ids: Collection[UUID]) -> Judged:
        """These chunks, to be scored several times."""
        return Judged(self, {i.int: i for i in ids})

    def rarity(self, texts: Collection[str]) -> dict[str, float]:
        """How much each term tells, by how few chunks hold it; the lock is the caller's."""
        known = self.statistics
        documents = known.documents + len(self.tail)
        found = {}
        for text in sorted(texts):
            holding = known.frequency("body", text) + self.tail.frequency("body", text)
            found[text] = math.log(1 + (documents - holding + 0.5) / (holding + 0.5)) if documents else 0.0
        return found

    def fresh_passages(self, seq: int, filters: Filters | None) -> dict[UUID, str]:
        """Chunk ids past the watermark, held at `seq`, with the text an embedder is given."""
        with self.lock:
            return self.tail.passages(seq, filters)

    @cached_property
    def statistics(self) -> Statistics:
        """What the index knows of its terms, with which the tail is scored."""
        searcher = self.searcher
        if searcher is None or searcher.num_docs <= 1:  # the watermark alone
            return Statistics()
        from tantivy import Query

        wanted = {name: {"avg": {"field": f"{name}_length"}} for name in FIELDS}
        averages = searcher.aggregate(Query.all_query(), wanted)

        def frequency(name: Field, text: str) -> int:
            return int(searcher.doc_freq(name, text))

        return Statistics(searcher.num_docs - 1, {name: averages[name]["value"] or 0.0 for name in FIELDS}, frequency)


def _quick(
    searcher: Any, query: Any, seq: int, closed: Collection[UUID], depth: int
) -> list[tuple[float, UUID]] | None:
    """What `_best` gives, where the best of all moments hold enough of this one; else None.

    Without a clause that must hold the index leaves out whole blocks that cannot matter: a third of the time at 100,000
    passages, and less the more there are.
    """
    most = 4 * (depth + 16)
    hits = searcher.search(query, most, count=False).hits
    addresses = [address for _, address in hits]
    written, until = (searcher.fast_field_values(name, addresses) for name in ("recorded_seq", "invalidated_seq"))
    found = [
        (score, chunk_id)
        for (score, _), number, since, to in zip(hits, chunk_numbers(searcher, addresses), written, until, strict=True)
        if since <= seq < to and (chunk_id := UUID(int=number)) not in closed  # lint: axis the index's own fields
    ]
    whole = len(hits) < most or (len(found) >= depth and hits[-1][0] < found[depth - 1][0])
    return found if whole else None


def _best(searcher: Any, query: Any, depth: int) -> list[tuple[float, UUID]]:
    """At least the `depth` best, and all that tie with the last of them: the index's own order among equals
    depends on how it was built."""
    most = depth + 16
    while True:
        hits = searcher.search(query, most, count=False).hits
        if len(hits) < most or hits[-1][0] < hits[depth - 1][0]:
            break
        most *= 4
    numbers = chunk_numbers(searcher, [address for _, address in hits])
    return [(score, UUID(int=number)) for (score, _), number in zip(hits, numbers, strict=True)]


@dataclass
class Judged:
    """Chunks known to have been held, whatever led to them, and how well they fit a question."""

    view: View
    ids: Mapping[int, UUID]

    def scores(self, wanted: Sequence[Term]) -> dict[UUID, float]:
        """See `View.scores`."""
        if not wanted or not self.ids:
            return {}
        tail, found = self.view.tail, {}
        if tail:
            with self.view.lock:
                found = tail.scores(wanted, self.view.statistics, frozenset(self.ids.values()))
        return self._searched(lambda: scoring_query(wanted, self._inside)) | found

    def coverage(self, wanted: Sequence[Term], fields: Sequence[Field]) -> dict[UUID, float]:
        """See `View.coverage`."""
        with self.view.lock:
            rarity = self.view.rarity({term.text for term in wanted if term.field == "body"})
            whole = sum(rarity.values())
            if not whole or not self.ids:
                return {}
            found = dict(self.view.tail.covered(rarity, fields, self.ids.values()))
        found = self._searched(lambda: coverage_query(rarity, fields, self._inside)) | found
        return {chunk_id: covered / whole for chunk_id, covered in found.items()}

    @cached_property
    def _inside(self) -> Any:
        return among([str(i) for i in self.ids.values()])

    def _searched(self, query: Callable[[], Any]) -> dict[UUID, float]:
        searcher = self.view.searcher
        if searcher is None:
            return {}
        hits = searcher.search(query(), len(self.ids), count=False).hits
        numbers = chunk_numbers(searcher, [address for _, address in hits])
        return {self.ids[number]: score for (score, _), number in zip(hits, numbers, strict=True)}


class Reader:
    """A base's index, reopened or moved on when its files change."""

    def __init__(self, files: IndexFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._state: tuple[tuple[int, int], ...] | None = None
        self._directory: Path | None = None
        self._index: Any | None = None
        self._view = View(None, Tail(0))

    def view(self) -> View:
        """The newest view. Raises `Unavailable` where the files cannot be read."""
        with self._lock:
            state = self._files.state()
            if state != self._state:
                self._view = self._reopened()
                self._state = state
            return self._view

    def _reopened(self) -> View:
        failure: Exception | None = None
        for _ in range(_ATTEMPTS):
            directory = self._files.current()
            if directory is None:
                return self._without_index()
            try:
                if self._index is None or directory != self._directory:
                    self._index, self._directory = open_index(directory), directory
                self._index.reload()
                searcher = self._index.searcher()
                return View(searcher, Tail(watermark(searcher)))
            except (ValueError, OSError) as error:
                failure, self._index = error, None
        raise Unavailable(_UNREADABLE.format(failure), path=str(directory))

    def _without_index(self) -> View:
        self._index = self._directory = None
        return View(None, self._view.tail if self._view.searcher is None else Tail(0))


_readers: OrderedDict[tuple[Path, UUID], Reader] = OrderedDict()
_readers_lock = threading.Lock()


def current_view(settings: Settings, kb_id: UUID) -> View:
    """The newest view of a base in this process. Raises `Unavailable`."""
    key = (settings.index_dir, kb_id)
    with _readers_lock:
        reader = _readers.get(key)
        if reader is None:
            reader = _readers[key] = Reader(IndexFiles(settings.index_dir, kb_id))
            if len(_readers) > _OPEN_READERS:
                _readers.popitem(last=False)
        _readers.move_to_end(key)
    return reader.view()
