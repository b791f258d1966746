"""Serving as a process: ``python -m api.serve``."""

from __future__ import annotations

from substrate.errors import InvalidInput
from substrate.settings import load_settings, tame_native_threads


def main() -> None:
    """Serve until told to stop. Queries and headers stay out of the log, since they may hold what is private."""
    try:
        settings = load_settings()
    except InvalidInput as error:
        raise SystemExit(f"Error: {error}") from None
    tame_native_threads(settings.threads)
    import uvicorn

    from api.app import create_app

    uvicorn.run(
        create_app(settings),
        host=settings.api_host,
        port=settings.api_port,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=10,
    )


if __name__ == "__main__":
    main()
