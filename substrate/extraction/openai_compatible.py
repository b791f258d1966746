"""Claims from an endpoint that speaks OpenAI's ``POST /chat/completions``.

One request per passage, at most `AT_ONCE` in flight per process. Retries are the client's own: 408, 409, 429 and 5xx
with ``Retry-After``, and connections lost or never made. The model describes; what it says is checked against the
passage, and dates and numbers are computed by code.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from substrate.endpoints import OPENAI, as_unavailable, normalise_base_url, open_client
from substrate.errors import ModelUnavailable
from substrate.extraction.claims import Claim, Drop, Extraction, Passage
from substrate.extraction.openai.answers import Answer, read_answer
from substrate.extraction.openai.dialect import Dialect
from substrate.extraction.openai.items import Page, read_item, shown
from substrate.extraction.openai.prompt import SYSTEM, fingerprint, question
from substrate.extraction.openai.replies import read_reply

if TYPE_CHECKING:
    import openai

    from substrate.settings import Settings

VERSION = "1"
"""Part of the key that claims are cached under: raise it when the same reply may be read differently."""
AT_ONCE = 8
RETRIES = 4
SECONDS_PER_TRY = 60.0
SECONDS_PER_CALL = 240.0
"""Within the 300 s for which the claims stage leases its passages."""
_KEPT = 512
_EXAMPLE = 200
_REFUSING = (400, 413, 422)


class OpenAIExtractor:
    """An `Extractor` over one endpoint and one model of it.

    What was answered before another passage of the same call failed is kept and not paid for again.
    """

    def __init__(self, base_url: str, model: str, key: str | None, *, seconds: float = SECONDS_PER_CALL) -> None:
        self.name = f"openai:{model}"
        self.version = f"{VERSION}-{fingerprint(model)}"
        self._base_url, self._model, self._key, self._seconds = base_url, model, key, seconds
        self._client = open_client(base_url, key, retries=RETRIES, seconds=min(SECONDS_PER_TRY, seconds))
        self._dialect = Dialect()
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="extract")
        self._asked: dict[Passage, Future[Extraction | ModelUnavailable]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Drop what waits and close the connections; the extractor is of no use afterwards."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._client.close()

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """One `Extraction` per passage, in order.

        Raises `ModelUnavailable` if the endpoint stays down or does not answer all within the time of one call. A
        passage that the server refuses while it takes others has the one drop ``chunk_unextracted``.
        """
        deadline = time.monotonic() + self._seconds
        if passages and not self._dialect.settled:
            # Alone, so that a server that refuses the schema is asked once and not by every thread.
            self._wait([self._ask(passages[0])], deadline)
        asked = [self._ask(passage) for passage in passages]
        self._wait(asked, deadline)
        with self._lock:
            for passage in passages:
                self._asked.pop(passage, None)
        return self._answered(passages, [future.result() for future in asked])

    def _ask(self, passage: Passage) -> Future[Extraction | ModelUnavailable]:
        with self._lock:
            known = self._asked.get(passage)
            if known is None or (known.done() and _failure(known) is not None):
                known = self._pool.submit(self._extract, passage)
                self._asked[passage] = known
            return known

    def _wait(self, asked: Sequence[Future[Any]], deadline: float) -> None:
        """Until all are answered; at the first failure nothing more is sent and it is raised."""
        done, open_ = wait(asked, max(deadline - time.monotonic(), 0), FIRST_EXCEPTION)
        failure = next((error for future in done if (error := _failure(future)) is not None), None)
        if failure is None and not open_:
            return
        self._give_up(open_)
        if failure is not None:
            raise failure
        raise ModelUnavailable(
            f"{self._base_url} answered {len(done)} of {len(asked)} passages in {self._seconds:.0f} s",
            model=self._model,
        )

    def _give_up(self, unanswered: set[Future[Any]]) -> None:
        """Cancel what waits. Answers there are, and those still on their way, are kept for the next call."""
        for future in unanswered:
            future.cancel()
        with self._lock:
            kept = {
                passage: future
                for passage, future in self._asked.items()
                if not future.done() or _failure(future) is None
            }
            self._asked = dict(list(kept.items())[-_KEPT:])

    def _answered(
        self, passages: Sequence[Passage], found: Sequence[Extraction | ModelUnavailable]
    ) -> list[Extraction]:
        results: list[Extraction] = []
        paid: set[Passage] = set()
        for passage, result in zip(passages, found, strict=True):
            if isinstance(result, ModelUnavailable):
                # Refused before anything was ever accepted: that is the server's way, not this passage's fault.
                if not self._dialect.settled:
                    raise result
                result = Extraction(drops=(Drop("chunk_unextracted", str(result), passage.text[:_EXAMPLE]),))
            # The same passage twice in one call is asked and paid once.
            results.append(replace(result, usage={}) if passage in paid else result)
            paid.add(passage)
        return results

    def _extract(self, passage: Passage) -> Extraction | ModelUnavailable:
        """The claims of a passage, or the server's refusal of it. Raises `ModelUnavailable` where none answers."""
        answer = self._answer(question(passage))
        return answer if isinstance(answer, ModelUnavailable) else read(answer, passage)

    def _answer(self, asked: str) -> Answer | ModelUnavailable:
        refusal = ModelUnavailable(f"{self._base_url} was not asked")
        for level in self._dialect.levels():
            answer = self._request(asked, level)
            if isinstance(answer, Answer):
                self._dialect.settle(level)
                return answer
            refusal = answer
        return refusal

    def _request(self, asked: str, level: int) -> Answer | ModelUnavailable:
        import openai

        messages: Any = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]
        try:
            answer: Any = self._client.chat.completions.create(
                model=self._model, messages=messages, **self._dialect.options(level)
            )
        except openai.APIStatusError as error:
            unavailable = self._unavailable(error, asked)
            if error.status_code not in _REFUSING:
                raise unavailable from None
            return self._request(asked, level) if self._dialect.forgo_temperature(str(error)) else unavailable
        except (openai.OpenAIError, ValueError) as error:
            # Not chained: the original carries the server's words, which may quote key and passage.
            raise self._unavailable(error, asked) from None
        read = read_answer(answer)
        if read is None:
            raise ModelUnavailable(f"{self._base_url} gave no completion", model=self._model)
        return read

    def _unavailable(self, error: openai.OpenAIError | ValueError, asked: str) -> ModelUnavailable:
        return as_unavailable(error, self._base_url, self._model, self._key, f"{SYSTEM}\n{asked}")


def _failure(done: Future[Any]) -> BaseException | None:
    if done.cancelled():
        return ModelUnavailable("the request was given up with others of its kind")
    return done.exception()


def read(answer: Answer, passage: Passage) -> Extraction:
    """The claims of one answer; each item that is none is a drop."""
    if answer.refusal:
        code = "truncated_reply" if answer.cut else "chunk_unextracted"
        return Extraction(drops=(_storable(Drop(code, answer.refusal)),), usage=answer.usage)
    reply = read_reply(answer.text)
    drops = [Drop("malformed_item", "not JSON", text) for text in reply.broken]
    if reply.cut or (answer.cut and not reply.found):
        drops.append(Drop("truncated_reply", f"cut after {len(reply.items)} whole items", answer.text[-_EXAMPLE:]))
    elif not reply.found:
        drops.append(Drop("chunk_unextracted", "the reply holds no list of statements", answer.text[:_EXAMPLE]))
    claims: list[Claim] = []
    page = Page.of(passage)
    for item in reply.items if reply.found else ():
        claim, dropped = read_item(item, page)
        drops += dropped
        if claim is not None and claim in claims:
            drops.append(Drop("repeated_item", "the same statement again", shown(item)))
        elif claim is not None:
            claims.append(claim)
    return Extraction(tuple(claims), tuple(_storable(drop) for drop in drops), answer.usage)


def _storable(drop: Drop) -> Drop:
    """A model can write half a surrogate pair, which no database takes."""
    detail, example = (text[:_EXAMPLE].encode("utf-8", "replace").decode() for text in (drop.detail, drop.example))
    return Drop(drop.code, detail, example)


def open_openai_extractor(settings: Settings) -> OpenAIExtractor:
    """The endpoint the settings name, not yet called; raises when OpenAI's own is meant and no key is set."""
    key = settings.chat_api_key.get_secret_value().strip() if settings.chat_api_key else None
    if settings.chat_base_url is None and not key:
        raise ModelUnavailable("extractor is openai: set TWOCLOCKS_CHAT_API_KEY or _CHAT_BASE_URL")
    base_url = normalise_base_url(settings.chat_base_url or OPENAI, "chat_base_url")
    return OpenAIExtractor(base_url, settings.chat_model, key)
