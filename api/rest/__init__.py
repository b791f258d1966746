"""REST under ``/api/v1``: thin, every rule in the substrate."""

from __future__ import annotations

from fastapi import APIRouter


def routers() -> list[APIRouter]:
    """Every router, in the order in which paths are matched."""
    from api.rest import (
        bases,
        conflicts,
        corrections,
        documents,
        health,
        history,
        knowledge,
        lifecycle,
        review,
        undo,
        uniqueness,
    )

    nouns = (health, bases, documents, lifecycle, knowledge, history, review, undo, conflicts, corrections, uniqueness)
    return [noun.router for noun in nouns]
