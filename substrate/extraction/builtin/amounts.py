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
    "平方米": "m2", "吨": "t", "°c": "Cel", "bar": "bar", "hz": "Hz",
    "hp": "[HP]", "khz": "kHz", "mhz": "MHz", "ghz": "GHz",
    "w": "W", "v": "V", "kv": "kV", "mah": "mA.h", "rpm": "{rpm}", "db": "dB", "ml": "mL", "mg": "mg", "ha": "ha",
    "hectares": "ha", "gwh": "GWh", "twh": "TWh", "gw": "GW", "acres": "[acr_us]", "miles": "[mi_i]", "feet": "[ft_i]",
    "inches": "[in_i]", "lbs": "[lb_av]", "pounds weight": "[lb_av]", "barrels": "{barrels}", "km/h": "km/h",
    "metric tons": "t", "tonne": "t", "ton": "t", "kilowatts": "kW", "megawatts": "MW", "watts": "W", "volts": "V",
    "minute": "min", "second": "s", "day": "d", "week": "wk", "month": "mo", "kilometre": "km", "kilogram": "kg",
    "percentage points": "{pp}", "m³": "m3", "m²": "m2", "sq m": "m2", "cubic metres": "m3", "cubic meters": "m3",
    "mm2": "mm2", "名": "{people}", "千克": "kg", "克": "g", "万千瓦": "10.MW", "兆瓦": "MW", "千瓦时": "kWh",
    "分钟": "min", "秒": "s", "毫秒": "ms", "升": "L", "毫升": "mL", "毫米": "mm", "厘米": "cm", "亩": "{mu}",
    "公顷": "ha", "千米": "km", "°f": "[degF]", "nm": "nm", "μm": "um", "pages": "{pages}", "customers": "{customers}",
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


_PER_UNIT = re.compile(r"\s*(?:/|per\s+)\s*(?:year|annum|month|week|day|hour)\b", re.IGNORECASE)
_SPELLED = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty").split()  # fmt: skip
_COUNTED = re.compile(
    rf"(?<![\w-])({'|'.join(_SPELLED[2:])})(?= (?:members|employees|people|staff|engineers|developers|analysts|"
    rf"scientists)\b)( employees| people| staff)?|(?<=headcount of )({'|'.join(_SPELLED[2:])})\b",
    re.IGNORECASE,
)
"""Numbers in words, where they count people."""
_MORE = re.compile(r" (?:more|less|higher|lower|cheaper|above|below)\b(?! than)")
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s,;)>\"]+[^\s,;.)>\"]|(?<![\w@.])(?:www\.)?(?:[a-z0-9-]+\.)+"
    r"(?:com|org|net|io|example|eu|de|fr|uk|cn|dev|ai|info)(?:/[^\s,;)]*[^\s,;.)])?(?![\w.-]*\w)|"
    r"(?<![\w.])\+\d{1,3}[ \d()/-]{6,16}\d|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
)
"""E-mail and network addresses and telephone numbers: values that are no numbers."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number found in a text: ``[start, end)`` and what it means."""

    start: int
    end: int
    value: Value


def amounts_in(text: str) -> Iterator[Amount]:
    """Every address, then every number of `text` with its unit; words that merely contain digits are skipped."""
    found = [Amount(m.start(), m.end(), Value(m.group())) for m in _ADDRESS.finditer(text)]
    found += [Amount(m.start(), m.end(), _counted(m)) for m in _COUNTED.finditer(text)]
    yield from found
    for m in _AMOUNT.finditer(text):
        if any(a.start < m.end() and m.start() < a.end for a in found):
            continue
        number = m.group("bnumber") or m.group("number")
        start, end = m.span()
        if _inside_word(text, start, end) or not number:
            continue
        exponent = SCALES.get((m.group("bscale") or m.group("scale") or "").lower(), 0)
        if _MORE.match(text, end):
            continue
        amount = Decimal(re.sub(r"[,  '’]", "", number)).scaleb(exponent)
        if m.group("sign") in {"-", "−"}:
            amount = -amount
        currency = (m.group("before") or "").strip().lower()
        unit = CURRENCIES.get(currency) or _unit(m.group("unit"))
        money = unit in set(CURRENCIES.values())
        per = _PER.match(text, end) if money or _PER_UNIT.match(text, end) else None
        end = per.end() if per else end
        raw = text[start:end].strip()
        yield Amount(start, end, Value(raw, _plain(amount), unit, _datatype(unit)))


def _counted(m: re.Match[str]) -> Value:
    word = (m.group(1) or m.group(3)).lower()
    return Value(m.group(), Decimal(_SPELLED.index(word)), _unit((m.group(2) or "").strip()), "number")


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
    if "/" in key and key not in UNITS:
        upper, _, lower = key.partition("/")
        per = UNITS.get(lower.strip(), lower.strip())
        above = CURRENCIES.get(upper.strip()) or UNITS.get(upper.strip())
        return f"{above}/{per}" if above and lower.strip().isalpha() else None
    return CURRENCIES.get(key) or UNITS.get(key)


def _datatype(unit: str | None) -> Literal["money", "number"]:
    return "money" if (unit or "").partition("/")[0] in set(CURRENCIES.values()) else "number"


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
