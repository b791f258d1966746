"""What stages share is closed with the services: connections that models keep open, the children that read."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from substrate.pipeline import Services
from substrate.settings import Settings


def endpoints(settings: Settings) -> Settings:
    url, key = "http://127.0.0.1:9/v1", SecretStr("k")
    return settings.model_copy(
        update={"embedder": "openai", "embedding_base_url": url, "embedding_api_key": key}
        | {"extractor": "openai", "chat_base_url": url, "chat_api_key": key}
    )


def test_clients_are_closed_once_they_were_opened(settings: Settings) -> None:
    services = Services(endpoints(settings))
    models: list[Any] = [services.embedder, services.extractor]
    clients = [model._client for model in models]
    assert [client.is_closed() for client in clients] == [False, False]
    services.close()
    assert [client.is_closed() for client in clients] == [True, True]


def test_what_was_not_opened_or_needs_no_closing_is_left(settings: Settings) -> None:
    with Services(endpoints(settings)) as services:
        pass
    assert services._embedder is None
    with Services(settings) as services:
        assert not hasattr(services.extractor, "close")
