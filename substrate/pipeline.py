"""The stages in their order, and the models and readers they share.

The same functions that the Dagster assets call, one after the other, for a command line, a benchmark or a test.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self
from uuid import UUID

from substrate import work
from substrate.db import Database
from substrate.errors import ModelUnavailable, Unavailable
from substrate.passes import MODEL_PAUSE_S
from substrate.settings import Settings
from substrate.work import StageResult

if TYPE_CHECKING:
    from substrate.documents.parsing import ParserPool
    from substrate.extraction.claims import Extractor
    from substrate.identity.votes import PairVoter
    from substrate.ontology.votes import Voter
    from substrate.retrieval.embedders import Embedder

_log = logging.getLogger(__name__)
Step = Literal["parse", "embed", "index", "claims", "bindings", "entities", "facts", "funnel"]
ALL: tuple[Step, ...] = ("parse", "embed", "index", "claims", "bindings", "entities", "facts", "funnel")


class Services:
    """What stages need beside the database, opened when first used and once per process.

    A test may pass an embedder or extractor of its own, and closes it itself.
    """

    def __init__(
        self, settings: Settings, *, embedder: Embedder | None = None, extractor: Extractor | None = None
    ) -> None:
        self.settings = settings
        self._embedder = embedder
        self._extractor = extractor
        self._opened: list[object] = []
        self._lock = Lock()

    @property
    def embedder(self) -> Embedder:
        """Raises `ModelUnavailable`."""
        with self._lock:
            if self._embedder is None:
                from substrate.retrieval.embedders import open_embedder

                self._embedder = open_embedder(self.settings)
                self._opened.append(self._embedder)
            return self._embedder

    @property
    def extractor(self) -> Extractor:
        """Raises `ModelUnavailable`."""
        with self._lock:
            if self._extractor is None:
                self._extractor = open_extractor(self.settings)
                self._opened.append(self._extractor)
            return self._extractor

    @cached_property
    def voter(self) -> Voter | None:
        """Who is asked what a phrase names; None where no chat endpoint is set."""
        from substrate.ontology.votes import open_voter

        found = open_voter(self.settings)
        if found is not None:
            self._opened.append(found)
        return found

    @cached_property
    def pair_voter(self) -> PairVoter | None:
        """Who is asked whether two entities are one; None where no chat endpoint is set."""
        from substrate.identity.votes import open_pair_voter

        found = open_pair_voter(self.settings)
        if found is not None:
            self._opened.append(found)
        return found

    @cached_property
    def parsers(self) -> ParserPool:
        """Children that read documents; started at the first document that needs one."""
        from substrate.documents.parsing import ParserPool

        return ParserPool()

    def next_versions(self) -> Mapping[work.Stage, str]:
        """What a new chunk becomes due for. A model that cannot be opened is left out; its own stage sees to it."""
        from substrate.extraction.stage import extractor_key
        from substrate.retrieval.passages import vector_key

        names: dict[work.Stage, Callable[[], str]] = {
            "embed": lambda: vector_key(self.embedder),
            "claims": lambda: extractor_key(self.extractor),
        }
        found: dict[work.Stage, str] = {}
        for stage, name in names.items():
            try:
                found[stage] = name()
            except ModelUnavailable:
                continue
        return found

    def close(self) -> None:
        """End the reading children and close the connections that models keep open."""
        if "parsers" in self.__dict__:
            self.parsers.close()
        for model in self._opened:
            if callable(close := getattr(model, "close", None)):
                close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_extractor(settings: Settings) -> Extractor:
    """The extractor that ``settings.extractor`` names. Raises `ModelUnavailable` where it lacks what it needs."""
    if settings.extractor == "openai":
        from substrate.extraction.openai_compatible import open_openai_extractor

        return open_openai_extractor(settings)
    from substrate.extraction.builtin import BuiltinExtractor

    return BuiltinExtractor(settings)


def run_step(db: Database, kb_id: UUID, services: Services, step: Step, *, limit: int | None = None) -> StageResult:
    """One stage of one base: all that is due, or at most `limit` items.

    A model that cannot be opened is a result that says so: other stages go on.
    """
    try:
        return _STEPS[step](db, kb_id, services, limit)
    except ModelUnavailable as error:
        return _without_model(db, kb_id, step, error)


def run_pipeline(
    db: Database, kb_id: UUID, services: Services, stages: Sequence[Step] = ALL, *, limit: int | None = None
) -> list[StageResult]:
    """Every stage once, in order; whatever is due when a stage begins is done. Run it again and nothing changes."""
    return [run_step(db, kb_id, services, step, limit=limit) for step in ALL if step in stages]


def _parse(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.documents.stage import run_parse

    return run_parse(db, kb_id, next_versions=services.next_versions(), pool=services.parsers, limit=limit)


def _embed(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.retrieval.embed_stage import run_embed

    return run_embed(db, kb_id, services.embedder, limit=limit, settings=services.settings)


def _index(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.retrieval.lexical import run_index

    result = run_index(db, kb_id, services.settings)
    _close_gaps(db, kb_id, services.settings)
    return result


def _claims(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.extraction.budget import Terms
    from substrate.extraction.stage import run_claims

    return run_claims(db, kb_id, services.extractor, limit=limit, terms=Terms.of(services.settings))


def _bindings(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.ontology.bindings_stage import run_bindings

    return run_bindings(db, kb_id, lambda: services.embedder, services.voter, limit=limit)


def _entities(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.identity.stage import run_entities

    return run_entities(db, kb_id, services.pair_voter, limit=limit)


def _facts(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.ledger.stage import run_facts

    result = run_facts(db, kb_id, limit=limit)
    _close_gaps(db, kb_id, services.settings)
    return result


def _close_gaps(db: Database, kb_id: UUID, settings: Settings) -> None:
    from substrate.gaps import close_answered

    try:
        close_answered(db, kb_id, settings)
    except Unavailable as error:  # of the lexical index, which its own stage builds anew
        _log.warning("open questions were not looked at: %s", error)


def _funnel(db: Database, kb_id: UUID, services: Services, limit: int | None) -> StageResult:
    from substrate.funnel import run_funnel

    return run_funnel(db, kb_id)


_STEPS: Mapping[Step, Callable[[Database, UUID, Services, int | None], StageResult]] = {
    "parse": _parse,
    "embed": _embed,
    "index": _index,
    "claims": _claims,
    "bindings": _bindings,
    "entities": _entities,
    "facts": _facts,
    "funnel": _funnel,
}


def _without_model(db: Database, kb_id: UUID, step: Step, error: ModelUnavailable) -> StageResult:
    began = time.monotonic()
    stage: work.Stage = "embed" if step == "embed" else "claims"
    with db.write(kb_id) as conn:
        work.add_due_unmet_chunks(conn, kb_id, stage, held_only=stage == "claims")
    work.postpone(db, kb_id, stage, MODEL_PAUSE_S)
    with db.read(kb_id) as conn:
        left, mark = work.remaining(conn, kb_id, stage), work.watermark(conn, kb_id)
    return StageResult(
        step,
        failed=max(left, 1),
        remaining=left,
        seconds=time.monotonic() - began,
        failures=(f"{left or 'all'} items wait: {error}",),
        watermark=mark,
    )
