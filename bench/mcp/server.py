"""The product's application with, beside it, an MCP server of the same SDK whose one tool does nothing."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette

from api.app import create_app
from substrate.settings import Settings, load_settings, tame_native_threads


def noop_app() -> tuple[MCPServer, Starlette]:
    server = MCPServer("noop")

    @server.tool()
    def noop() -> dict[str, str]:
        """Nothing."""
        return {"nothing": "done"}

    return server, server.streamable_http_app(streamable_http_path="/mcp", json_response=True, stateless_http=True)


def build(settings: Settings) -> FastAPI:
    """A parent application that gives both their lifespans."""
    product = create_app(settings)
    server, noop = noop_app()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with product.router.lifespan_context(product), server.session_manager.run():
            yield

    parent = FastAPI(lifespan=lifespan)
    parent.mount("/noop", noop)
    parent.mount("/", product)
    return parent


if __name__ == "__main__":
    logging.disable(logging.INFO)
    used = load_settings()
    tame_native_threads(used.threads)
    config = uvicorn.Config(build(used), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
    asyncio.run(uvicorn.Server(config).serve())
