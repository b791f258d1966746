"""A database of a benchmark's own, made beside the product's and dropped afterwards."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from substrate.db import conninfo
from substrate.settings import Settings, load_settings, tame_native_threads

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def fresh_settings() -> Iterator[Settings]:
    """Settings whose database and data directory are new and are gone after the block."""
    import tempfile

    settings = load_settings()
    tame_native_threads(settings.threads)
    server = conninfo(settings)
    name = f"bench_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    try:
        with tempfile.TemporaryDirectory(prefix="twoclocks-bench-") as folder:
            url = SecretStr(make_conninfo(server, dbname=name))
            yield settings.model_copy(update={"database_url": url, "data_dir": Path(folder)})
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'drop database if exists "{name}" with (force)')


def commit() -> str:
    """The commit under measure, with ``+changes`` where the tree differs from it."""
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    dirty = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True)
    return (head.stdout.strip() or "unknown") + ("+changes" if dirty.stdout.strip() else "")
