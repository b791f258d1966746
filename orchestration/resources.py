"""The one resource: a database and the models, opened when first used and once per run or process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import dagster as dg

from substrate.bases import Base, base_by_slug
from substrate.db import NO_BASE, Database, open_database
from substrate.errors import NotFound
from substrate.pipeline import Services
from substrate.settings import Settings, load_settings, tame_native_threads


class Substrate:
    """What assets, checks and sensors reach the product through."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or load_settings()

    @cached_property
    def database(self) -> Database:
        """Migrated, with an open pool of two: a run works on one base, step by step."""
        tame_native_threads(self.settings.threads)
        return open_database(self.settings.model_copy(update={"pool_size": 2}), application_name="twoclocks-dagster")

    @cached_property
    def services(self) -> Services:
        """Embedder, extractor, parsers; each opened by the first stage that needs it."""
        return Services(self.settings)

    def base(self, slug: str) -> Base:
        """Fails the step for good where a partition has no base: trying again would not make one."""
        try:
            with self.database.read(NO_BASE) as connection:
                return base_by_slug(connection, slug)
        except NotFound as error:
            raise dg.Failure(str(error), allow_retries=False) from error

    def close(self) -> None:
        """Close what was opened."""
        if "services" in self.__dict__:
            self.services.close()
        if "database" in self.__dict__:
            self.database.close()


@dg.resource(description="The knowledge substrate: its database, embedder, extractor and readers.")
def substrate_resource(_: dg.InitResourceContext) -> Iterator[Substrate]:
    """Opened for one run and closed after it."""
    opened = Substrate()
    try:
        yield opened
    finally:
        opened.close()


_watching: list[Substrate] = []


def watching() -> Substrate:
    """For sensors, which tick for ever in one process: opened by the first tick and kept.

    A pool that is made and thrown away at each tick would cost more than what a tick asks.
    """
    if not _watching:
        _watching.append(Substrate())
    return _watching[0]
