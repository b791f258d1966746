"""A table of a TOML file is set and taken out; comments, order and spaces of all others stay."""

from __future__ import annotations

import tomllib

import pytest

from api.connect import toml
from substrate.errors import InvalidInput

WHERE = ("mcp_servers", "twoclocks-main")
ENTRY = {"url": "http://127.0.0.1:8420/mcp", "http_headers": {"Authorization": "Bearer x"}}


@pytest.mark.parametrize(
    "text",
    [
        'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "npx"\nargs = [ "-y",\n  "a" ] # two\n\n[tui]\na = 1\n',
        '[mcp_servers]\n[mcp_servers."a b"]\nurl = "u"\n\n[mcp_servers."a b".env]\nX = "1"\n',
        'mcp_servers.other.command = "npx"\n',
        'mcp_servers = { other = { command = "npx" } }\n',
        '[[profiles]]\nname = "a"\n\n[[profiles]]\nname = "b"\n',
        "# nothing but a comment\n",
        "",
    ],
)
def test_in_and_out_again(text):
    whole = tomllib.loads(text)
    assert toml.get(text, WHERE) is None
    there = toml.put(text, WHERE, ENTRY)
    assert toml.get(there, WHERE) == ENTRY
    assert toml.put(there, WHERE, ENTRY) == there
    found = tomllib.loads(there)
    assert found["mcp_servers"].pop("twoclocks-main") == ENTRY
    assert {k: v for k, v in found.items() if v} == {k: v for k, v in whole.items() if v}
    for line in text.splitlines():
        assert line.rstrip(" }") in there
    gone = tomllib.loads(toml.drop(there, WHERE))
    assert {k: v for k, v in gone.items() if v} == {k: v for k, v in whole.items() if v}
    assert toml.drop(text, WHERE) == text


def test_an_entry_is_replaced():
    there = toml.put(toml.put("", WHERE, {"url": "old"}), WHERE, ENTRY)
    assert tomllib.loads(there) == {"mcp_servers": {"twoclocks-main": ENTRY}}


@pytest.mark.parametrize(
    ("text", "said"),
    [("a = 1\n[oops\n", "line 2, column"), ("a = \n", "line 1, column"), ("mcp_servers = 3\n", "is not a table")],
)
def test_what_cannot_be_edited_is_refused(text, said):
    with pytest.raises(InvalidInput, match=said):
        toml.put(text, WHERE, ENTRY)
