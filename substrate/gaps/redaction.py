"""Striking secrets out of what people and agents type: better a word too many than a key in a list for reviewers."""

from __future__ import annotations

import re

STRUCK = "***"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S), STRUCK),
    # The login in an address, and what follows a name that says what it is.
    (re.compile(r"\b([a-z][a-z0-9+.-]*://)[^\s/@]+@", re.I), rf"\1{STRUCK}@"),
    (
        re.compile(
            r"\b((?:pass(?:word|wort|phrase|wd)?|pwd|pin|secret|token|api[-_ ]?key|access[-_ ]?key|client[-_ ]?secret"
            r"|credentials?|kennwort|mot de passe|contraseña)\b(?:\s+(?:is|ist|for \S+ is))?\s*[:=]?\s*[\"']?)"
            r"(?=[^\s\"',;]*(?:\d|[!#$%&*+^~@]))[^\s\"',;]{4,}",
            re.I,
        ),
        rf"\1{STRUCK}",
    ),
    (
        re.compile(r"((?:密码|口令|密钥|パスワード|비밀번호)\s*(?:是|为|は)?\s*[:：=]?\s*)[^\s，。,;]{4,}"),
        rf"\1{STRUCK}",
    ),
    (re.compile(r"\b((?:Bearer|Basic|Token)\s+)[\w.~+/=-]{8,}", re.I), rf"\1{STRUCK}"),
    # mail:password, as lists of stolen logins have them.
    (re.compile(r"([\w.+-]+@[\w-]+(?:\.[\w-]+)+)([:;|])\S{4,}"), rf"\1\2{STRUCK}"),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), STRUCK),
    (
        re.compile(
            r"\b(?:sk|pk|rk|tc|ghp|gho|ghu|ghs|ghr|github|glpat|xox[abeprs]|hf|npm|pypi|shpat|dop|utp)[-_][\w-]{10,}"
        ),
        STRUCK,
    ),
    (re.compile(r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}\b"), STRUCK),
    (re.compile(r"\bAIza[\w-]{20,}"), STRUCK),
)
_LONG = re.compile(r"(?<![\w/+=-])[A-Za-z0-9_+/=-]{24,}(?![\w/+=-])")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)


def redacted(text: str) -> str:
    """`text` with tokens, keys and passwords replaced by three stars; ids of ours stay."""
    for pattern, put in _PATTERNS:
        text = pattern.sub(put, text)
    return _LONG.sub(lambda found: STRUCK if _looks_random(found[0]) else found[0], text)


def _looks_random(word: str) -> bool:
    """Digits among letters without any word boundary to speak of: neither a long word, nor a path, nor a date."""
    if _UUID.fullmatch(word):
        return False
    letters, digits = sum(c.isalpha() for c in word), sum(c.isdigit() for c in word)
    return letters >= 4 and digits >= 4 and max(map(len, re.split(r"[-_/]", word))) >= 20
