"""REST under ``/api/v1``: thin, every rule in the substrate."""

from __future__ import annotations

from fastapi import APIRouter


def routers() -> list[APIRouter]:
    """Every router, in the order in which paths are matched."""
    from api.rest import bases, documents, health, history, knowledge, review

    return [health.router, bases.router, documents.router, knowledge.router, history.router, review.router]
