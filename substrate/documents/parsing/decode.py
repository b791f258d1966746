"""Bytes of text in whatever encoding to a string, or a clear refusal; never replacement characters.

Order: byte order mark, UTF-8, UTF-16 without a mark, the East Asian encodings by how much of the text falls
into each one's frequent characters, Western single-byte, and last charset-normalizer over the remaining
single-byte encodings.
"""

from __future__ import annotations

import codecs
import re
from functools import cache

from substrate.documents.parsing.limits import reject

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Lead bytes of what each standard itself calls its first level: the frequent characters and punctuation.
_FREQUENT_LEADS = {
    "cp949": (*range(0xB0, 0xC9), 0xA1, 0xA3),
    "euc_jp": (*range(0xB0, 0xD0), 0xA1, 0xA3, 0xA4, 0xA5),
    "gb18030": (*range(0xB0, 0xD8), 0xA1, 0xA3),
    "cp932": (*range(0x88, 0x98), 0x81, 0x82, 0x83),
    "big5": (*range(0xA4, 0xC7), 0xA1, 0xA2, 0xA3),
}
_SINGLE_BYTE = (
    *("cp1251", "koi8_r", "cp1250", "iso8859_2", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("iso8859_5", "iso8859_7", "cp1252"),
)
_LONE_HIGH = re.compile(rb"(?<![\x80-\xff])[\x80-\xff]{1,2}(?![\x80-\xff])")
_SAMPLE = 1 << 18
_UTF16_TEXT = re.compile(
    r"[\t\n\r -~\xa0-\u024f\u0370-\u05ff\u2010-\u203a€\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]"
)


def decode(content: bytes, filename: str, *, declared: str | None = None) -> str:
    """The text, with line ends as written. Raises ``nul_bytes`` or ``encoding``.

    ``declared`` is an encoding the file itself names; it is used where the bytes really decode under it.
    """
    for mark, name in _BOMS:
        if content.startswith(mark):
            return _strict(content[len(mark) :], name) or _undecodable(filename, name)
    text = _strict(content, "utf-8")
    if text is not None and "\0" not in text:
        return text
    if b"\0" in content:
        wide = _utf16_without_mark(content)
        return wide or reject(filename, "nul_bytes", "holds NUL bytes, so it is not text; export it as text")
    if declared is not None and (text := _strict(content, declared)) is not None:
        return text
    return _legacy(content) or _undecodable(filename, "any encoding we know")


def _undecodable(filename: str, name: str) -> str:
    reject(filename, "encoding", f"its text does not decode as {name}; save it as UTF-8 and send it again")


def _strict(content: bytes, name: str) -> str | None:
    try:
        return content.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None


def _utf16_without_mark(content: bytes) -> str | None:
    """UTF-16 shows as text in one byte order only: at least 97 % of it in the usual scripts."""
    if len(content) % 2:
        return None
    best: tuple[float, str] = (0.0, "")
    for name in ("utf-16-le", "utf-16-be"):
        sample = _strict(content[:_SAMPLE], name)
        if sample and "\0" not in sample:
            best = max(best, (len(_UTF16_TEXT.findall(sample)) / len(sample), name))
    return _strict(content, best[1]) if best[0] >= 0.97 else None


@cache
def _frequent(name: str) -> frozenset[str]:
    trails = range(0x40, 0xFF)
    pairs = (_strict(bytes((lead, trail)), name) for lead in _FREQUENT_LEADS[name] for trail in trails)
    return frozenset(char for char in pairs if char is not None and len(char) == 1)


def _share(text: str, name: str) -> float:
    """Part of the non-ASCII text that is frequent in this encoding's own language."""
    high = [char for char in text[:_SAMPLE] if char > "\x7f"]
    return sum(char in _frequent(name) for char in high) / max(len(high), 1)


def _legacy(content: bytes) -> str | None:
    high = sum(byte > 0x7F for byte in content[:_SAMPLE])
    lone = sum(len(run) for run in _LONE_HIGH.findall(content[:_SAMPLE]))
    if lone / max(high, 1) < 0.5 and (text := _east_asian(content)) is not None:
        return text
    # UTF-16 of Chinese without a line end holds no NUL; Shift-JIS can look like it, so it comes later.
    if (wide := _utf16_without_mark(content)) is not None:
        return wide
    western = _strict(content, "cp1252")
    letters = sum(char.isalpha() for char in (western or "")[:_SAMPLE])
    # Western words are mostly ASCII letters; Cyrillic ones read as Western have none.
    if western is not None and high * 3 < letters and all(map(_is_western, set(western))):
        return western
    return _by_statistics(content)


def _east_asian(content: bytes) -> str | None:
    read = {name: text for name in _FREQUENT_LEADS if (text := _strict(content, name)) is not None}
    shares = {name: _share(text, name) for name, text in read.items()}
    # Korean and Japanese EUC bytes are all frequent Chinese characters too, but hardly the reverse.
    if shares.get("cp949", 0) >= 0.98:
        return read["cp949"]
    kana = sum("\u3040" <= char <= "\u30ff" for char in read.get("euc_jp", "")[:_SAMPLE])
    if shares.get("euc_jp", 0) >= 0.9 and kana * 5 > len(read["euc_jp"][:_SAMPLE]) - read["euc_jp"].count(" "):
        return read["euc_jp"]
    shares.pop("euc_jp", None)
    best = max(shares, key=lambda name: shares[name], default=None)
    return read[best] if best is not None and shares[best] >= 0.75 else None


def _is_western(char: str) -> bool:
    return char < "\x80" or char in "ŠšŽžŒœŸ€‚„…†‡‰‹›‘’“”•–—™\xa0¡§©«®°±²³µ¶·»¼½¾¿£¥" or ("À" <= char <= "ÿ")


def _by_statistics(content: bytes) -> str | None:
    from charset_normalizer import from_bytes

    found = from_bytes(content[:_SAMPLE], cp_isolation=list(_SINGLE_BYTE)).best()
    return None if found is None else _strict(content, found.encoding)
