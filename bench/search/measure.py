"""One filled base measured: each kind of search in turn, its arms alone, many clients, and what is found."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from bench.search.corpus import RARE, TENTH, Made, Real, Seeded
from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import Database, ReadConnection
from substrate.reads.moments import resolve
from substrate.retrieval import vectors
from substrate.retrieval.embedders import Embedder
from substrate.retrieval.filters import Filters
from substrate.retrieval.lexical_reader import current_view
from substrate.retrieval.lexical_schema import near_terms, question_terms
from substrate.retrieval.passages import vector_key
from substrate.retrieval.search import DEPTH, search_chunks
from substrate.settings import Settings

ASKED, CLIENTS, AT = 6, (1, 8, 32), 10
"""Words of a question; clients at once; places at which recall is counted."""


class Questions:
    """An embedder that costs what the model costs and answers with the seeded vectors of its questions."""

    token_limit, truncated = None, 0

    def __init__(self, model: Embedder, source: Seeded | Real, made: Made, seed: int) -> None:
        self._model, self._source, self._made = model, source, made
        self._rng = random.Random(seed)
        self._known: dict[str, Any] = {}
        self.seeded = isinstance(source, Seeded)
        self.name = "seeded@1" if self.seeded else model.name
        self.dimension = model.dimension
        self.opened_by: dict[str, str] = {}

    def count_tokens(self, text: str) -> int | None:
        """The model's."""
        return self._model.count_tokens(text)

    def passages(self, texts: Sequence[str]) -> Any:
        """The model's."""
        return self._model.passages(texts)

    def queries(self, texts: Sequence[str]) -> Any:
        """The model reads the text either way; where vectors are seeded its answer gives way to the question's own."""
        read = self._model.queries(texts)
        return np.stack([self._known[text] for text in texts]) if self.seeded else read

    def ask(self) -> str:
        """A new question: words of one passage, with a vector beside that passage's."""
        text, vector = self._rng.choice(self._made.samples)
        words = [w for w in dict.fromkeys(text.rstrip(".").split()) if w not in self._source.common]
        question = " ".join([*self._rng.sample(words, min(ASKED, len(words))), str(self._rng.randrange(10**6))])
        if isinstance(self._source, Seeded) and vector is not None:
            self._known[question] = self._source.near(vector)
        return question


@dataclass
class Figures:
    """Milliseconds by kind, and what was counted."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    clients: dict[int, tuple[float, float]] = field(default_factory=dict)
    recall: dict[str, float] = field(default_factory=dict)
    rare_found: int = 0
    sizes: dict[str, int] = field(default_factory=dict)

    def p50(self, kind: str) -> float:
        """The median."""
        return statistics.median(self.times[kind])

    def p95(self, kind: str) -> float:
        """The 95th of a hundred."""
        return sorted(self.times[kind])[int(len(self.times[kind]) * 0.95)]


class Bench:
    """Searches of one base, as a request makes them: a snapshot, a moment, an answer."""

    def __init__(self, db: Database, settings: Settings, made: Made, questions: Questions) -> None:
        self.db, self.settings, self.made, self.questions = db, settings, made, questions
        self.past = f"seq:{made.seqs[len(made.seqs) // 2]}"

    def hybrid(self, question: str, as_of: str | None = None, namespace: str | None = None) -> int:
        """The whole search; returns how many passages it gave."""
        with self.db.read(self.made.kb_id) as conn:
            moment = resolve(conn, self.made.kb_id, as_of=as_of)
            answer = search_chunks(
                conn,
                self.made.kb_id,
                question,
                moment,
                embedder=self.questions,
                settings=self.settings,
                namespace=namespace,
                limit=AT,
            )
        return len(answer["chunks"])

    def lexical(self, question: str) -> None:
        """The words' arm alone, both of its questions."""
        with self.db.read(self.made.kb_id) as conn:
            moment = resolve(conn, self.made.kb_id)
            view = current_view(self.settings, self.made.kb_id)
            view.catch_up(conn, self.made.kb_id, moment.seq)
            view.search(question_terms(question), moment.seq, None, DEPTH)
            view.search(near_terms(question), moment.seq, None, DEPTH)

    def vector(self, question: str) -> None:
        """The vectors' arm alone, the question's own vector included."""
        with self.db.read(self.made.kb_id) as conn:
            moment = resolve(conn, self.made.kb_id)
            vectors.nearest(conn, self.made.kb_id, self.questions, question, moment, depth=DEPTH)

    def measure(self, repeats: int) -> Figures:
        """Everything of this base; each kind in turn, in an order drawn anew."""
        figures = Figures()
        kinds: dict[str, Callable[[str], object]] = {
            "hybrid": self.hybrid,
            "lexical": self.lexical,
            "vector": self.vector,
            "past": lambda q: self.hybrid(q, self.past),
            "rare": lambda q: self.hybrid(q, None, RARE),
            "tenth": lambda q: self.hybrid(q, None, TENTH),
        }
        for n in range(repeats + 10):
            order = list(kinds)
            random.Random(n).shuffle(order)
            for kind in order:
                question = self.questions.ask()
                _time(figures, kind, n, lambda k=kind, q=question: kinds[k](q))  # type: ignore[misc]
                if kind == "hybrid":
                    _time(figures, "cached", n, lambda q=question: self.hybrid(q))  # type: ignore[misc]
        for clients in CLIENTS:
            figures.clients[clients] = self._many(clients, repeats)
        self._found(figures, max(repeats // 2, 20))
        return figures

    def _many(self, clients: int, repeats: int) -> tuple[float, float]:
        """p50 and p95 of the hybrid search with so many clients at once, a question each after the other."""
        asked = [[self.questions.ask() for _ in range(max(repeats // clients, 4))] for _ in range(clients)]
        times: list[float] = []

        def client(mine: Sequence[str]) -> None:
            for question in mine:
                begun = time.perf_counter()
                self.hybrid(question)
                times.append((time.perf_counter() - begun) * 1000)

        threads = [threading.Thread(target=client, args=(mine,)) for mine in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return statistics.median(times), sorted(times)[int(len(times) * 0.95)]

    def _found(self, figures: Figures, repeats: int) -> None:
        """Recall of what the arm gives against an exact scan: now, at a past moment, and filtered."""
        with self.db.read(self.made.kb_id) as conn:
            now, then = (resolve(conn, self.made.kb_id, as_of=at) for at in (None, self.past))
            cases = {"now": (now, Filters()), "past": (then, Filters()), "filtered": (now, Filters(TENTH))}
            for name, (moment, filters) in cases.items():
                shares = [self._share(conn, moment, filters) for _ in range(repeats)]
                figures.recall[name] = statistics.mean(shares)
            rare = self._nearest(conn, self.questions.ask(), now, Filters(RARE))
        figures.rare_found = len(rare)

    def _share(self, conn: ReadConnection, moment: AsOf, filters: Filters) -> float:
        question = self.questions.ask()
        found = self._nearest(conn, question, moment, filters)[:AT]
        values = {
            "kb_id": self.made.kb_id,
            "model": vector_key(self.questions),
            "vector": vectors.literal(vectors.question_vector(self.questions, question)),
            "depth": AT,
            "most": 2**31 - 2,
        }
        bound = sql.parameters(moment, **values, **filters.parameters())
        rows = conn.execute(sql.query("retrieval_nearest_narrowed", moment), bound).fetchall()
        exact = [row["id"] for row in rows if row["id"] is not None]
        return len(set(found) & set(exact)) / len(exact)

    def _nearest(self, conn: ReadConnection, question: str, moment: AsOf, filters: Filters) -> list[Any]:
        answer = vectors.nearest(conn, self.made.kb_id, self.questions, question, moment, depth=DEPTH, filters=filters)
        return [near.chunk_id for near in answer.found]


def _time(figures: Figures, kind: str, n: int, run: Callable[[], object]) -> None:
    begun = time.perf_counter()
    run()
    if n >= 10:  # the first ones warm what the others find warm
        figures.times[kind].append((time.perf_counter() - begun) * 1000)


def sizes(owner: str, index_dir: Path, name: str) -> dict[str, int]:
    """Bytes of the vectors' table, of their index, of the chunks, of the lexical index, and of this process."""
    with psycopg.connect(owner) as conn:
        found = {
            table: int(_one(conn, "select pg_total_relation_size(%s::regclass)", table))
            for table in ("embeddings", "chunks")
        }
        found["hnsw"] = int(_one(conn, "select coalesce(pg_relation_size(to_regclass(%s)), 0)", name))
    found["lexical"] = sum(path.stat().st_size for path in _files(index_dir))
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {**found, "process": pages * os.sysconf("SC_PAGE_SIZE"), "disk_free": shutil.disk_usage(index_dir).free}


def _one(conn: Any, question: str, value: str) -> Any:
    return conn.execute(question, (value,)).fetchone()[0]


def _files(directory: Path) -> Iterator[Path]:
    return (path for path in directory.rglob("*") if path.is_file())
