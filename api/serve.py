"""Serving as a process: ``python -m api.serve``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from substrate.errors import InvalidInput
from substrate.settings import Settings, load_settings, tame_native_threads

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

MOST_HEAD = 64 * 1024
"""Bytes that the head of a request may have."""


def main() -> None:
    """Serve until told to stop. Queries and headers stay out of the log, since they may hold what is private."""
    try:
        settings = load_settings()
    except InvalidInput as error:
        raise SystemExit(f"Error: {error}") from None
    tame_native_threads(settings.threads)
    import uvicorn

    from api.app import create_app

    uvicorn.Server(server_config(create_app(settings), settings, host=settings.api_host, port=settings.api_port)).run()


def server_config(app: ASGIApp, settings: Settings, **more: Any) -> uvicorn.Config:
    """How the product is served. Only what a configured proxy says of who calls is believed."""
    import uvicorn

    return uvicorn.Config(
        app,
        http=timed_protocol(settings.slow_request_s),
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=10,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or "",
        **more,
    )


def timed_protocol(seconds: float, most: int = MOST_HEAD) -> type[asyncio.Protocol]:
    """uvicorn's protocol, which waits for ever for the head of a request, with an end to that: `seconds` and `most`
    bytes. Between requests of one connection uvicorn's own limit counts."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class TimedProtocol(HttpToolsProtocol):
        """Closes a connection whose head does not come."""

        _timer: asyncio.TimerHandle | None = None
        _head_bytes = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._arm()

        def data_received(self, data: bytes) -> None:
            if self._timer is None and self.cycle is not None and self.cycle.response_complete:
                self._arm()
            super().data_received(data)
            if self._timer is not None:  # the head is not whole yet
                self._head_bytes += len(data)
                if self._head_bytes > most and not self.transport.is_closing():
                    self.send_400_response("The head of the request is too large.")

        def on_headers_complete(self) -> None:
            self._disarm()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        def _arm(self) -> None:
            self._timer = self.loop.call_later(seconds, self._too_slow)

        def _disarm(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._head_bytes = None, 0

        def _too_slow(self) -> None:
            self._timer = None
            if not self.transport.is_closing():
                self.transport.close()

    return TimedProtocol


if __name__ == "__main__":
    main()
