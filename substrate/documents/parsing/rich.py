"""RTF rewritten so that pandoc reads every character of it.

Pandoc 3.9 reads bytes above 127 as Windows-1252 whatever code page the file or the font names, and drops the halves
of characters beyond the 16-bit plane. Here every byte and every escape becomes one ``\\uN ?`` of the right character.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from substrate.documents.parsing.limits import reject

_TOKEN = re.compile(
    rb"\\bin(?P<bin>\d{1,9}) ?|(?P<run>(?:\\'[0-9a-fA-F]{2}[\r\n]*)+)"
    rb"|\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\[^a-zA-Z]|(?P<brace>[{}])|(?P<plain>[^\\{}]+)",
    re.DOTALL,
)
# Font character sets of the RTF specification 1.9.1; 0 and 1 mean the code page of the file.
_CHARSETS = {
    int(number): codec
    for number, codec in re.findall(
        r"(\d+) (\w+)",
        "2 cp1252, 77 mac_roman, 128 cp932, 129 cp949, 130 johab, 134 gb18030, 136 cp950, 161 cp1253, 162 cp1254, "
        "163 cp1258, 177 cp1255, 178 cp1256, 186 cp1257, 204 cp1251, 222 cp874, 238 cp1250",
    )
}
_FILES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_LARGER = {936: "gb18030", 10000: "mac_roman", 65001: "utf-8"}
_HIGH = re.compile(rb"[\x80-\xff]")
_PRIVATE, _LAST_PRIVATE = 0xE000, 0xF8FF


@dataclass
class _Scope:
    """What a group inherits: how many stand-ins follow an escape, and which font is on."""

    stand_ins: int = 1
    font: int | None = None


@dataclass
class _Rewriter:
    filename: str
    out: list[bytes] = field(default_factory=list)
    stack: list[_Scope] = field(default_factory=lambda: [_Scope()])
    fonts: dict[int, str] = field(default_factory=dict)
    codec: str = "cp1252"
    skip: int = 0
    high: int = 0
    placed: dict[str, int] = field(default_factory=dict)
    waiting: bytes = b""

    def characters(self, raw: bytes) -> None:
        """Bytes of text in the code page that holds here, or the stand-ins of an escape."""
        if self.skip:
            raw, self.skip = raw[self.skip :], max(0, self.skip - len(raw))
        raw, self.waiting = self.waiting + raw, b""
        if raw:
            self.say(self._decoded(raw))

    def _decoded(self, raw: bytes) -> str:
        own = self.fonts.get(self.stack[-1].font or 0)
        decoder = codecs.getincrementaldecoder(own or self.codec)("strict")
        try:
            text = decoder.decode(raw)
            self.waiting = decoder.getstate()[0]
        except UnicodeDecodeError:
            # A Latin font says 0, "the ANSI code page", which Word means as 1252 in files of any language.
            if own is None:
                return raw.decode("cp1252", "ignore")
            reject(self.filename, "encoding", f"does not decode as {own}, which it names; save it anew")
        return text

    def flush(self) -> None:
        """A lead byte that nothing followed is a Latin letter."""
        left, self.waiting = self.waiting, b""
        if left:
            self.say(left.decode("cp1252", "ignore"))

    def say(self, text: str) -> None:
        """Each character as an escape; one beyond 16 bits as a private one that `Rewritten.restored` turns back."""
        for letter in text:
            code = ord(letter)
            if code < 0x80:
                self.out.append(b"\\'%02x" % code)
                continue
            if code > 0xFFFF:
                code = self.placed.setdefault(letter, _PRIVATE + len(self.placed))
                if code > _LAST_PRIVATE:
                    reject(self.filename, "encoding", "holds over 6,400 different rare characters; save it as DOCX")
            # Without the space pandoc takes the stand-in for the delimiter and eats the letter after it.
            self.out.append(b"\\u%d ?" % (code if code < 0x8000 else code - 0x10000))

    def escape(self, number: int) -> None:
        """One UTF-16 unit, or a whole character where a writer broke the rule of 16 bits."""
        unit, self.skip = number % 0x10000, self.stack[-1].stand_ins
        if 0xFFFF < number < 0x110000:
            self.say(chr(number))
        elif 0xD800 <= unit < 0xDC00:
            self.high = unit
        elif 0xDC00 <= unit < 0xE000:
            if self.high:
                self.say(chr(0x10000 + ((self.high - 0xD800) << 10) + unit - 0xDC00))
            self.high = 0
        else:
            self.say(chr(unit))

    def word(self, name: str, number: int | None, token: bytes) -> None:
        """One control word."""
        if name == "u" and number is not None:
            self.escape(number)
            return
        if self.skip:
            self.skip -= 1
            return
        scope = self.stack[-1]
        if name == "uc":
            scope.stand_ins = max(0, min(number if number is not None else 1, 16))
            return
        if name in _FILES or (name == "ansicpg" and number):
            self.codec = _known(_FILES.get(name) or _LARGER.get(number or 0) or f"cp{number}", self.filename)
            return
        if name == "f" and number is not None:
            scope.font = number
        elif name == "fcharset" and scope.font is not None and number in _CHARSETS:
            self.fonts[scope.font] = _CHARSETS[number or 0]
        # Its own delimiter, since the word after it may be left out.
        self.out.append(token if token.endswith(b" ") else token + b" ")

    def brace(self, token: bytes) -> None:
        """A group opens or closes, which ends what an escape would still skip."""
        self.skip = 0
        if token == b"{":
            self.stack.append(_Scope(self.stack[-1].stand_ins, self.stack[-1].font))
        elif len(self.stack) > 1:
            self.stack.pop()
        self.out.append(token)


def _known(codec: str, filename: str) -> str:
    try:
        return codecs.lookup(codec).name
    except LookupError:
        reject(filename, "encoding", f"names the code page {codec}, which we do not know; save it anew")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """RTF in which every character beyond ASCII is an escape, and what its private characters stand for."""

    content: bytes
    restored: dict[int, str]


def rewrite(content: bytes, filename: str) -> Rewritten:
    """Raises ``encoding`` where the bytes do not decode under the code page they are labelled with."""
    state = _Rewriter(filename)
    for found in _tokens(content):
        _apply(state, found)
    state.flush()
    return Rewritten(b"".join(state.out), {code: letter for letter, code in state.placed.items()})


def _tokens(content: bytes) -> Iterator[re.Match[bytes]]:
    """Tokens in order, without the raw bytes of pictures."""
    at = 0
    while found := _TOKEN.match(content, at):
        at = found.end()
        if found["bin"] is not None:
            at += int(found["bin"])
            continue
        yield found


def _apply(state: _Rewriter, found: re.Match[bytes]) -> None:
    token = found[0]
    if found["run"] is not None:
        state.characters(bytes.fromhex(re.sub(rb"[\\'\r\n]", b"", token).decode()))
    elif found["plain"] is not None:
        _plain(state, token)
    else:
        state.flush()
        if found["word"] is not None:
            number = found["number"]
            state.word(found["word"].decode(), int(number) if number else None, token)
        elif found["brace"] is not None:
            state.brace(token)
        elif state.skip:
            state.skip -= 1
        else:
            state.out.append(token)


def _plain(state: _Rewriter, token: bytes) -> None:
    """Text as typed; a line end is no character, and a trail byte may be a letter of ASCII."""
    while token and (state.skip or state.waiting):
        first, token = token[:1], token[1:]
        if first not in b"\r\n":
            state.characters(first)
    if _HIGH.search(token):
        state.characters(token.replace(b"\r", b"").replace(b"\n", b""))
    else:
        state.out.append(token)
