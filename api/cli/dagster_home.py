"""Dagster's home, prepared by the orchestration package in a process of its own: `api` never imports it.

Beside what that makes lies a workspace of ours: one code server behind a socket serves UI, daemon and runs, where
each would otherwise hold a copy of the code location in memory.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from substrate.errors import DatabaseUnavailable

LOCATION = "twoclocks"
WORKSPACE = "workspace.yaml"


def prepare(environment: Mapping[str, str], cwd: Path, socket: Path) -> dict[str, str]:
    """Make home, database and workspace; returns the variables that Dagster's processes need.

    Raises `DatabaseUnavailable` with what the preparing process said last.
    """
    asked = subprocess.run(
        [sys.executable, "-m", "orchestration.home"],
        capture_output=True,
        text=True,
        check=False,
        env=dict(environment),
        cwd=cwd,
    )
    if asked.returncode != 0:
        said = asked.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise DatabaseUnavailable(f"Dagster's home cannot be prepared: {said[0]}")
    lines = (line.partition("=") for line in asked.stdout.splitlines() if "=" in line)
    variables = {name: value for name, _, value in lines}
    workspace = {"load_from": [{"grpc_server": {"socket": str(socket), "location_name": LOCATION}}]}
    text = "# Written by `twoclocks up`; changes here are lost.\n" + yaml.safe_dump(workspace)
    (Path(variables["DAGSTER_HOME"]) / WORKSPACE).write_text(text, encoding="utf-8")
    return variables
