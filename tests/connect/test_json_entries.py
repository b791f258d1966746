"""An entry of a JSON file is set and taken out; every other byte stays, comments among them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.connect import jsonc
from substrate.errors import InvalidInput

WHERE = ("mcpServers", "twoclocks-main")
ENTRY = {"url": "http://127.0.0.1:8420/mcp", "headers": {"Authorization": "Bearer x"}}

COMMENTED = """\
// servers of this person
{
\t"theme": "dark", // as it was
\t"mcpServers": {
\t\t/* do not touch */
\t\t"other": { "command": "npx", "args": ["-y", "a//b"] }, // two slashes in a text
\t},
}
"""


@pytest.mark.parametrize(
    ("text", "comments"),
    [
        ('{\n  "mcpServers": {\n    "other": {"command": "x"}\n  },\n  "a": 1\n}\n', False),
        ('{"mcpServers":{"other":{"command":"x"}},"a":1}', False),
        ('{\r\n    "mcpServers": {\r\n        "other": {}\r\n    }\r\n}', False),
        ('\ufeff{\n  "mcpServers": {\n    "z": null\n  }\n}\n', False),
        (COMMENTED, True),
        ('{\n  "mcpServers": {\n    "a": 1 // last\n  }\n}\n', True),
        ('{\n  "x": [1, 2, ], "mcpServers": {\n    "a": 1, // comma stands\n  }\n}\n', True),
        ('{\n  "mcpServers": {}\n}\n', False),
    ],
)
def test_in_and_out_again_gives_the_same_bytes(text, comments):
    assert jsonc.get(text, WHERE, comments=comments) is None
    there = jsonc.put(text, WHERE, ENTRY, comments=comments)
    assert jsonc.get(there, WHERE, comments=comments) == ENTRY
    assert jsonc.put(there, WHERE, ENTRY, comments=comments) == there
    left = iter(there)
    assert all(character in left for character in text), "something was taken away"
    assert jsonc.drop(there, WHERE, comments=comments) == text
    assert jsonc.drop(text, WHERE, comments=comments) == text


def test_line_ends_and_indents_are_the_files_own():
    there = jsonc.put('{\r\n\t"mcpServers": {\r\n\t\t"other": {}\r\n\t}\r\n}\r\n', WHERE, ENTRY, comments=False)
    assert "\n" not in there.replace("\r\n", "")
    assert '\r\n\t\t"twoclocks-main": {\r\n\t\t\t"url"' in there


@pytest.mark.parametrize("text", ["", "\n", "{}", '{"a": 1}', "{\n}\n"])
def test_what_is_missing_is_made(text):
    there = json.loads(jsonc.put(text, WHERE, ENTRY, comments=False))
    assert there["mcpServers"] == {"twoclocks-main": ENTRY}
    assert there.get("a") == (1 if "a" in text else None)


def test_an_entry_is_replaced_where_it_stands():
    old = '{\n  "mcpServers": {\n    "twoclocks-main": {"url": "old"},\n    "other": 1\n  }\n}\n'
    there = jsonc.put(old, WHERE, ENTRY, comments=False)
    assert list(json.loads(there)["mcpServers"]) == ["twoclocks-main", "other"]
    assert json.loads(there)["mcpServers"]["twoclocks-main"] == ENTRY


@pytest.mark.parametrize(
    ("text", "comments", "said"),
    [
        ('{\n  "a": 1,\n  "b" 2\n}', False, "line 3, column 7"),
        ("{\n  // no comments here\n}", False, "line 2, column 3"),
        ('{\n  /* c */ "mcpServers": [],\n}', True, "line 2, column 25: 'mcpServers' is not an object"),
        ("\n [1]", False, "line 2, column 2: the file holds no object"),
        ('{"mcpServers": {},\n "mcpServers": {}}', False, "line 2, column 2: 'mcpServers' is said twice"),
    ],
)
def test_what_does_not_parse_is_refused_by_line_and_column(text, comments, said):
    with pytest.raises(InvalidInput, match=said.replace("(", r"\(")):
        jsonc.put(text, WHERE, ENTRY, comments=comments)


_KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    rest=st.dictionaries(_KEYS.filter(lambda k: k != "mcpServers"), _VALUES, max_size=4),
    others=st.none() | st.dictionaries(_KEYS.filter(lambda k: k != WHERE[1]), _VALUES, max_size=3),
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
    first=st.booleans(),
    comments=st.booleans(),
)
def test_whatever_else_a_file_says_it_goes_on_saying(rest, others, indent, first, comments):
    ours = {} if others is None else {"mcpServers": others}
    whole = {**ours, **rest} if first else {**rest, **ours}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    there = jsonc.put(text, WHERE, ENTRY, comments=comments)
    assert json.loads(there) == {**whole, "mcpServers": {**(others or {}), WHERE[1]: ENTRY}}
    gone = jsonc.drop(there, WHERE, comments=comments)
    assert json.loads(gone) == {**whole, "mcpServers": others or {}}
    if others:
        assert gone == text
