"""A substrate over the test's own database; the models are loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from orchestration.resources import Substrate
from substrate.extraction.claims import Extractor
from substrate.pipeline import Services, open_extractor
from substrate.retrieval.embedders import Embedder, open_embedder
from substrate.settings import Settings

MODELS = Path(__file__).parents[2] / ".models"


@pytest.fixture(scope="session")
def models() -> tuple[Embedder, Extractor]:
    """The bundled ones."""
    given = Settings(models_dir=MODELS)
    return open_embedder(given), open_extractor(given)


@pytest.fixture
def substrate(settings: Settings, models: tuple[Embedder, Extractor]) -> Iterator[Substrate]:
    """What the resource would give to a run."""
    opened = Substrate(settings)
    opened.services = Services(settings, embedder=models[0], extractor=models[1])
    yield opened
    opened.close()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    """Dagster in memory."""
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened
