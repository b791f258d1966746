"""Writes ``migrations/schema.txt``: the schema that all migrations together make, as the wheel's own pg_dump says it.

Run it after adding a migration; a test compares.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from uuid import uuid4

import psycopg
from psycopg.conninfo import make_conninfo

from substrate.db import conninfo
from substrate.migrate import migrate
from substrate.postgres import bin_dir
from substrate.settings import load_settings

TARGET = Path(__file__).resolve().parents[1] / "migrations" / "schema.txt"
_NOISE = re.compile(r"^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)?$")


def dump(uri: str) -> str:
    """The schema of the database at `uri`, without comments, settings and what differs from run to run."""
    command = [str(bin_dir() / "pg_dump"), "--schema-only", "--no-owner", "--dbname", uri]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "\n".join(line for line in text.splitlines() if not _NOISE.match(line)) + "\n"


def main() -> None:
    server = conninfo(load_settings())
    name = f"schema_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
        try:
            uri = make_conninfo(server, dbname=name)
            migrate(uri)
            TARGET.write_text(dump(uri), encoding="utf-8")
        finally:
            connection.execute(f'drop database "{name}" with (force)')
    print(f"{TARGET.name}: {len(TARGET.read_text().splitlines())} lines")


if __name__ == "__main__":
    main()
