"""From bound claims with resolved names to drafts for the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from substrate.extraction.claims import Value
from substrate.identity.claims import BoundClaim
from substrate.ledger.drafts import KNOWN_AS, Draft, Evidence, Origin, normalise_name


def names_in(claims: Sequence[BoundClaim]) -> dict[str, str | None]:
    """Every surface name in these claims with a guess of its kind; the first guess wins."""
    found: dict[str, str | None] = {}
    for claim in claims:
        b = claim.bound
        for name, kind in ((b.subject_name, b.subject_kind), (b.object_name, b.object_kind)):
            if name is not None:
                found[name] = found.get(name) or kind
    return found


def drafts_of(claims: Sequence[BoundClaim], entities: Mapping[str, UUID]) -> list[Draft]:
    """One draft per claim, and one ``known_as`` per name, entity and chunk."""
    drafts = [draft_of(claim, entities) for claim in claims]
    return [*_paired(claims, drafts), *_names(claims, entities)]


def draft_of(claim: BoundClaim, entities: Mapping[str, UUID]) -> Draft:
    """The draft of one claim."""
    row, bound = claim.row, claim.bound
    origin: Origin = "memory" if claim.kind == "memory" else "document"
    return Draft(
        source_key=f"claim:{claim.id}",
        subject_id=entities[bound.subject_name],
        phrase=row["phrase"],
        predicate_key=bound.predicate_key,
        object_id=None if bound.object_name is None else entities[bound.object_name],
        value=bound.value,
        time=claim.time,
        attested_at=claim.attested_at,
        denies=row["denies"],
        corrects=row["corrects"],
        origin=origin,
        confidence=row["confidence"],
        qualifiers=tuple((str(k), str(v)) for k, v in row["qualifiers"]),
        evidence=_evidence(claim, row["wording"] or row["phrase"]),
    )


def _evidence(claim: BoundClaim, wording: str) -> Evidence:
    row = claim.row
    return Evidence(
        claim_id=claim.id,
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        version_id=row["version_id"],
        quote=row["quote"],
        quote_start=row["quote_start"],
        quote_end=row["quote_end"],
        wording=wording,
    )


def _paired(claims: Sequence[BoundClaim], drafts: list[Draft]) -> list[Draft]:
    """Tell "B" of "B, not A" what it replaces: the denial that shares its sentence, subject and relation."""
    denied = {
        (c.row["chunk_id"], c.row["quote_start"], d.subject_id, d.relation): d.object_key({})
        for c, d in zip(claims, drafts, strict=True)
        if d.denies
    }
    if not denied:
        return drafts
    paired = []
    for c, d in zip(claims, drafts, strict=True):
        replaced = denied.get((c.row["chunk_id"], c.row["quote_start"], d.subject_id, d.relation))
        if d.denies or replaced is None:
            paired.append(d)
        else:
            paired.append(_replacing(d, replaced))
    return paired


def _replacing(draft: Draft, replaced: str) -> Draft:
    from dataclasses import replace

    return replace(draft, corrects=True, replaces=replaced)


def _names(claims: Sequence[BoundClaim], entities: Mapping[str, UUID]) -> list[Draft]:
    found: dict[str, Draft] = {}
    for claim in claims:
        for name in (claim.bound.subject_name, claim.bound.object_name):
            if name is None:
                continue
            entity, norm = entities[name], normalise_name(name)
            key = f"name:{claim.row['chunk_id']}:{entity}:{norm}"
            if key not in found:
                found[key] = Draft(
                    source_key=key,
                    subject_id=entity,
                    phrase="known as",
                    predicate_key=KNOWN_AS,
                    value=Value(name.strip()),
                    attested_at=claim.attested_at,
                    origin="memory" if claim.kind == "memory" else "document",
                    evidence=_evidence(claim, name),
                )
    return list(found.values())
