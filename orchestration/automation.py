"""When an asset runs without anybody asking.

The sensors see that the outside world changed and ask for one run of the whole chain. The condition here keeps the
rest of the graph in step when somebody materializes one asset by hand.
"""

import dagster as dg

any_deps_changed = dg.AutomationCondition.any_deps_match(dg.AutomationCondition.data_version_changed()).with_label(
    "any_deps_changed"
)

handled = (
    dg.AutomationCondition.newly_requested()
    | dg.AutomationCondition.newly_updated()
    | dg.AutomationCondition.initial_evaluation()
)

at_rest = (
    ~dg.AutomationCondition.any_deps_missing()
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.in_progress()
)

behind = (any_deps_changed.since(handled) & at_rest).with_label("behind")

# Seen at two ticks in a row: an asset that ends while a tick looks at it is neither in progress nor updated for that
# one tick, and would be run a second time right after the run that has just brought it up.
still_behind = (behind & ~behind.newly_true()).with_label("still_behind")

on_change = (
    still_behind | (dg.AutomationCondition.any_deps_match(dg.AutomationCondition.will_be_requested()) & at_rest)
).with_label("on_change")
"""Like ``eager()``, but what is materialized with the same data version wakes nothing (eager: one run each time)."""

retry_transient = dg.RetryPolicy(max_retries=2, delay=2, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)
"""For a database that is away for a moment. Crashes of a run are the run retries' business (``dagster.yaml``)."""
