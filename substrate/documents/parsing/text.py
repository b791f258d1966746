"""Small text work shared by the readers: cleaning, undoing hard line wraps, list markers."""

from __future__ import annotations

import re
from itertools import pairwise

CJK = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef"
# NUL and lone surrogates cannot be stored; the other C0 controls show nothing.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ud800-\udfff\ufffe\uffff]")
_SPACE = re.compile(r"\s+")
LIST_MARK = re.compile(r"[ \t]*(?:[-*+•‣▪◦–·]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+(?=\S)")
_KEYED = re.compile(r"[^\s:：][^:：\n]{0,40}[:：](?:\s|$)")
_CJK_CHAR = re.compile(f"[{CJK}]")
_WRAPS_AT = 45
"""A line shorter than this (in Latin characters; half of it in CJK) was ended on purpose, not wrapped."""


def clean(text: str) -> str:
    """Without characters nobody sees, with plain line ends."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").replace("\u2028", "\n")
    return _UNSEEN.sub("", plain)


def one_line(text: str) -> str:
    """All white space collapsed, as a table cell is shown."""
    return _SPACE.sub(" ", _UNSEEN.sub("", text)).strip()


def unwrap(lines: list[str]) -> str:
    """Join lines that a fixed width broke; lines that end early keep their line break."""
    parts = [lines[0].strip()] if lines else []
    for before, line in pairwise(lines):
        joint = _joint(before.strip(), line.strip())
        parts.append(joint + line.strip())
    return "".join(parts)


def _joint(before: str, after: str) -> str:
    if not before or not after:
        return "\n"
    both_cjk = bool(_CJK_CHAR.match(before[-1]) and _CJK_CHAR.match(after[0]))
    width = len(before) * 2 if both_cjk else len(before)
    wrapped = width >= _WRAPS_AT and not LIST_MARK.match(after) and not _KEYED.match(after)
    if not wrapped:
        return "\n"
    return "" if both_cjk else " "
