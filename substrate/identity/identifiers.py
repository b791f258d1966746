"""Identifiers: what decides alone that two names mean one thing, each in one spelling and with its check digits right.

E-mail addresses, web sites by host, LEI (ISO 17442), ORCID (ISO 7064, mod 11-2) and ticket keys. In running text an
identifier belongs to the name right before it, in brackets or after its label; anything looser dates and joins nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from substrate.identity.words import GENERIC_MAILBOXES, PUBLIC_MAIL, SHARED_SITES

Sort = Literal["email", "mailbox", "site", "lei", "orcid", "ticket"]
UNIQUE: frozenset[str] = frozenset({"lei", "orcid", "ticket"})
"""A thing has one of these at most: two values are two things."""
_EMAIL = re.compile(r"[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}", re.IGNORECASE)
_ORCID = re.compile(r"\b\d{4}-\d{4}-\d{4}-\d{3}[\dXx]\b")
_LEI = re.compile(r"\b[0-9A-Z]{18}\d{2}\b")
_SITE = re.compile(r"(?:https?://|www\.)[^\s<>()\"'，。]+", re.IGNORECASE)
_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,7}")
_ANY = re.compile("|".join(f"(?:{p.pattern})" for p in (_SITE, _EMAIL, _ORCID, _LEI)), re.IGNORECASE)
_BETWEEN = re.compile(
    r"[\s,]*[(<\[（]?\s*(?:(?:e-?mail|mail|orcid(?:\s*id)?|lei(?:\s*code)?|web(?:site)?|site|url|homepage|邮箱|网址)"
    r"\s*[:：]?\s*)?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?:e-?mail|mail|orcid|lei|website|web|url|homepage|邮箱|网址)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """What sort it is, and its one spelling."""

    sort: str
    value: str


def identifiers(text: str) -> list[Identifier]:
    """Every identifier that a value spells, ticket keys aside."""
    return [found for m in _ANY.finditer(text) if (found := read_identifier(m.group())) is not None]


def read_identifier(text: str) -> Identifier | None:
    """One identifier in its one spelling; None where check digits fail or it identifies nothing by itself."""
    text = text.strip().rstrip(".,;:)>]")
    orcid = _ORCID.search(text)
    if orcid is not None:
        value = orcid.group().upper()
        return Identifier("orcid", value) if orcid_checks(value) else None
    if "@" in text and _EMAIL.fullmatch(text):
        return _mail(text.lower())
    if _LEI.fullmatch(text):
        return Identifier("lei", text) if lei_checks(text) else None
    return _site(text.lower()) if _SITE.fullmatch(text) else None


def ticket(name: str) -> Identifier | None:
    """A name that is a ticket's key: "OPS-412"."""
    return Identifier("ticket", name) if _TICKET.fullmatch(name) else None


def _mail(address: str) -> Identifier:
    local = address.partition("@")[0].partition("+")[0]
    host = address.rpartition("@")[2]
    generic = local in GENERIC_MAILBOXES
    if generic and host in PUBLIC_MAIL:
        generic = False
    return Identifier("mailbox" if generic else "email", f"{local}@{host}")


def _site(address: str) -> Identifier | None:
    bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", address)
    host, _, path = bare.partition("/")
    path = path.partition("?")[0].partition("#")[0].strip("/")
    if host in SHARED_SITES:
        return Identifier("site", f"{host}/{path}") if path else None
    return Identifier("site", host) if not path else None


def orcid_checks(value: str) -> bool:
    """ISO 7064 mod 11-2 over the sixteen characters."""
    total = 0
    digits = value.replace("-", "")
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return digits[-1] == ("X" if check == 10 else str(check))


def lei_checks(value: str) -> bool:
    """ISO 7064 mod 97-10 over the letters as numbers."""
    return int("".join(str(int(c, 36)) for c in value)) % 97 == 1


def beside(text: str, name: str) -> Iterator[Identifier]:
    """Identifiers that stand right after a name: "Ana Ruiz (ana@…)", "Ana Ruiz, ORCID 0000-…", "Ana Ruiz <ana@…>"."""
    start = text.find(name)
    while start >= 0:
        at = start + len(name)
        while (gap := _BETWEEN.match(text, at)) is not None and gap.end() - at <= 24:
            found = _ANY.match(text, gap.end())
            if found is None or (gap.end() == at):
                break
            if (identifier := read_identifier(found.group())) is not None:
                yield identifier
            at = found.end()
        start = text.find(name, start + 1)


def is_label(phrase: str) -> bool:
    """Does a phrase announce an identifier: "email", "ORCID", "website"?"""
    return _LABEL.match(phrase) is not None
