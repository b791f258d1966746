"""One entry of a JSON file, with or without comments, set or taken out by splicing its text; all other bytes stay.

Comments and trailing commas are blanked by as many spaces, so that the standard library parses the rest and its
positions are those of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from substrate.errors import InvalidInput

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
_TRAILING = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])', re.S)
_SPACE = re.compile(r"\s*")
Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Member:
    """One ``"key": value`` and where it lies: offsets of the key's quote, the value, and the end of the value."""

    key: str
    at: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object: offsets of its braces (the end is that of the closing one), and its members in order."""

    start: int
    end: int
    members: tuple[_Member, ...]

    def member(self, key: str) -> _Member | None:
        return next((m for m in self.members if m.key == key), None)


def get(text: str, path: Sequence[str], *, comments: bool) -> Any:
    """The value at `path`, or None. Raises `InvalidInput` with line and column where the text does not parse."""
    found: Any = _parsed(_bare(text, comments))
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def put(text: str, path: Sequence[str], entry: Entry, *, comments: bool) -> str:
    """The text with `entry` at `path`, made or replaced. An empty text becomes an object.

    Raises `InvalidInput` with line and column: the text does not parse, or a parent on the path is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text += "{}\n"
    bare = _bare(text, comments)
    before = _parsed(bare)
    if get(text, path, comments=comments) == entry:
        return text
    around, depth = _deepest(bare, path)
    rest = path[depth:]
    value: Any = entry
    for key in reversed(rest[1:]):
        value = {key: value}
    known = around.member(rest[0])
    after = _replaced(text, known, value) if known else _inserted(text, bare, around, depth, rest[0], value)
    return _checked(after, _with(before, path, entry), comments)


def drop(text: str, path: Sequence[str], *, comments: bool) -> str:
    """The text without what is at `path`; as it is, where nothing is there."""
    if get(text, path, comments=comments) is None:
        return text
    bare = _bare(text, comments)
    around, _ = _deepest(bare, path)
    after = _taken_out(text, around, path[-1], comments)
    return _checked(after, _with(_parsed(bare), path, None), comments)


def _bare(text: str, comments: bool) -> str:
    text = text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text
    if not comments:
        return text
    return _TRAILING.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    said = found.group()
    return said if said.startswith('"') else re.sub(r"[^\r\n]", " ", said)


def _parsed(bare: str) -> dict[str, Any]:
    if not bare.strip():
        return {}
    try:
        whole = json.loads(bare)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    if not isinstance(whole, dict):
        raise InvalidInput(f"{_place(bare, _SPACE.match(bare).end())}: the file holds no object")  # type: ignore[union-attr]
    return whole


def _place(text: str, offset: int) -> str:
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


def _skip(bare: str, at: int) -> int:
    found = _SPACE.match(bare, at)
    return found.end() if found else at


def _object(bare: str, start: int) -> _Object:
    """The object whose brace is at `start` of a text that parses."""
    decoder, members = json.JSONDecoder(), list[_Member]()
    at = _skip(bare, start + 1)
    while bare[at] != "}":
        key, end = decoder.raw_decode(bare, at)
        value = _skip(bare, _skip(bare, end) + 1)
        _, done = decoder.raw_decode(bare, value)
        if any(m.key == key for m in members):
            raise InvalidInput(f"{_place(bare, at)}: {key!r} is said twice")
        members.append(_Member(key, at, value, done))
        at = _skip(bare, done)
        at = _skip(bare, at + 1) if bare[at] == "," else at
    return _Object(start, at, tuple(members))


def _deepest(bare: str, path: Sequence[str]) -> tuple[_Object, int]:
    """The innermost object on the path that exists and holds or shall hold the next key, and that key's place."""
    found = _object(bare, _skip(bare, 0))
    for depth, key in enumerate(path[:-1]):
        member = found.member(key)
        if member is None:
            return found, depth
        if bare[member.value] != "{":
            raise InvalidInput(f"{_place(bare, member.value)}: {key!r} is not an object")
        found = _object(bare, member.value)
    return found, len(path) - 1


def _indent(text: str, at: int) -> str | None:
    """The blanks before `at`, where nothing else is before it on its line and it is not the first line."""
    line = text.rfind("\n", 0, at)
    blanks = text[line + 1 : at]
    return blanks if line >= 0 and not blanks.strip(" \t") else None


def _written(value: Any, indent: str, unit: str, newline: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit or None).replace("\n", newline + indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _replaced(text: str, member: _Member, value: Any) -> str:
    indent = _indent(text, member.at)
    said = _written(value, indent or "", "  " if indent is None else _unit(text), _newline(text))
    return (
        text[: member.value]
        + (said if indent is not None else json.dumps(value, ensure_ascii=False))
        + text[member.end :]
    )


def _unit(text: str) -> str:
    """How deep the file indents: what is before its first key."""
    found = re.search(r'\n([ \t]+)"', text)
    return found.group(1) if found else "  "


def _inserted(text: str, bare: str, around: _Object, depth: int, key: str, value: Any) -> str:
    unit, newline = _unit(text), _newline(text)
    last = around.members[-1] if around.members else None
    if last is not None and "\n" not in text[around.start : around.end]:
        said = f", {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        return text[: last.end] + said + text[last.end :]
    indent = (_indent(text, last.at) if last else None) or unit * (depth + 1)
    member = f"{newline}{indent}{json.dumps(key)}: {_written(value, indent, unit, newline)}"
    if last is None:
        kept = text[: around.end].rstrip()
        return f"{kept}{member}{newline}{unit * depth}{text[around.end :]}"
    kept = text[last.end : around.end].rstrip()
    trailing = "," in _COMMENT.sub(_blank, kept)
    before, behind = ("", ",") if trailing else (",", "")
    return f"{text[: last.end]}{before}{kept}{member}{behind}{text[last.end + len(kept) :]}"


def _taken_out(text: str, around: _Object, key: str, comments: bool) -> str:
    """The member's own text and line go, and one comma: the one after it, or before it where it was the last."""
    place = next(i for i, m in enumerate(around.members) if m.key == key)
    member, plain = around.members[place], _COMMENT.sub(_blank, text) if comments else text
    start, end = len(text[: member.at].rstrip()), member.end
    comma = _skip(plain, end)
    follows = plain[comma] == ","
    end = comma + 1 if follows else end
    behind_comment = plain[start - 1].isspace()
    if not re.match(r"[ \t]*\r?\n" if behind_comment else r"[ \t]*\r?\n|\s*}", text[end:]):
        start = member.at
    if len(around.members) == 1 and not (text[around.start + 1 : start] + text[end : around.end]).strip():
        return text[: around.start] + "{}" + text[around.end + 1 :]
    head = text[:start]
    if not follows and place > 0:
        last = around.members[place - 1].end
        at = plain.index(",", last)
        head = text[:at] + text[at + 1 : start]
    return head + text[end:]


def _with(before: dict[str, Any], path: Sequence[str], entry: Entry | None) -> dict[str, Any]:
    key, after = path[0], dict(before)
    if len(path) > 1:
        after[key] = _with(after.get(key) or {}, path[1:], entry)
    elif entry is None:
        del after[key]
    else:
        after[key] = entry
    return after


def _checked(text: str, expected: dict[str, Any], comments: bool) -> str:
    """A last look before anything is written: the file says what it said, and the entry."""
    if _parsed(_bare(text, comments)) != expected:
        raise InvalidInput("this file cannot be edited without touching what else it says; edit it by hand")
    return text
