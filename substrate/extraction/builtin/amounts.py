"""Numbers with their units, money and percentages, read exactly or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from substrate.extraction.claims import Value

CURRENCIES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "美元": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "欧元": "EUR",
    "£": "GBP", "gbp": "GBP", "pounds": "GBP", "英镑": "GBP",
    "¥": "CNY", "￥": "CNY", "cny": "CNY", "rmb": "CNY", "yuan": "CNY", "renminbi": "CNY",
    "元": "CNY", "人民币": "CNY", "元人民币": "CNY",
    "jpy": "JPY", "yen": "JPY", "日元": "JPY", "hkd": "HKD", "hk$": "HKD", "港元": "HKD",
    "chf": "CHF", "francs": "CHF", "inr": "INR", "rupees": "INR", "cad": "CAD", "aud": "AUD",
    "sgd": "SGD", "krw": "KRW", "won": "KRW", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "brl": "BRL",
    "mxn": "MXN", "pln": "PLN", "czk": "CZK", "twd": "TWD", "zar": "ZAR", "rub": "RUB",
}  # fmt: skip
UNITS = {
    "%": "%", "percent": "%", "per cent": "%", "kg": "kg", "kilograms": "kg", "g": "g", "t": "t",
    "tonnes": "t", "tons": "t", "km": "km", "kilometres": "km", "kilometers": "km", "m": "m",
    "metres": "m", "meters": "m", "cm": "cm", "mm": "mm", "hours": "h", "hour": "h", "h": "h",
    "minutes": "min", "seconds": "s", "ms": "ms", "days": "d", "weeks": "wk", "months": "mo", "years": "a",
    "gb": "GBy", "mb": "MBy", "tb": "TBy", "kb": "kBy", "kw": "kW", "mw": "MW", "kwh": "kWh", "mwh": "MWh",
    "litres": "L", "liters": "L", "l": "L", "m2": "m2", "square metres": "m2", "square meters": "m2",
    "people": "{people}", "employees": "{employees}", "staff": "{employees}", "人": "{people}",
    "名员工": "{employees}", "users": "{users}", "seats": "{seats}", "公斤": "kg", "公里": "km", "小时": "h",
    "平方米": "m2", "吨": "t", "°c": "Cel",
}  # fmt: skip
SCALES = {
    "k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "mio": 6, "bn": 9, "b": 9, "billion": 9,
    "trillion": 12, "万": 4, "百万": 6, "千万": 7, "亿": 8, "千": 3,
}  # fmt: skip

_NUMBER = r"(?<![\w.,])(?P<sign>[-−+])?(?P<number>\d{1,3}(?:[,  '’]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_WORDS_BEFORE = r"(?:US\$|HK\$|[$€£¥￥]|(?:USD|EUR|GBP|CNY|RMB|JPY|CHF|INR|CAD|AUD|SGD|HKD|SEK|NOK|DKK)\s?|人民币)"
_SCALE = r"(?:\s?(?P<scale>thousand|million|billion|trillion|mn|mio|bn|百万|千万|[万亿千]|[kKMB](?![A-Za-z])))?"
_UNIT_WORDS = "|".join(
    sorted((re.escape(w) for w in {*CURRENCIES, *UNITS} if w not in {"$", "us$", "hk$"}), key=len, reverse=True)
)
_UNIT = rf"(?:\s?(?P<unit>{_UNIT_WORDS})(?![A-Za-z]))?"
_AMOUNT = re.compile(
    rf"(?P<before>{_WORDS_BEFORE})\s?(?P<bnumber>\d{{1,3}}(?:[,'’]\d{{3}})+(?:\.\d+)?|"
    rf"\d+(?:\.\d+)?){_SCALE.replace('scale', 'bscale')}"
    rf"|{_NUMBER}{_SCALE}{_UNIT}",
    re.IGNORECASE,
)
_PER = re.compile(
    r"\s*(?:/|per\s+|an?\s+(?=(?:year|month|week|day|hour|annum)\b))"
    r"(year|annum|month|week|day|hour)\b|\s*(?:p\.a\.|a year|annually|monthly)|\s*(?:/|每|"
    r"一)(?:个)?[年月周日天](?![\u4e00-\u9fff\d])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number found in a text: ``[start, end)`` and what it means."""

    start: int
    end: int
    value: Value


def amounts_in(text: str) -> Iterator[Amount]:
    """Every number of `text` with its unit, left to right; words that merely contain digits are skipped."""
    for m in _AMOUNT.finditer(text):
        number = m.group("bnumber") or m.group("number")
        start, end = m.span()
        if _inside_word(text, start, end) or not number:
            continue
        exponent = SCALES.get((m.group("bscale") or m.group("scale") or "").lower(), 0)
        amount = Decimal(re.sub(r"[,  '’]", "", number)).scaleb(exponent)
        if m.group("sign") in {"-", "−"}:
            amount = -amount
        currency = (m.group("before") or "").strip().lower()
        unit = CURRENCIES.get(currency) or _unit(m.group("unit"))
        per = _PER.match(text, end) if unit in set(CURRENCIES.values()) else None
        end = per.end() if per else end
        raw = text[start:end].strip()
        yield Amount(start, end, Value(raw, _plain(amount), unit, _datatype(unit)))


def parse_amount(text: str, unit: str | None = None) -> Value:
    """A cell or a value as written: number when the whole text is one, else text; `unit` if none is written."""
    raw = text.strip()
    found = list(amounts_in(raw))
    if len(found) == 1 and found[0].start == 0 and found[0].end >= len(raw.rstrip(" .。")):
        value = found[0].value
        unit = value.unit or unit
        return Value(raw, value.number, unit, _datatype(unit))
    return Value(raw)


def unit_named(word: str) -> str | None:
    """The unit a table header names in brackets: "CNY", "%", "kg"; None when it is not one."""
    return _unit(word.strip())


def _unit(word: str | None) -> str | None:
    key = (word or "").lower()
    return CURRENCIES.get(key) or UNITS.get(key)


def _datatype(unit: str | None) -> Literal["money", "number"]:
    return "money" if unit in set(CURRENCIES.values()) else "number"


def _plain(number: Decimal) -> Decimal:
    """No exponent and no needless scale, so that 4 million is 4000000 and equal values print alike."""
    whole = number.to_integral_value()
    return whole.quantize(Decimal(1)) if number == whole else number


def _inside_word(text: str, start: int, end: int) -> bool:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if after == "-" and text[end + 1 : end + 2].isdigit():
        return True
    return (before.isascii() and (before.isalnum() or before in "-_/.#")) or (
        after.isascii() and (after.isalnum() or after in "_")
    )
