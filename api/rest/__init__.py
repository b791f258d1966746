"""REST under ``/api/v1``: thin, every rule in the substrate."""

from __future__ import annotations

from fastapi import APIRouter


def routers() -> list[APIRouter]:
    """Every router, in the order in which paths are matched."""
    from api.rest import (
        access,
        bases,
        bindings,
        budget,
        conflicts,
        corrections,
        documents,
        funnel,
        gaps,
        health,
        history,
        knowledge,
        lifecycle,
        members,
        ontology,
        provision,
        review,
        signin,
        statements,
        tokens,
        undo,
        uniqueness,
    )

    late = (access, members, tokens, provision, signin)
    first = (health, bases, documents, lifecycle, knowledge, history, review, undo, conflicts, corrections)
    return [noun.router for noun in (*first, uniqueness, ontology, budget, bindings, statements, funnel, gaps, *late)]
