"""The phrases that held claims use: how often, in which spellings, and what their claims mostly look like."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.db import AnyConnection
from substrate.ontology.binding import NAMING, told_by_wording
from substrate.ontology.bindings_similarity import Profile
from substrate.ontology.phrases import plain_phrase
from substrate.ontology.terms import Ontology


@dataclass(slots=True)
class Phrase:
    """One plain phrase over all claims whose relation hangs on it."""

    plain: str
    claims: int = 0
    worded: int = 0
    """Further claims of the phrase, of which the wording tells the relation."""
    spellings: Counter[str] = field(default_factory=Counter)
    looks: Counter[tuple[str, str | None, str | None]] = field(default_factory=Counter)

    @property
    def profile(self) -> Profile:
        """The most frequent look; of as many, the first in the order of its words."""
        (form, subject, other), _ = min(self.looks.items(), key=lambda look: (-look[1], str(look[0])))
        return Profile(self.plain, form, subject, other)  # type: ignore[arg-type]


def phrases_in_use(connection: AnyConnection, kb_id: UUID, ontology: Ontology) -> dict[str, Phrase]:
    """Plain phrase → `Phrase`, over claims without mood in held chunks.

    Left out is what tells a name, and phrases whose every wording tells the relation itself.
    """
    found: dict[str, Phrase] = {}
    for row in connection.execute(sql.query("bindings_phrases"), {"kb_id": kb_id}).fetchall():
        plain = plain_phrase(row["phrase"])
        if plain in NAMING:
            continue
        phrase = found.setdefault(plain, Phrase(plain))
        if told_by_wording(ontology, row["phrase"], row["wording"]):
            phrase.worded += row["claims"]
            continue
        phrase.claims += row["claims"]
        phrase.spellings[row["phrase"]] += row["claims"]
        phrase.looks[row["form"], row["subject_kind"], row["object_kind"]] += row["claims"]
    return {plain: phrase for plain, phrase in found.items() if phrase.claims}


def by_frequency(phrases: Mapping[str, Phrase]) -> list[Phrase]:
    """Most frequent first, then by the phrase."""
    return sorted(phrases.values(), key=lambda p: (-p.claims, p.plain))


def examples(
    connection: AnyConnection, kb_id: UUID, phrases: Sequence[Phrase], most: int
) -> dict[str, list[dict[str, Any]]]:
    """Plain phrase → up to `most` claims that use it, of its most frequent spellings first."""
    spelled = {s: p.plain for p in phrases for s, _ in p.spellings.most_common(most)}
    asked = {"kb_id": kb_id, "phrases": list(spelled), "most": most}
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in connection.execute(sql.query("bindings_examples"), asked).fetchall():
        if len(found[spelled[row["phrase"]]]) < most:
            found[spelled[row["phrase"]]].append(row)
    return found
