"""The Dagster code location: thin assets, sensors and checks over `substrate`."""
