"""What a heading says: the thing it names, the role it lists the holders of, or that what follows is a correction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from substrate.extraction.builtin import heading_words as h
from substrate.extraction.builtin import vocabulary as v
from substrate.extraction.builtin.fields import Key, kind_of_any, looks_like_name, named, read_key
from substrate.extraction.builtin.names import Lexicon, capitalised, names_in
from substrate.extraction.builtin.roles import RELATION_OF_ROLE, is_role
from substrate.extraction.builtin.terms import Term

_STRIP = re.compile(r"[*_`]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_ABOUT = re.compile(
    r"^(?P<kind>[A-Za-z][A-Za-z ]*?) (?:of|for|on|regarding|about|concerning|re) (?:the )?(?P<rest>.+)$"
)
_ROLE_OF = re.compile(
    r"^(?:the )?(?P<role>[A-Za-z][A-Za-z -]*?) (?:of|to|for|at|in|on) (?:the )?(?P<owner>[A-Z].*)$", re.I
)
_CORRECTION = re.compile(
    r"^(?:[\w'’&-]+ ){0,6}?(?:corrections?|corrigend(?:um|a)|errat(?:um|a)|rectification)"
    r"(?: (?:to|of|on|no|nr|for|in|notice|memo|note|sheet|slip)\b.*|\s*[:(,–—-].*|\s+\d.*)?$|"
    r"^[^：:]{0,14}(?:更正|勘误|订正)(?:通知|说明|启事|公告|函|表|书)?(?:[：:（(\d].*)?$",
    re.IGNORECASE,
)


_HONOURED = re.compile(r"^(?:(?:Dr|Prof|Mr|Mrs|Ms|Sir|Dame)\.? )+(?=[A-Z])")
_LOWER_KINDS = frozenset("team project programme program product platform service employee personnel".split())
"""Written small behind a name they say what it is and are no part of it."""


def is_correction(heading: str) -> bool:
    """Whether a title or heading says that what stands under it corrects what was said before."""
    return bool(_CORRECTION.match(_STRIP.sub("", heading).strip().strip("#:： ")))


def list_key(heading: str) -> tuple[Key | None, Term | None]:
    """What a list heading says of each item, and of what: "Team leads" → lead, "Advisers to the X" → adviser of X."""
    text = _STRIP.sub("", heading).strip().rstrip(":：")
    key = read_key(text)
    if text in h.CHINESE_LISTS:
        return Key(h.CHINESE_LISTS[text], key.unit, heading), None
    if (m := h.CHINESE_LIST_OF.match(text)) and kind_of_any(m.group("owner")) is not None:
        return read_key(m.group("role")).under(heading), named(m.group("owner"))
    if key.plain in h.PLURAL_HEADINGS:
        return Key(h.PLURAL_HEADINGS[key.plain], key.unit, heading), None
    if (m := _ROLE_OF.match(text)) and looks_like_name(m.group("owner")) and (role := _role_listed(m.group("role"))):
        return Key(role, None, heading), named(m.group("owner"))
    role = _role_listed(key.plain)
    return (Key(role, key.unit, heading), None) if role and key.plain.endswith("s") else (None, None)


def _role_listed(words: str) -> str | None:
    """The role in the singular: "project leads" → project lead; None when it is none."""
    low = re.sub(r"^(?:the|current|our|its) ", "", words.strip().lower())
    if not low or len(low.split()) > 3:
        return None
    single = low[:-1] if low.endswith("s") and not low.endswith("ss") else low
    if single in RELATION_OF_ROLE:
        return None if RELATION_OF_ROLE[single] == "part of" else single
    return single.split()[-1] if is_role(single) else None


def heading_subject(headings: Sequence[str], lexicon: Lexicon) -> Term | None:
    """The thing the innermost telling heading names: "Project Aurora charter" → Project Aurora."""
    for heading in headings:
        if list_key(heading)[1] is not None or is_correction(heading):
            continue
        for text, cut in _candidates(heading):
            found = _named_in(text, cut, lexicon)
            if found is not None:
                return found
    return None


def _named_in(text: str, cut: bool, lexicon: Lexicon) -> Term | None:
    if _HAN.search(text):
        kind = kind_of_any(text)
        named_thing = kind is not None and text not in h.GENERIC_CHINESE
        return Term("name", text, kind) if 2 <= len(text) <= 14 and named_thing else None
    whole = re.sub(r"^(?:The|the)\s+", "", text)
    if (named_kind := _with_kind(whole, lexicon)) is not None:
        return named_kind
    whole, honoured = _HONOURED.subn("", whole)
    if honoured and looks_like_name(whole):
        return Term("name", whole, "person")
    first, _, noun = whole.rpartition(" ")
    if first and noun in v.KIND_NOUNS and capitalised(first.split()[-1]) and looks_like_name(first):
        return Term("name", whole, v.KIND_NOUNS[noun])
    if not whole or not _is_proper(whole, cut, lexicon):
        return None
    spans = names_in(whole, (), lexicon, frozenset())
    if len(spans) == 1 and spans[0].kind == "name" and spans[0].text.rstrip(".") == whole.rstrip("."):
        return Term("name", whole, spans[0].guess)
    titled = len(whole.split()) > 1 and looks_like_name(whole) and not any(s.kind == "role" for s in spans)
    return Term("name", whole, kind_of_any(whole)) if titled else None


def _with_kind(text: str, lexicon: Lexicon) -> Term | None:
    """ "Vireo S2 soundbar": an unknown word or a code, then what it is, written small."""
    m = re.fullmatch(r"(?P<name>[A-Z][\w-]*(?: (?:[A-Z][\w-]*|\d+\w*))*)(?P<kind>(?: [a-z][a-z-]+){1,2})", text)
    if m is None or m.group("kind").split()[-1] in GENERIC_KINDS:
        return None
    words = m.group("name").split()
    coined = any(not lexicon.knows(w.lower()) for w in words) or (
        len(words) > 1 and any(c.isdigit() for c in words[-1])
    )
    return Term("name", text) if coined else None


def described(heading: str) -> Term | None:
    """ "Falcon scanner" over labels: a thing called by plain words, if none of them is one that sections are called by.

    Only what stands over several labels is taken so, since over prose such a heading may be about anything.
    """
    text = _STRIP.sub("", heading).strip()
    words = text.split()
    one = re.fullmatch(r"[A-Z][a-z-]+(?: [a-z][a-z-]+| [A-Z][A-Za-z-]+){1,2}", text) is not None
    generic = h.GENERIC_WORDS | v.MEASURED_NOUNS | h.SMALL_WORDS | v.MONTHS_AND_DAYS
    plain = any(w.lower() in generic or w.endswith("ing") for w in words) or text.endswith("s")
    return Term("name", text) if one and not plain and list_key(text) == (None, None) and not is_role(text) else None


GENERIC_KINDS = h.GENERIC_WORDS | v.MEASURED_NOUNS | frozenset(("range", "list", "series", "family", "line"))


def _candidates(heading: str) -> Iterator[tuple[str, bool]]:
    """What may be the name in a heading, and whether words about the document were cut from around it."""
    text = _STRIP.sub("", heading).strip().strip(":：# ")
    parts = [p for p in re.split(r"\s+[-–—|]+\s+|\s*[—|]\s*|:\s+|：|\s*[(（][^)）]*[)）]\s*", text) if p]
    for part in parts:
        bare = _without_document_words(part)
        if bare:
            yield bare, bare != part or len(parts) > 1


def _without_document_words(part: str) -> str:
    if _HAN.search(part):
        return re.sub(
            rf"^(?:{h.CHINESE_DOCUMENTS})$|(?:项目)?(?:{h.CHINESE_DOCUMENTS})$|^关于|^《|》$",
            lambda m: "项目" if m.group().startswith("项目") and m.start() else "",
            part,
        ).strip("的")
    if (m := _ABOUT.match(part)) and m.group("kind").lower().split()[-1] in h.DOCUMENT_WORDS:
        part = m.group("rest")
    words = part.split()
    while words and words[-1].lower().strip(".,") in h.DOCUMENT_WORDS | v.MONTHS_AND_DAYS:
        words.pop()
    while len(words) > 1 and words[-1] in _LOWER_KINDS:
        words.pop()
    return " ".join(words)


def _is_proper(text: str, cut: bool, lexicon: Lexicon) -> bool:
    """A name by an unknown word or its kind; else title case with a word that no section is called by."""
    words = [w.lower().strip(".,'’") for w in text.split()]
    content = [w for w in words if w not in h.SMALL_WORDS]
    if not content or all(w in h.GENERIC_WORDS or w.isdigit() for w in content):
        return False
    if kind_of_any(text) is not None and len(words) > 1:
        return not all(w in v.TITLE_SUFFIXES | v.TEAM_WORDS | v.PROJECT_WORDS for w in words)
    if any(not lexicon.knows(w) for w in content):
        return True
    titled = all(capitalised(w) for w in text.split() if w.lower() not in h.SMALL_WORDS)
    return titled and (cut or len(content) > 1) and not content[-1].endswith("ing")
