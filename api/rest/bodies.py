"""The base of every request body: unknown fields, and text that cannot be stored, are refused by name."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from substrate.documents.checks import check_text
from substrate.errors import InvalidInput


class Body(BaseModel):
    """A request body."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    raw: ClassVar[frozenset[str]] = frozenset()
    """Fields that become bytes and may hold any character."""

    @field_validator("*")
    @classmethod
    def _storable(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str) and info.field_name not in cls.raw:
            try:
                check_text(value, info.field_name or "body", blank=True, most=len(value))
            except InvalidInput as error:
                raise ValueError(str(error)) from error
        return value


class Why(Body):
    """Why a person did so."""

    why: str = ""


def why_of(body: Why | None) -> str:
    """The reason in a body that may be left out."""
    return body.why if body else ""
