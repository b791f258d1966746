"""The base of every request body: unknown fields are refused by name."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """A request body."""

    model_config = ConfigDict(extra="forbid", frozen=True)
