"""Turns of phrase that mean a plain verb: "was put in charge of", "X's appointment as R took effect".

A sentence is written down as one sign per unit (``Np`` a person's name, ``R`` a role, words in lower case), the table's
patterns are tried on it, and what matches is laid out anew for the parser with one verb in its place. That verb keeps
the source's words, so that a claim can still say how it was put.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from substrate.extraction.builtin.idiom_table import IDIOMS, Idiom
from substrate.extraction.builtin.masking import Masked, Unit
from substrate.extraction.times import TimeMention

_KINDS = {"person": "p", "organization": "o", "project": "j", "place": "l", "product": "d"}
_OTHER_STAND_INS = {
    "become": {"owned": "became", "owns": "becomes", "own": "become", "owning": "becoming"},
    "pass": {"owned": "went", "owns": "goes", "own": "go", "owning": "going"},
}
_PAST = {"took", "taken", "gave", "given", "laid", "left", "been", "was", "were", "had", "put", "became", "made"}


@dataclass(frozen=True, slots=True)
class _Coded:
    """The sentence as signs, and where each unit's sign begins."""

    text: str
    starts: tuple[int, ...]

    def index(self, at: int) -> int:
        """The unit at character `at`, or the one after it."""
        return sum(s < at for s in self.starts)


def plainly(masked: Masked) -> Masked:
    """`masked` with every idiom in its plain form; at most one rewriting per idiom."""
    coded = _code(masked.units)
    for idiom in IDIOMS:
        if (m := idiom.regex.search(coded.text)) is not None:
            masked = _rewritten(masked, coded, m, idiom)
            coded = _code(masked.units)
    return masked


def _code(units: tuple[Unit, ...]) -> _Coded:
    signs = [_sign(u) for u in units]
    starts, at = [], 0
    for sign in signs:
        starts.append(at)
        at += len(sign) + 1
    return _Coded(" ".join(signs), tuple(starts))


def _sign(unit: Unit) -> str:
    if unit.kind == "name":
        return "N" + _KINDS.get(unit.guess or "", "x")
    if unit.kind in {"role", "amount", "time"}:
        return {"role": "R", "amount": "A", "time": "T"}[unit.kind]
    return unit.text.lower().replace(" ", "_") or "_"


def _rewritten(masked: Masked, coded: _Coded, m: re.Match[str], idiom: Idiom) -> Masked:
    first, stop = coded.index(m.start()), coded.index(m.end())
    groups = {
        name: masked.units[coded.index(m.start(name)) : coded.index(m.end(name))]
        for name in m.re.groupindex
        if m.group(name)
    }
    made = [u for part in idiom.plain.split() for u in _part(part, groups)]
    times = tuple(_shifted(masked.times, first, stop, len(made)))
    if "when" in groups:
        times += tuple((first + len(made), u.mention) for u in groups["when"] if u.mention is not None)
    return Masked(masked.text, (*masked.units[:first], *made, *masked.units[stop:]), times)


def _part(part: str, groups: dict[str, tuple[Unit, ...]]) -> Iterator[Unit]:
    """``<n>`` is a group as it stands, ``v:lemma`` the verb of the words in group ``v``, ``+as`` a word put in."""
    if part.startswith("<"):
        yield from groups.get(part[1:-1], ())
        return
    if part.startswith("+"):
        at = max((u.end for g in groups.values() for u in g), default=0)
        yield Unit("word", at, at, part[1:], part[1:])
        return
    name, _, lemma = part.partition(":")
    units = groups.get(name, ())
    if not units:
        return
    # The verb stands for the words of its group; the text between them is read off the sentence later.
    whole = replace(units[0], kind="word", end=units[-1].end, text=_words(units), group=(), mention=None, title=None)
    if part == "not":
        yield replace(whole, parsed_as="did")
        yield whole
    else:
        lemma = lemma.replace("_", " ")
        form = _form(units)
        parsed_as = _OTHER_STAND_INS.get(lemma, {}).get(form, form)
        yield replace(whole, lemma=lemma, parsed_as=parsed_as)


def _words(units: tuple[Unit, ...]) -> str:
    return " ".join(u.text for u in units)


def _form(units: tuple[Unit, ...]) -> str:
    """The form of the stand-in "own" that has the tense of the idiom's first word."""
    first = units[0].text.lower()
    if first in {"be", "take", "assume", "give", "form", "enter", "end", "bear", "have", "get", "lay"}:
        return "own"
    if first.endswith("ing"):
        return "owning"
    if first in {"is", "are"} or (first.endswith("s") and first not in _PAST):
        return "owns"
    return "owned"


def _shifted(
    times: tuple[tuple[int, TimeMention], ...], first: int, stop: int, made: int
) -> Iterator[tuple[int, TimeMention]]:
    for at, mention in times:
        if at >= stop:
            yield at - (stop - first) + made, mention
        else:
            yield (first + made if at > first else at), mention
