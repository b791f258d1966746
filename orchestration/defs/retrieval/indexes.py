"""What the asset of the vector indexes shows of one base."""

from __future__ import annotations

from typing import Any

import dagster as dg

from orchestration.metadata import Materialized
from orchestration.resources import Substrate
from substrate.bases import Base


def indexes_materialized(substrate: Substrate, base: Base) -> Materialized:
    """See to the indexes of a base; what a login or a missing model forbids is told, and is no failure."""
    from substrate.db import owner_conninfo
    from substrate.errors import ModelUnavailable
    from substrate.retrieval.passages import vector_key
    from substrate.retrieval.vectors import see_to_indexes

    try:
        model = vector_key(substrate.services.embedder)
    except ModelUnavailable as error:
        return Materialized(metadata={"refused": str(error)}, data_version=dg.DataVersion("no model"))
    seen = see_to_indexes(substrate.database, owner_conninfo(substrate.settings), base.id, model)
    told: dict[str, Any] = {"built": seen.built, "dropped": seen.dropped, "set": model}
    told |= {"serves": seen.serves or "none", "refused": seen.refused or "none"}
    return Materialized(metadata=told, data_version=dg.DataVersion(f"{seen.serves}:{seen.standing}"))
