"""Benchmarks: each measures one promise and prints one last line."""
