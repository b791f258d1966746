"""The one layer of retries of a chat request: what is tried again, how long it waits, and when it is given up.

Tried again: 408, 409, 429 and 5xx, connections never made or lost, tries that time out, streams that broke off, and
answers in which nothing can be read. A server's ``Retry-After`` holds up every request of the process, not the one
alone that was told.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from substrate.extraction.openai.answers import Answer

if TYPE_CHECKING:
    import tenacity

TRIES = 5
UNREADABLE = 2
"""How often an answer that came whole and in which nothing can be read is asked for anew: such answers are paid."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds between tries where the server names none: doubled each time, with some chance in it."""
_LATER = (408, 409, 429)
_SPENT = "insufficient_quota"


class Tries:
    """Shared by the threads of one extractor; `closing` ends every wait."""

    def __init__(self, closing: threading.Event) -> None:
        self._closing = closing
        self._lock = threading.Lock()
        self._not_before = 0.0

    def call(self, ask: Callable[[], Answer | None], *, seconds: float, tries: int = TRIES) -> Answer | None:
        """What `ask` gives at last, within `tries` and `seconds`; raises what the last try raised.

        Where every stream broke off, the longest of them. None: there was an answer, and it is no completion.
        """
        import tenacity

        best, unreadable = _Longest(), [0]

        def attempt() -> Answer | None:
            self._hold(seconds)
            return best.of(ask())

        trying = tenacity.Retrying(
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(tries),
                tenacity.stop_before_delay(seconds),
                tenacity.stop_when_event_set(self._closing),
            ),
            wait=self._wait,
            sleep=tenacity.sleep_using_event(self._closing),
            retry=tenacity.retry_any(
                tenacity.retry_if_exception(_passing), tenacity.retry_if_result(lambda a: _again(a, unreadable))
            ),
            retry_error_callback=lambda state: best.kept or _outcome(state),
        )
        return trying(attempt)

    def _hold(self, seconds: float) -> None:
        """Wait until the server wants to be asked again."""
        with self._lock:
            left = self._not_before - time.monotonic()
        if left > 0:
            self._closing.wait(min(left, seconds))

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next try: the server's word if it gave one, for everybody."""
        import tenacity

        error = state.outcome.exception() if state.outcome else None
        said = retry_after(error)
        if said is None:
            return tenacity.wait_exponential_jitter(max=LONGEST_WAIT, jitter=FIRST_WAIT, multiplier=FIRST_WAIT)(state)
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + said)
        return said


class _Longest:
    """Of the answers that broke off, the one that says most."""

    def __init__(self) -> None:
        self.kept: Answer | None = None

    def of(self, answer: Answer | None) -> Answer | None:
        said = self.kept is None or (answer is not None and len(answer.text) >= len(self.kept.text))
        if answer is not None and answer.broken and said:
            self.kept = answer
        return answer


def _outcome(state: tenacity.RetryCallState) -> Any:
    return state.outcome.result() if state.outcome else None


def _again(answer: Answer | None, unreadable: list[int]) -> bool:
    if answer is None or answer.broken:
        return True
    if answer.readable:
        return False
    unreadable[0] += 1
    return unreadable[0] <= UNREADABLE


def _passing(error: BaseException) -> bool:
    import openai

    if isinstance(error, openai.APIStatusError):
        told = error.response.headers.get("x-should-retry")
        if told in ("true", "false"):
            return told == "true"
        return (error.status_code in _LATER and error.code != _SPENT) or error.status_code >= 500
    # A body that ends in the middle of its JSON is a ValueError of the reader.
    return isinstance(error, openai.APIConnectionError | ValueError)


def retry_after(error: BaseException | None) -> float | None:
    """Seconds that the server asks to wait: ``Retry-After-Ms``, or ``Retry-After`` in seconds or as an HTTP date."""
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None:
            return max(seconds / unit, 0.0)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError, IndexError):
        return None
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
