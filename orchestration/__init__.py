"""The Dagster code location: thin assets, sensors, schedules and checks over the substrate."""
