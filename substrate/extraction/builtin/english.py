"""English sentences: masked, parsed, framed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from substrate.extraction.builtin import (
    frames_figures,
    frames_leaving,
    frames_measures,
    frames_moments,
    frames_mutual,
    frames_names,
    frames_roles,
    frames_values,
)
from substrate.extraction.builtin.clauses import clauses_of
from substrate.extraction.builtin.corrections import Correction, apply, rewrite
from substrate.extraction.builtin.drafts import Draft, Findings
from substrate.extraction.builtin.frames import Scene, read_clauses
from substrate.extraction.builtin.frames_places import beside_names
from substrate.extraction.builtin.happenings import happened
from substrate.extraction.builtin.idioms import plainly
from substrate.extraction.builtin.intervals import interval
from substrate.extraction.builtin.masking import Masked, mask, without
from substrate.extraction.builtin.moods import sentence_mood
from substrate.extraction.builtin.names import Lexicon
from substrate.extraction.builtin.ownership import owners_of
from substrate.extraction.builtin.terms import POINTING, Reader, Term
from substrate.extraction.claims import Mood, Value
from substrate.extraction.times import Anchor

_SPECIAL = (
    frames_names.renamed,
    frames_mutual.mutual,
    frames_mutual.sold,
    frames_mutual.held_as,
    frames_roles.redirected,
    frames_roles.succeeded,
    frames_roles.took_over,
    frames_roles.handed_over,
    frames_figures.staffed,
    frames_figures.priced,
    frames_figures.governed,
    frames_measures.placed_by_kind,
    frames_measures.stated,
    frames_measures.sized,
    frames_measures.versioned,
    frames_measures.worth,
    frames_measures.due,
    frames_measures.paying,
    frames_measures.reachable,
    frames_measures.holders_listed,
    frames_measures.supplied,
    frames_measures.present,
    frames_values.copula,
    frames_values.has,
    frames_values.paid,
    frames_values.moved,
    frames_values.changed,
    frames_measures.reached,
    frames_measures.allotted,
    frames_moments.retired,
    frames_leaving.quit_role,
    frames_roles.appointed,
    frames_leaving.joined,
    frames_moments.began,
)
_UNKNOWN_DATE = re.compile(
    r",?\s*\b(?:(?P<until>until|till|to|through|up to)|on|at|from|since) (?:an?|some) "
    r"(?:unknown|unrecorded|unspecified|undocumented|uncertain|later but unknown|unstated|unnamed) (?:date|day|"
    r"time|point|"
    r"moment)(?: in time)?\b|,?\s*\b(?:(?P<until2>until)|on) a (?:date|day|time) (?:that (?:is|was) )?(?:not "
    r"(?:recorded|known|"
    r"stated|given)|nobody recorded|unknown)\b",
    re.IGNORECASE,
)
_FRAGMENT = 3
"""A name with so few words beside it is a label, and nothing is lost with it."""
_LONGEST = 120
_MOST_BRACKETS = 5
"""Words and brackets; a sentence with more is a list or a table in disguise and is not parsed."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A sentence ready for the parser."""

    masked: Masked
    correction: Correction
    mood: Mood | None
    aliases: tuple[Draft, ...] = ()
    ends_unknown: bool = False
    """ "… until an unknown date"."""

    @property
    def parsable(self) -> bool:
        return 2 <= len(self.masked.units) <= _LONGEST and self.masked.text.count("(") <= _MOST_BRACKETS


def prepare(text: str, anchor: Anchor | None, lexicon: Lexicon, known: frozenset[str]) -> Prepared:
    masked, correction = rewrite(mask(text, anchor, lexicon, known))
    masked = without(masked, {i for i, u in enumerate(masked.units) if not u.parsed_as})
    masked, aliases = frames_names.lift_aliases(masked)
    masked = plainly(masked)
    masked, ends_unknown = _without_unknown_end(masked)
    mood = sentence_mood(text)
    if mood == "planned" and correction.corrects:
        mood = None
    return Prepared(masked, correction, mood, aliases, ends_unknown)


def _without_unknown_end(masked: Masked) -> tuple[Masked, bool]:
    m = _UNKNOWN_DATE.search(masked.text)
    if m is None:
        return masked, False
    gone = {i for i, u in enumerate(masked.units) if m.start() <= u.start < m.end()}
    return without(masked, gone), bool(m.group("until") or m.group("until2"))


def parse(nlp: Any, prepared: Iterable[Prepared]) -> Iterator[Any]:
    """spaCy documents for the prepared sentences, in order; one sentence each."""
    from spacy.tokens import Doc

    def docs() -> Iterator[Any]:
        for item in prepared:
            words = [u.parsed_as for u in item.masked.units]
            spaces = [w not in {"(", "[", "$"} for w in words]
            starts = [i == 0 for i in range(len(words))]
            yield Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts)

    return nlp.pipe(docs(), batch_size=64)  # type: ignore[no-any-return]


def read(prepared: Prepared, doc: Any) -> Findings:
    """Claims in draft of one parsed sentence."""
    reader, findings = Reader(doc, prepared.masked), Findings()
    scene = Scene(reader, findings, tuple(clauses_of(reader, prepared.mood)))
    read_clauses(scene, _SPECIAL, happened)
    findings.about = _topic(scene)
    frames_names.appositions(scene, prepared.mood)
    beside_names(scene, prepared.mood)
    findings.drafts = [_in_own_time(d, reader) for d in findings.drafts if _makes_sense(d)]
    findings.drafts.extend(prepared.aliases)
    named = any(u.kind == "name" for u in prepared.masked.units)
    if (
        named
        and (scene.clauses or len(prepared.masked.units) > _FRAGMENT)
        and not findings.drafts
        and not findings.drops
    ):
        findings.drop("no_frame", scene.clauses[0].lemma if scene.clauses else "", scene.text)
    if prepared.ends_unknown:
        findings.drafts = [_open_ended(d) for d in findings.drafts]
    findings.drafts = apply(_unique(findings.drafts), prepared.correction)
    findings.drafts.extend(owners_of(findings.drafts))
    return findings


def _makes_sense(draft: Draft) -> bool:
    """Nobody owns a percentage or a person, and a number is in nobody's charge: the parser took the wrong word."""
    owning = draft.phrase in {"owns", "responsible for", "acquired"}
    if not owning or isinstance(draft.object, Value):
        return not owning or (draft.object.unit != "%" and draft.phrase != "responsible for")
    return draft.phrase == "responsible for" or draft.object.kind != "person" or draft.subject.kind != "person"


def _topic(scene: Scene) -> Term | None:
    """The one subject of the first main clause, if it points at something."""
    main = next((c for c in scene.clauses if c.verb.dep_ in {"ROOT", "conj"}), None)
    terms = scene.terms(main.subjects) if main is not None else []
    if len(terms) != 1:
        return None
    term = terms[0].owner if terms[0].sort == "attribute" and terms[0].owner is not None else terms[0]
    return term if term.sort in POINTING and term.text not in {"i", "we", "you", "they"} else None


def _in_own_time(draft: Draft, reader: Reader) -> Draft:
    """A name with its own time in brackets holds what is said in that time."""
    ends = [t for t in (draft.subject, draft.object) if isinstance(t, Term) and t.unit is not None]
    own = next((reader.own[t.unit.start] for t in ends if t.unit and t.unit.start in reader.own), None)
    return replace(draft, time=interval(own, "state")) if own and not draft.time.at_event else draft


def _open_ended(draft: Draft) -> Draft:
    """The same with its end unknown, unless it has one."""
    if draft.time.valid_to is not None or draft.time.at_event:
        return draft
    return replace(draft, time=replace(draft.time, valid_to_precision="unknown"))


def _unique(drafts: list[Draft]) -> list[Draft]:
    """Drops what is said twice, and of two that differ in time alone the one without."""
    kept: dict[tuple[object, ...], Draft] = {}
    for draft in drafts:
        key = (
            draft.subject.text,
            draft.phrase,
            getattr(draft.object, "raw", getattr(draft.object, "text", "")),
            draft.mood,
        )
        old = kept.get(key)
        if old is None or (not old.time.words and draft.time.words and not _ends(old)):
            kept[key] = draft if old is None else replace(draft, confidence=max(old.confidence, draft.confidence))
        elif old.time != draft.time and draft.time.words:
            kept[(*key, draft.time)] = draft
    return list(kept.values())


def _ends(draft: Draft) -> bool:
    return draft.time.valid_to_precision is not None
