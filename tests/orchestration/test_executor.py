"""Where steps run is configuration: the bundled executor unless another is named."""

from __future__ import annotations

import dagster as dg
import pytest

from orchestration.definitions import defs, executor_named
from substrate.errors import InvalidInput


def test_steps_run_in_one_process_unless_another_executor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert defs().executor is dg.in_process_executor
    monkeypatch.setenv("TWOCLOCKS_DAGSTER_EXECUTOR", "dagster:multiprocess_executor")
    assert defs().executor is dg.multiprocess_executor


@pytest.mark.parametrize(
    "name", ["dagster", "no_such_module:executor", "dagster:no_such_executor", "dagster:asset", ""]
)
def test_a_name_that_leads_to_no_executor_is_refused_with_the_setting(name: str) -> None:
    with pytest.raises(InvalidInput, match="TWOCLOCKS_DAGSTER_EXECUTOR"):
        executor_named(name)
