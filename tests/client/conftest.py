"""The client against the real served API: the fixtures of the API's own tests, and both clients behind one face."""

from __future__ import annotations

import asyncio

import pytest
from twoclocks import AsyncClient, Client

from tests.api.conftest import scribe as scribe
from tests.api.conftest import server as server
from tests.api.conftest import tokens as tokens
from tests.ledger_facts import day


@pytest.fixture
def led(scribe):
    """Ada led Heron until Bob did; the numbers of the record after each."""
    said = scribe.document("Ada leads Heron.", filename="memo.md", doc_time=day("2022-01-01"))
    scribe.say("Ada", "leads", "Heron", start=day("2021-01-01"), evidence=said, kinds={"Heron": "project"})
    first = scribe.seq()
    scribe.say("Bob", "leads", "Heron", start=day("2023-04-01"))
    scribe.say("Bob", "works_on", "Egret")
    return first, scribe.seq()


class Face:
    """Calls a method of either client by name and gives its answer, an iterator's rows as a list."""

    def __init__(self, kind, url, token, kb, **options):
        self.kind, self.options = kind, {"kb": kb, **options}
        self.url, self.token, self.moment = url, token, None

    def at(self, moment):
        face = Face(self.kind, self.url, self.token, **self.options)
        face.moment = moment
        return face

    def __call__(self, name, *given, **named):
        if self.kind == "async":
            return asyncio.run(self._await(name, given, named))
        with Client(self.url, self.token, **self.options) as client:
            view = client if self.moment is None else client.as_of(self.moment)
            found = getattr(view, name)(*given, **named)
            return list(found) if name.startswith("iter_") else found

    async def _await(self, name, given, named):
        async with AsyncClient(self.url, self.token, **self.options) as client:
            view = client if self.moment is None else client.as_of(self.moment)
            found = getattr(view, name)(*given, **named)
            return [row async for row in found] if name.startswith("iter_") else await found


@pytest.fixture(params=["sync", "async"])
def kind(request):
    return request.param


@pytest.fixture
def ask(kind, server):
    return Face(kind, server.url, server.tokens.write, str(server.kb))
