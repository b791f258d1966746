"""Everything Dagster is told, in one place.

The executor is the one that ``TWOCLOCKS_DAGSTER_EXECUTOR`` names; the launcher is chosen in ``dagster.yaml``.
"""

from importlib import import_module

import dagster as dg

from substrate.errors import InvalidInput
from substrate.settings import Settings


def executor_named(name: str) -> dg.ExecutorDefinition:
    """The executor at ``module:name``. Raises `InvalidInput` where there is none."""
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute, None)
    except (ImportError, ValueError):
        found = None
    if not isinstance(found, dg.ExecutorDefinition):
        raise InvalidInput(f"TWOCLOCKS_DAGSTER_EXECUTOR: {name!r} names no executor", field="dagster_executor")
    return found


@dg.definitions
def defs() -> dg.Definitions:
    """Assets, checks, sensors and schedules of the code location ``twoclocks``."""
    from orchestration.defs.documents import assets as documents
    from orchestration.defs.documents import sensors
    from orchestration.defs.extraction import assets as extraction
    from orchestration.defs.extraction import checks as extraction_checks
    from orchestration.defs.ledger import assets as ledger
    from orchestration.defs.ledger import checks as ledger_checks
    from orchestration.defs.ontology import assets as ontology
    from orchestration.defs.ontology import checks as ontology_checks
    from orchestration.defs.ontology.sensors import ontology_changed
    from orchestration.defs.retrieval import assets as retrieval
    from orchestration.defs.upkeep import schedules
    from orchestration.jobs import embed_ontology, process_base, sign_base, verify_base
    from orchestration.resources import substrate_resource

    return dg.Definitions(
        assets=dg.load_assets_from_modules([documents, retrieval, extraction, ledger, ontology]),
        asset_checks=dg.load_asset_checks_from_modules([extraction_checks, ledger_checks, ontology_checks]),
        jobs=[embed_ontology, process_base, sign_base, verify_base, schedules.clean_event_log, schedules.index_vectors],
        sensors=[sensors.due_work, sensors.watched_folders_changed, ontology_changed, sensors.automation],
        schedules=[
            schedules.nightly_sweep,
            schedules.hourly_checkpoints,
            schedules.nightly_verification,
            schedules.nightly_indexes,
            schedules.nightly_cleanup,
        ],
        resources={"substrate": substrate_resource},
        executor=executor_named(Settings().dagster_executor),
    )
