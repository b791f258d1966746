"""The serving side as one ASGI application: REST and MCP behind one gate."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

import anyio.to_thread
from fastapi import FastAPI
from starlette.routing import Route

from api import errors
from api.access_log import AccessLog
from api.gate import Gate
from api.limits import Limits
from api.mcp.endpoint import McpEndpoint
from api.rest import routers, wellknown
from api.sealing import Sealing
from substrate.db import Database, open_database
from substrate.retrieval.embedders.protocol import Embedder
from substrate.settings import Settings


def product_version() -> str:
    """The distribution's version; ``0+source`` where it runs from a checkout that nobody installed."""
    try:
        return version("twoclocks")
    except PackageNotFoundError:
        return "0+source"


def create_app(settings: Settings, database: Database | None = None) -> FastAPI:
    """The application. Without `database` it opens, migrates and closes one of its own."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # As many threads as connections: a handler that has a thread finds a connection.
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.pool_size
        db = database
        if db is None:
            db = await anyio.to_thread.run_sync(open_database, settings, "twoclocks-api")
        app.state.database = db
        app.state.limits = Limits(db, settings)
        app.state.sealing = _sealing(db, settings)
        app.state.access_log = AccessLog(db, when=settings.audit_reads, wrote=app.state.sealing.wrote)
        try:
            async with app.state.mcp.running():
                yield
        finally:
            _close_audit(app)
            if database is None:
                db.close()

    app = FastAPI(
        redirect_slashes=False,  # a redirect would drop the Authorization header
        title="Twoclocks",
        version=product_version(),
        lifespan=lifespan,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.embedder = once(lambda: _open_embedder(settings))
    app.state.mcp = McpEndpoint(settings, product_version())
    errors.install(app)
    for router in routers():
        app.include_router(router, prefix="/api/v1")
    app.include_router(wellknown.router)
    app.router.routes.append(Route("/api/v1/kbs/{kb_id}/mcp", endpoint=app.state.mcp))
    app.add_middleware(Gate)
    return app


def _sealing(db: Database, settings: Settings) -> Sealing:
    every_s = settings.checkpoint_every_s
    return Sealing(db, sign=(lambda: _sign(db, settings)) if every_s else None, sign_every_s=every_s)


def _sign(db: Database, settings: Settings) -> None:
    from substrate.audit.signing import keep_checkpoints

    keep_checkpoints(db, settings)


def _close_audit(app: FastAPI) -> None:
    """What was served is written, then sealed, then signed."""
    app.state.access_log.close()
    app.state.sealing.close()


def _open_embedder(settings: Settings) -> Embedder:
    from substrate.retrieval.embedders import open_embedder

    return open_embedder(settings)


def once(make: Callable[[], Embedder]) -> Callable[[], Embedder]:
    """Make it at the first call and keep it; a failure is not kept."""
    lock, kept = threading.Lock(), list[Embedder]()

    def get() -> Embedder:
        with lock:
            if not kept:
                kept.append(make())
            return kept[0]

    return get
