"""The line to one caller: a body that is bounded in size and time, and the news that the caller has left.

While the answer is made, the line is listened to; a caller that leaves ends its `Call`, so that the database stops
working for nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

from api.errors import too_large_detail
from substrate.calls import Call

SLOWEST_BYTES = 10_000
"""A body that comes slower than so many bytes in a second, beyond what every request is allowed, is not waited for."""


class Line:
    """Wraps an ASGI ``receive`` for one request. `most` bytes may come, in `slow_s` seconds and what their number adds.

    Raises 413 and 408 out of `receive`.
    """

    def __init__(self, scope: Scope, receive: Receive, most: int, slow_s: float) -> None:
        self._receive, self._most, self._slow_s = receive, most, slow_s
        self._seen = 0
        self._began = asyncio.get_running_loop().time()
        self._whole, self._gone = asyncio.Event(), asyncio.Event()
        self._bodiless = not any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
        if self._bodiless:  # a route that takes no body never asks for one
            self._whole.set()

    async def receive(self) -> Message:
        """The next message for the application; once the body is whole, none but the caller's leaving."""
        if self._bodiless:
            self._bodiless = False
            return {"type": "http.request", "body": b"", "more_body": False}
        if self._whole.is_set():
            await self._gone.wait()
            return {"type": "http.disconnect"}
        try:
            until = self._began + self._slow_s + self._seen / SLOWEST_BYTES
            async with asyncio.timeout_at(until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, "the body of the request came too slowly", {"Connection": "close"}) from None
        if message["type"] == "http.disconnect":
            self._whole.set()
            self._gone.set()
            return message
        self._seen += len(message.get("body", b""))
        if self._seen > self._most:
            raise HTTPException(413, too_large_detail(self._most))
        if not message.get("more_body", False):
            self._whole.set()
        return message

    @asynccontextmanager
    async def ending(self, call: Call) -> AsyncIterator[None]:
        """End `call` if the caller leaves while the block runs."""
        watch = asyncio.create_task(self._watch(call))
        try:
            yield
        finally:
            watch.cancel()

    async def _watch(self, call: Call) -> None:
        await self._whole.wait()
        while not self._gone.is_set():
            if (await self._receive())["type"] == "http.disconnect":
                self._gone.set()
        call.end_soon()
