"""One run of the whole chain in this process, for a demo, a benchmark or a test: ``python -m orchestration.run SLUG``.

With an instance the run is on record like any other; without one it leaves no trace in Dagster.
"""

from __future__ import annotations

from typing import Any

import click
import dagster as dg

from orchestration.partitions import BASES
from orchestration.resources import Substrate
from substrate.errors import InvalidInput
from substrate.settings import Settings, load_settings


def materialize(
    settings: Settings,
    kb_slug: str,
    instance: dg.DagsterInstance | None = None,
    *,
    substrate: Substrate | None = None,
    log_level: str = "WARNING",
) -> dg.ExecuteInProcessResult:
    """Materialize every asset of the base and run the checks. Raises what a stage or a blocking check raises.

    Give a `Substrate` of your own to keep models and pool open from one call to the next.
    """
    from orchestration.definitions import defs
    from orchestration.jobs import by_night
    from orchestration.metadata import base_tags

    used = instance or dg.DagsterInstance.ephemeral()
    used.add_dynamic_partitions(BASES, [kb_slug])
    opened = substrate or Substrate(settings)
    try:
        return dg.materialize(
            _everything(defs()),
            selection=dg.AssetSelection.all() - by_night,
            instance=used,
            partition_key=kb_slug,
            resources={"substrate": opened},
            tags=dict(base_tags(kb_slug, "one-shot")),
            run_config={"loggers": {"console": {"config": {"log_level": log_level}}}},
        )
    finally:
        if substrate is None:
            opened.close()


def _everything(loaded: dg.Definitions) -> list[dg.AssetsDefinition | dg.AssetChecksDefinition]:
    known = (dg.AssetsDefinition, dg.AssetChecksDefinition)
    return [d for d in (*(loaded.assets or ()), *(loaded.asset_checks or ())) if isinstance(d, known)]


def summary(result: dg.ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    """Per asset, the plain values of its metadata."""
    return {
        event.asset_key.to_user_string(): {name: value.value for name, value in event.materialization.metadata.items()}
        for event in result.get_asset_materialization_events()
        if event.asset_key is not None
    }


@click.command(help="Materialize every asset of the base SLUG once, on record in Dagster, and print what was done.")
@click.argument("slug")
def main(slug: str) -> None:
    """One line per asset."""
    from orchestration.home import open_instance

    try:
        settings = load_settings()
    except InvalidInput as error:
        raise click.ClickException(str(error)) from None
    with open_instance(settings) as instance:
        done = summary(materialize(settings, slug, instance))
    for asset, values in done.items():
        shown = " ".join(f"{name}={value}" for name, value in values.items() if isinstance(value, (int, float)))
        click.echo(f"{asset}: {shown}")


if __name__ == "__main__":
    main()
