"""Every error the product raises, as one tree.

::

    TwoclocksError
    ├── InvalidInput          the caller's fault: names the field or the document
    │   ├── NotFound          no such thing that this caller may see
    │   └── Conflict          the thing is in a state that forbids the request
    ├── Forbidden             the caller is known and may not
    ├── Unauthenticated       the caller is not known
    ├── DocumentRejected      a document cannot be parsed; carries a code
    ├── LeaseLost             another worker owns the item now; nothing was written
    ├── CallEnded             the caller left before the answer; nothing was written
    ├── TooManyCalls          the caller's allowance is used up; says when to come again
    ├── Unavailable           something we depend on is down or misconfigured
    │   ├── DatabaseUnavailable
    │   └── ModelUnavailable
    └── LedgerDamaged         the chain or a projection does not verify

A subclass's docstring is its default message.
"""

from __future__ import annotations


class TwoclocksError(Exception):
    """Something went wrong."""

    def __init__(self, message: str | None = None, **facts: object) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip().split("\n")[0])
        self.facts = facts
        """What a program may want to know, for example ``field`` or ``code``."""


class InvalidInput(TwoclocksError):
    """The request is not valid."""


class NotFound(InvalidInput):
    """There is no such thing here."""


class Conflict(InvalidInput):
    """The thing is in a state that forbids this."""


class Forbidden(TwoclocksError):
    """The caller may not do this."""


class Unauthenticated(TwoclocksError):
    """A valid token is needed."""


class DocumentRejected(TwoclocksError):
    """The document cannot be read."""

    def __init__(self, message: str, *, code: str, **facts: object) -> None:
        super().__init__(message, code=code, **facts)
        self.code = code
        """A stable word such as ``encrypted``, ``truncated``, ``empty``, ``bomb``, ``unsupported``."""


class LeaseLost(TwoclocksError):
    """Another worker took the item over; nothing was written."""


class CallEnded(TwoclocksError):
    """The caller left before the answer; nothing was written."""


class TooManyCalls(TwoclocksError):
    """The allowance of calls is used up."""

    def __init__(self, message: str, *, wait_s: float, most: int, window_s: int) -> None:
        super().__init__(message)
        self.wait_s, self.most, self.window_s = wait_s, most, window_s
        """Seconds until a call is allowed again, and the allowance: so many calls in so many seconds."""


class Unavailable(TwoclocksError):
    """Something this operation needs is not available."""


class DatabaseUnavailable(Unavailable):
    """The database cannot be reached."""


class ModelUnavailable(Unavailable):
    """The model endpoint or the model files cannot be used."""


class LedgerDamaged(TwoclocksError):
    """The ledger does not verify."""
