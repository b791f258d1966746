"""The Python client of Twoclocks: facts on two clocks, with the sentence behind every answer.

`Client` and `AsyncClient` have the same methods. World time is asked by ``at``, record time by ``as_of`` or ``before``;
`Client.at_seq` pins the record for every call that follows.
"""

from twoclocks import answers
from twoclocks.aio import AsyncClient
from twoclocks.calls import Document, When
from twoclocks.client import Client
from twoclocks.errors import (
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidInput,
    NotFound,
    TooManyCalls,
    TwoclocksError,
    Unauthenticated,
    Unavailable,
)

__version__ = "0.1.0"
__all__ = [
    "AsyncClient",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "Document",
    "Forbidden",
    "InvalidInput",
    "NotFound",
    "TooManyCalls",
    "TwoclocksError",
    "Unauthenticated",
    "Unavailable",
    "When",
    "answers",
]
