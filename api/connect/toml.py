"""One table of a TOML file, set or taken out by tomlkit, which keeps comments, order and spaces of all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from substrate.errors import InvalidInput

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def get(text: str, path: Sequence[str]) -> Any:
    """The value at `path`, or None. Raises `InvalidInput` with line and column where the text does not parse."""
    found: Any = _parsed(text).unwrap()
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def put(text: str, path: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with `entry` as the table at `path`; inner mappings are written inline."""
    import tomlkit
    from tomlkit.items import InlineTable

    if get(text, path) == entry:
        return text
    document = _parsed(text)
    around: Any = document
    for key in path[:-1]:
        if key not in around:
            around[key] = tomlkit.table(is_super_table=True)
        around = around[key]
        if not isinstance(around, dict):
            raise InvalidInput(f"{key!r} is not a table")
    around[path[-1]] = _table(entry, inline=isinstance(around, InlineTable))
    return _checked(tomlkit.dumps(document), text, path, entry)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without what is at `path`; as it is, where nothing is there."""
    import tomlkit

    if get(text, path) is None:
        return text
    document = _parsed(text)
    around: Any = document
    for key in path[:-1]:
        around = around[key]
    del around[path[-1]]
    return _checked(tomlkit.dumps(document), text, path, None)


def _table(entry: Mapping[str, Any], *, inline: bool) -> Any:
    """As a table of its own, or within one line where its parent is; what it holds is always within its line."""
    import tomlkit

    table: Any = tomlkit.inline_table() if inline else tomlkit.table()
    for key, value in entry.items():
        table.add(key, _table(value, inline=True) if isinstance(value, Mapping) else value)
    return table


def _parsed(text: str) -> TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        return tomlkit.parse(text)
    except ParseError as error:
        said = str(error).split(" at line ")[0]
        raise InvalidInput(f"line {error.line}, column {error.col}: {said}") from error


def _checked(after: str, before: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
    """A last look before anything is written: all others say what they said."""
    held: Any = _parsed(before).unwrap()
    expected = held
    for key in path[:-1]:
        held = held.setdefault(key, {})
    if entry is None:
        held.pop(path[-1])
    else:
        held[path[-1]] = entry
    found = _parsed(after).unwrap()
    if entry is None and path[0] not in found:
        expected = {k: v for k, v in expected.items() if k != path[0] or v}
    if found != expected:
        raise InvalidInput("this file cannot be edited without touching what else it says; edit it by hand")
    return after
