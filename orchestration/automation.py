"""When an asset runs without anybody asking.

The sensors see that the outside world changed and ask for one run of the whole chain. The condition here keeps the
rest of the graph in step when somebody materializes one asset by hand.
"""

import dagster as dg

any_deps_changed = dg.AutomationCondition.any_deps_match(
    dg.AutomationCondition.data_version_changed() | dg.AutomationCondition.will_be_requested()
).with_label("any_deps_changed")

handled = (
    dg.AutomationCondition.newly_requested()
    | dg.AutomationCondition.newly_updated()
    | dg.AutomationCondition.initial_evaluation()
)

on_change = (
    any_deps_changed.since(handled)
    & ~dg.AutomationCondition.any_deps_missing()
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.in_progress()
).with_label("on_change")
"""Like ``eager()``, but what is materialized with the same data version wakes nothing (eager: one run each time)."""

retry_transient = dg.RetryPolicy(max_retries=2, delay=2, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)
"""For a database that is away for a moment. Crashes of a run are the run retries' business (``dagster.yaml``)."""
