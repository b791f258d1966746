"""English sentences: masked, parsed, framed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from substrate.extraction.builtin import frames_names, frames_roles, frames_values
from substrate.extraction.builtin.clauses import clauses_of
from substrate.extraction.builtin.corrections import Correction, apply, rewrite
from substrate.extraction.builtin.drafts import Draft, Findings
from substrate.extraction.builtin.frames import Scene, read_clauses
from substrate.extraction.builtin.idioms import plainly
from substrate.extraction.builtin.masking import Masked, mask, without
from substrate.extraction.builtin.moods import sentence_mood
from substrate.extraction.builtin.names import Lexicon
from substrate.extraction.builtin.terms import Reader
from substrate.extraction.claims import Mood
from substrate.extraction.times import Anchor

_SPECIAL = (
    frames_names.renamed,
    frames_roles.succeeded,
    frames_roles.took_over,
    frames_roles.handed_over,
    frames_values.copula,
    frames_values.has,
    frames_values.paid,
    frames_values.moved,
    frames_values.changed,
    frames_roles.quit_role,
    frames_roles.appointed,
    frames_roles.joined,
    frames_values.began,
)
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

    @property
    def parsable(self) -> bool:
        return 2 <= len(self.masked.units) <= _LONGEST and self.masked.text.count("(") <= _MOST_BRACKETS


def prepare(text: str, anchor: Anchor | None, lexicon: Lexicon, known: frozenset[str]) -> Prepared:
    masked, correction = rewrite(mask(text, anchor, lexicon, known))
    masked = without(masked, {i for i, u in enumerate(masked.units) if not u.parsed_as})
    masked, aliases = frames_names.lift_aliases(masked)
    masked = plainly(masked)
    mood = sentence_mood(text)
    if mood == "planned" and correction.corrects:
        mood = None
    return Prepared(masked, correction, mood, aliases)


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
    read_clauses(scene, _SPECIAL)
    frames_names.appositions(scene, prepared.mood)
    findings.drafts.extend(prepared.aliases)
    findings.drafts = apply(_unique(findings.drafts), prepared.correction)
    return findings


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
