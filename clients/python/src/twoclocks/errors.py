"""What a call can end in. Each error carries what the server said about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class TwoclocksError(Exception):
    """A call that was not answered."""

    def __init__(self, message: str, *, status: int | None = None, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status; None where there was no response."""
        self.facts: Mapping[str, Any] = facts or {}
        """Everything else the server said, such as ``candidates`` for a name that several entities have."""

    @property
    def code(self) -> str | None:
        """The server's stable word for it, such as ``not_found``."""
        word = self.facts.get("title")
        return word if isinstance(word, str) else None

    @property
    def field(self) -> str | None:
        """The argument that is at fault, where one is."""
        name = self.facts.get("field")
        return name if isinstance(name, str) else None


class InvalidInput(TwoclocksError):
    """The server does not take an argument; see `field`."""


class NotFound(TwoclocksError):
    """There is no such thing that this token may see."""


class Conflict(TwoclocksError):
    """The thing is in a state that forbids this."""


class Unauthenticated(TwoclocksError):
    """The token is missing, wrong, expired or revoked."""


class Forbidden(TwoclocksError):
    """The token may not do this."""


class TooManyCalls(TwoclocksError):
    """The allowance of calls is used up; see `retry_after`."""

    @property
    def retry_after(self) -> float | None:
        """Seconds until a call is allowed again."""
        seconds = self.facts.get("retry_after")
        return float(seconds) if isinstance(seconds, int | float) else None


class Unavailable(TwoclocksError):
    """The server, or something it needs, is down."""


class ConnectionFailed(Unavailable):
    """There was no response: no connection, or none in time."""


BY_STATUS: Mapping[int, type[TwoclocksError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: InvalidInput,
    422: InvalidInput,
    429: TooManyCalls,
}
"""Statuses from 500 on are `Unavailable`, all others `TwoclocksError` itself."""
