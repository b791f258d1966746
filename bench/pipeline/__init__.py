"""Documents per second through every stage, with no model."""
