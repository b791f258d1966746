"""What would change: the client's file with or without an entry, and the skill file beside it."""

from __future__ import annotations

import re
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any

from api.connect import jsonc, toml
from api.connect.clients import Client, Endpoint, Places, Scope
from api.connect.files import Change, read
from substrate.errors import InvalidInput

_BEARER = re.compile(r"Bearer (\S+)")


def plan_entry(client: Client, path: Path, name: str, endpoint: Endpoint | None) -> Change:
    """The file at `path` with the server `name` at `endpoint`, or without it (None).

    Raises `InvalidInput` naming the file, line and column where the file cannot be read, or the client no such server.
    """
    path = _file(client, path, name)
    before = read(path)
    if endpoint is None:
        if before is None:
            return Change(path, None, None)
        return Change(path, before, None if client.form == "yaml file" else _edited(client, path, before, name, None))
    entry = client.stdio(endpoint) if endpoint.command else client.http(endpoint) if client.http else None
    if entry is None:
        raise InvalidInput(f"{client.title} starts programs alone: use --stdio", field="stdio")
    if client.form == "yaml file":
        return Change(path, before, _own_yaml(name, entry))
    return Change(path, before, _edited(client, path, before or "", name, entry))


def token_in(client: Client, path: Path, name: str, url: str) -> str | None:
    """The token that the entry `name` carries now, if it is one for `url`."""
    path = _file(client, path, name)
    text = read(path)
    entry = _held(client, path, text, name) if text is not None else None
    if entry is None or (url and url not in entry):
        return None
    found = _BEARER.search(entry)
    return found.group(1) if found else None


def plan_skill(client: Client, places: Places, scope: Scope, *, remove: bool = False) -> Change | None:
    """The skill that teaches the two clocks, for a client with a folder for skills; None for others."""
    if client.skills is None:
        return None
    path = client.skills(places, scope) / "twoclocks" / "SKILL.md"
    after = None if remove else packaged("api.connect").joinpath("SKILL.md").read_text(encoding="utf-8")
    return Change(path, read(path), after)


def _file(client: Client, path: Path, name: str) -> Path:
    return path / f"{name}.yaml" if client.form == "yaml file" else path


def _edited(client: Client, path: Path, text: str, name: str, entry: dict[str, Any] | None) -> str:
    where, comments = (client.under, name), client.form == "jsonc"
    try:
        if client.form == "toml":
            return toml.drop(text, where) if entry is None else toml.put(text, where, entry)
        if entry is None:
            return jsonc.drop(text, where, comments=comments)
        return jsonc.put(text, where, entry, comments=comments)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}; nothing was written", field="file") from error


def _held(client: Client, path: Path, text: str, name: str) -> str | None:
    """The entry as it stands, in words enough to look for a URL and a token."""
    if client.form == "yaml file":
        return text
    where = (client.under, name)
    try:
        found = (
            toml.get(text, where) if client.form == "toml" else jsonc.get(text, where, comments=client.form == "jsonc")
        )
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}; nothing was written", field="file") from error
    return None if found is None else str(found).replace("'", " ")


def _own_yaml(name: str, entry: dict[str, Any]) -> str:
    import yaml

    block = {"name": name, "version": "0.0.1", "schema": "v1", "mcpServers": [{"name": name, **entry}]}
    return yaml.safe_dump(block, sort_keys=False, allow_unicode=True, width=1000)
