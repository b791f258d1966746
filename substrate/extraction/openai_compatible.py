"""Claims from an endpoint that speaks OpenAI's ``POST /chat/completions``.

One request per passage, a bounded number of them in flight per process. The model describes; what it says is checked
against the passage, and dates and numbers are computed by code. A reply that was cut is asked to go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from substrate.endpoints import OPENAI, as_unavailable, normalise_base_url, open_client
from substrate.errors import ModelUnavailable
from substrate.extraction.claims import Drop, Extraction, Passage
from substrate.extraction.openai.answers import Answer, read_answer
from substrate.extraction.openai.bills import Bill, estimated
from substrate.extraction.openai.dialect import Dialect
from substrate.extraction.openai.prompt import SYSTEM, continuation, fingerprint, question
from substrate.extraction.openai.reading import Reading
from substrate.extraction.openai.tries import TRIES, Tries, retry_after

if TYPE_CHECKING:
    import openai

    from substrate.extraction.times import NumericOrder
    from substrate.settings import Settings

VERSION = "2"
"""Part of the key that claims are cached under: raise it when the same reply may be read differently."""
AT_ONCE = 8
SECONDS_PER_TRY = 120.0
SECONDS_PER_CALL = 240.0
"""All tries of one passage, waits included."""
CONTINUATIONS = 4
"""How often a reply that was cut is asked to go on."""
_EXAMPLE = 200
_REFUSING = (400, 413, 422)
Messages = list[dict[str, str]]


class OpenAIExtractor:
    """An `Extractor` over one endpoint and one model of it."""

    def __init__(
        self,
        base_url: str,
        model: str,
        key: str | None,
        *,
        order: NumericOrder | None = None,
        at_once: int = AT_ONCE,
        seconds: float = SECONDS_PER_CALL,
        seconds_per_try: float = SECONDS_PER_TRY,
    ) -> None:
        self.name = f"openai:{model}"
        self.version = "-".join([VERSION, fingerprint(model), *([order] if order else [])])
        self.at_once = at_once
        self._base_url, self._model, self._key = base_url, model, key
        self._order, self._seconds = order, seconds
        self._client = open_client(base_url, key, retries=0, seconds=min(seconds_per_try, seconds))
        self._dialect = Dialect()
        self._closing = threading.Event()
        self._tries = Tries(self._closing)
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="extract")
        self._first = threading.Lock()

    def close(self) -> None:
        """Drop what waits, end every wait between tries, and close the connections; of no use afterwards."""
        self._closing.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._client.close()

    def submit(self, passage: Passage, begin: Callable[[], None] = lambda: None) -> Future[Extraction]:
        """Ask about one passage; the future raises `ModelUnavailable` with the ``usage`` there was all the same.

        `begin` is called first in the thread that asks, when its turn has come; what it raises is raised. A passage
        that the server refuses while it takes others has the one drop ``chunk_unextracted``.
        """
        return self._pool.submit(self._extract, passage, begin)

    def estimate(self, passage: Passage) -> Mapping[str, int]:
        """About what one call will count: its prompt, and an answer a few times as long as the passage."""
        return estimated(f"{SYSTEM}{question(passage)}", passage.text * 3)

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """One `Extraction` per passage, in order; the same passage twice is asked and paid once.

        Raises `ModelUnavailable` at the first passage for which the endpoint stays down, and asks nothing more.
        """
        asked: dict[Passage, Future[Extraction]] = {}
        for passage in passages:
            if passage not in asked:
                asked[passage] = self.submit(passage)
        waiting = set(asked.values())
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            down = next((f.exception() for f in done if f.exception() is not None and not _refused(f)), None)
            if down is not None:
                for future in waiting:
                    future.cancel()
                raise down
        paid: set[Passage] = set()
        results: list[Extraction] = []
        for passage in passages:
            found = self._found(asked[passage], passage)
            results.append(replace(found, usage={}) if passage in paid else found)
            paid.add(passage)
        return results

    def _found(self, asked: Future[Extraction], passage: Passage) -> Extraction:
        """The first passages may have been refused before it was known that the server takes others."""
        if _refused(asked) and self._dialect.settled:
            return _unextracted(str(asked.exception()), passage)
        return asked.result()

    def _extract(self, passage: Passage, begin: Callable[[], None]) -> Extraction:
        bill = Bill()
        begin()
        try:
            return self._read(passage, bill)
        except ModelUnavailable as error:
            error.facts["usage"] = bill.counts
            raise

    def _read(self, passage: Passage, bill: Bill) -> Extraction:
        deadline = time.monotonic() + self._seconds
        asked: Messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question(passage)}]
        answer = self._answer(asked, bill, deadline)
        if isinstance(answer, ModelUnavailable):
            # Refused before anything was ever accepted: that is the server's way, not this passage's fault.
            if not self._dialect.settled:
                raise answer
            return _unextracted(str(answer), passage)
        reading = Reading(passage, self._order)
        reading.take(answer)
        for _ in range(CONTINUATIONS):
            if not reading.may_go_on:
                break
            said = continuation(reading.items) if reading.items else []
            more = self._answer([*asked, *said], bill, deadline)
            if isinstance(more, ModelUnavailable):
                break
            reading.take(more)
        return reading.extraction(bill.counts)

    def _answer(self, messages: Messages, bill: Bill, deadline: float) -> Answer | ModelUnavailable:
        """The answer in the strictest format the server takes, or its refusal of every one."""
        if not self._dialect.settled:
            # One alone finds out, so that a server that refuses the schema is asked once and not by every thread.
            with self._first:
                if not self._dialect.settled:
                    return self._by_level(messages, bill, deadline)
        return self._by_level(messages, bill, deadline)

    def _by_level(self, messages: Messages, bill: Bill, deadline: float) -> Answer | ModelUnavailable:
        refusal = ModelUnavailable(f"{self._base_url} was not asked")
        for level in self._dialect.levels():
            answer = self._request(messages, level, bill, deadline)
            if isinstance(answer, Answer):
                self._dialect.settle(level)
                return answer
            refusal = answer
        return refusal

    def _request(self, messages: Messages, level: int, bill: Bill, deadline: float) -> Answer | ModelUnavailable:
        import openai

        asked = "\n".join(message["content"] for message in messages)
        left = max(deadline - time.monotonic(), 0.0)
        try:
            answer = self._tries.call(lambda: self._try(messages, asked, level, bill), seconds=left, tries=TRIES)
        except openai.APIStatusError as error:
            unavailable = self._unavailable(error, asked)
            if error.status_code not in _REFUSING:
                raise unavailable from None
            if self._dialect.forgo_temperature(str(error)):
                return self._request(messages, level, bill, deadline)
            return unavailable
        except (openai.OpenAIError, ValueError) as error:
            # Not chained: the original carries the server's words, which may quote key and passage.
            raise self._unavailable(error, asked) from None
        if answer is None:
            raise ModelUnavailable(f"{self._base_url} gave no completion", model=self._model)
        return answer

    def _try(self, messages: Any, asked: str, level: int, bill: Bill) -> Answer | None:
        body = {"model": self._model, "messages": messages, **self._dialect.options(level)}
        # Decoded and no more: the client's own types cost as much again, and servers do not keep to them.
        answer = read_answer(self._client.post("/chat/completions", cast_to=object, body=body))
        if answer is not None:
            bill.add(answer, asked)
        return answer

    def _unavailable(self, error: openai.OpenAIError | ValueError, asked: str) -> ModelUnavailable:
        found = as_unavailable(error, self._base_url, self._model, self._key, asked)
        found.facts["retry_after"] = retry_after(error)
        return found


def _refused(asked: Future[Extraction]) -> bool:
    error = asked.exception()
    return isinstance(error, ModelUnavailable) and error.facts.get("status") in _REFUSING


def _unextracted(reason: str, passage: Passage) -> Extraction:
    return Extraction(drops=(Drop("chunk_unextracted", reason, passage.text[:_EXAMPLE]),))


def read(answer: Answer, passage: Passage, order: NumericOrder | None = None) -> Extraction:
    """The claims of one answer; each item that is none is a drop."""
    reading = Reading(passage, order)
    reading.take(answer)
    return reading.extraction(answer.usage)


def open_openai_extractor(settings: Settings) -> OpenAIExtractor:
    """The endpoint the settings name, not yet called; raises when OpenAI's own is meant and no key is set."""
    key = settings.chat_api_key.get_secret_value().strip() if settings.chat_api_key else None
    if settings.chat_base_url is None and not key:
        raise ModelUnavailable("extractor is openai: set TWOCLOCKS_CHAT_API_KEY or _CHAT_BASE_URL")
    base_url = normalise_base_url(settings.chat_base_url or OPENAI, "chat_base_url")
    return OpenAIExtractor(
        base_url,
        settings.chat_model,
        key,
        order=settings.numeric_dates,
        at_once=settings.chat_at_once,
        seconds_per_try=settings.chat_seconds_per_try,
    )
