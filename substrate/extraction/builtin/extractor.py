"""The built-in extractor: no model is paid, no network is used, the same text gives the same claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from substrate.extraction.builtin import english
from substrate.extraction.builtin.passages import finish, plan
from substrate.extraction.claims import Extraction, Passage
from substrate.models import model_path
from substrate.settings import Settings, tame_native_threads

VERSION = "6"
"""Part of the key that claims are cached under: raise it by hand whenever the same text may read differently."""

_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))


class EnglishWords:
    """Ordinary English words, from the lemmatizer's own index."""

    def __init__(self, nlp: Any) -> None:
        tables = nlp.get_pipe("lemmatizer").lookups
        self._words: set[str] = set()
        for table in (tables.get_table("lemma_index"), tables.get_table("lemma_exc")):
            for part_of_speech in table:
                self._words.update(table[part_of_speech])

    def knows(self, word: str) -> bool:
        """Whether `word` (lower case) or what it is inflected from is an English word."""
        if word in self._words:
            return True
        return any(word.endswith(end) and word[: -len(end)] + base in self._words for end, base in _ENDINGS)


class BuiltinExtractor:
    """Patterns over a small parser for English, patterns alone for Chinese, tables and key-value lines."""

    name = "builtin"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.version = f"{VERSION}-{settings.numeric_dates}" if settings.numeric_dates else VERSION
        self._loaded: tuple[Any, EnglishWords] | None = None

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """One `Extraction` per passage, in order. Raises `ModelUnavailable` if the parser's files are missing."""
        nlp, lexicon = self._load()
        works = [plan(p, lexicon, self._settings.numeric_dates) for p in passages]
        waiting = [i for w in works for i in w.items if i.prepared is not None and i.prepared.parsable]
        docs = english.parse(nlp, (i.prepared for i in waiting if i.prepared is not None))
        for item, doc in zip(waiting, docs, strict=True):
            if item.prepared is not None:
                item.take(english.read(item.prepared, doc))
        return [finish(w) for w in works]

    def _load(self) -> tuple[Any, EnglishWords]:
        if self._loaded is None:
            nlp = _load_parser(self._settings)
            self._loaded = nlp, EnglishWords(nlp)
        return self._loaded


def _load_parser(settings: Settings) -> Any:
    """spaCy's small English parser, by path. Names are found by our own means, so its own finder is left out."""
    import warnings

    path = model_path(settings, "en_core_web_sm")
    tame_native_threads(settings.threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import spacy

        return spacy.load(path, exclude=["ner", "senter"])
