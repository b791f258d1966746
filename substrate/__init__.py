"""The library: documents, claims, facts on two clocks, and reads of them.

Knows neither Dagster nor a web server; `orchestration` and `api` sit on it.
"""
