"""Whether two ends are the same: names by their words, values by number, unit and date."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

_SKIPPED = frozenset(
    "the a an our its their his her this that s mr mrs ms miss dr prof professor sir baroness team project new about"
    " some around more than over in on at of and ltd limited gmbh ag plc inc llp llc bv as sas oy aps ab sa nv pte co"
    " former acting interim formerly by from with effective service 约 原 前任 现任 同志".split()
)
_RANK = re.compile(r"\b(deputy|vice|assistant|junior)\b|副|助理")
_CURRENCIES = {
    "nzd": "nz$ nzd",
    "aud": "a$ aud",
    "cad": "c$ cad",
    "usd": "$ usd dollar dollars 美元",
    "eur": "€ eur euro euros 欧元",
    "gbp": "£ gbp pounds",
    "chf": "chf",
    "sek": "sek",
    "sgd": "sgd",
    "inr": "inr",
    "pln": "pln zlotys zloty",
    "cny": "¥ cny rmb 人民币 元",
}
_TIMES = {
    "k": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "bn": 10**9,
    "billion": 10**9,
    "crore": 10**7,
    "万": 10**4,
    "亿": 10**8,
}
_SPELLED = {
    word: n for n, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"thirty-one": 31, "thirty": 30, "半": 0, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6}
_MONTHS = {name: n + 1 for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())}
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return re.sub(r"'s\b|s'(?=\s)|[“”\"'()<>《》「」]", " ", text)


@cache
def tokens(text: str) -> tuple[str, ...]:
    """Words without articles, titles of persons and forms of companies; each Chinese character is one."""
    words = re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff][\w.&@/-]*[\w%]|[^\W\u4e00-\u9fff]", _plain(text))
    return tuple(word for word in words if word not in _SKIPPED) or tuple(words)


def holds(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Whether `part` stands in `whole` as it is."""
    width = len(part)
    return bool(part) and any(tuple(whole[at : at + width]) == tuple(part) for at in range(len(whole) - width + 1))


def same_name(said: str, wanted: str) -> bool:
    """Equal, or one holds the other and is at most twice as long; a deputy is never who is deputised for."""
    a, b = tokens(said), tokens(wanted)
    if bool(_RANK.search(_plain(said))) != bool(_RANK.search(_plain(wanted))):
        return False
    short, long = sorted((a, b), key=len)
    return len(short) * 2 >= len(long) and holds(long, short)


def number_of(text: str) -> Decimal | None:
    """The first number of `text`, with its multiplier."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    found = re.search(r"\d[\d,]*(?:\.\d+)?", plain)
    if found is None:
        return next((Decimal(n) for word, n in _SPELLED.items() if re.search(rf"(?<![\w]){word}", plain)), None)
    factor = re.match(r"\s*(k|mn?|bn|million|billion|crore|万|亿)(?![a-z])", plain[found.end() :])
    return Decimal(found.group().replace(",", "")) * (_TIMES[factor[1]] if factor else 1)


def currency_of(text: str) -> str | None:
    """ISO 4217 in lower case."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    for code, signs in _CURRENCIES.items():
        for sign in signs.split():
            pattern = rf"(?<![a-z]){re.escape(sign)}(?![a-z])" if sign.isalpha() and sign.isascii() else re.escape(sign)
            if re.search(pattern, plain):
                return code
    return None


def same_value(raw: str, number: Decimal | None, unit: str | None, wanted: str) -> bool:
    """A value as an extractor gave it against one of gold: number and currency, or the words themselves."""
    if same_name(raw, wanted):
        return True
    expected = number_of(wanted)
    got = number if number is not None else number_of(raw)
    if expected is None or got is None or date_of(wanted):
        return False
    money, paid = currency_of(wanted), currency_of(unit or "") or currency_of(raw)
    return got == expected and (money is None or paid is None or money == paid)


def date_of(text: str, year: int | None = None) -> str:
    """``2026-04-30``, ``2026-04`` or ``2026``; "" where `text` is no date. `year` stands in where none is written."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if re.fullmatch(r"\d{4}(-\d\d){0,2}", plain):
        return plain
    if found := re.search(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", plain):
        return f"{found[3]}-{int(found[2]):02}-{int(found[1]):02}"
    if found := re.search(r"(?:(\d{4})年)(?:(\d{1,2})月(?:(\d{1,2})日)?)?|(\d{1,2})月(?:(\d{1,2})日)?", plain):
        return _joined(found[1] or year, found[2] or found[4], found[3] or found[5])
    months = "|".join(_MONTHS)
    for pattern, day, month, at in (
        (rf"(?:(\d{{1,2}})(?:st|nd|rd|th)?\s+)?\b({months})[a-z]*\.?(?:,?\s+(\d{{4}}))?", 1, 2, 3),
        (rf"\b({months})[a-z]*\.?\s+(\d{{1,2}})(?!\d)(?:,?\s+(\d{{4}}))?", 2, 1, 3),
    ):
        found = re.search(pattern, plain, re.I)
        if found and (found[day] or found[at]):
            return _joined(found[at] or year, _MONTHS[found[month].lower()], found[day])
    found = re.search(r"(?<!\d)(19|20)\d\d(?!\d)", plain)
    return found.group() if found and len(plain) <= 20 else ""


def _joined(year: object, month: object, day: object) -> str:
    if not year:
        return ""
    parts = [str(year)] + [f"{int(str(part)):02}" for part in (month, day) if part]
    return "-".join(parts)


def same_date(said: str, wanted: str) -> bool:
    """One is the other with more or less precision."""
    return bool(said and wanted) and (said.startswith(wanted) or wanted.startswith(said))


def iso(at: dt.datetime | None) -> str:
    return at.date().isoformat() if at else ""
