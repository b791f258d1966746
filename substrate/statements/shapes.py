"""What a pushed statement may say, and its reading as a claim. Every mistake names its field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationError

from substrate.documents.checks import check_text
from substrate.errors import InvalidInput
from substrate.extraction.claims import Claim, ClaimTime, Value
from substrate.ledger.corrections import parse_end, parse_start
from substrate.ontology.terms import Ontology, Relation

MOST = 200
"""Statements and names of one push."""
MOST_QUALIFIERS = 20
NAMING = "known as"
Problem = dict[str, str]
"""``field`` and ``message``."""


def _storable(text: str) -> str:
    try:
        check_text(text, "text", blank=False, most=len(text))
    except InvalidInput as error:
        raise ValueError(str(error).removeprefix("text ")) from error
    return text


Name = Annotated[str, Field(max_length=300), AfterValidator(_storable)]
Words = Annotated[str, Field(max_length=2_000), AfterValidator(_storable)]


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GivenValue(_Item):
    """A literal with its parts; `raw` alone is enough."""

    raw: Name
    number: Decimal | None = None
    unit: Name | None = None
    type: Literal["text", "number", "money", "date", "bool"] | None = None


class Statement(_Item):
    """Subject, relation, and an object or a value; who says so, and when it holds.

    The relation is a declared key (`predicate`) or words (`phrase`) that are bound as those of a document are.
    """

    subject: Name
    subject_kind: Name | None = None
    predicate: Name | None = None
    phrase: Name | None = None
    object: Name | None = None
    object_kind: Name | None = None
    value: StrictBool | int | float | Name | GivenValue | None = None
    qualifiers: dict[Name, Name] = Field(default_factory=dict, max_length=MOST_QUALIFIERS)
    valid_from: Name | None = None
    valid_to: Name | None = None
    """The last unit it holds in, as "2024-03"; ``unknown``: it ended, nobody says when."""
    at: Name | None = None
    """The one moment or period in which it happened, in place of the two."""
    denies: bool = False
    """It was never so."""
    corrects: bool = False
    """It corrects what was said before."""
    quote: Words | None = None
    """The words that say so; without them the statement is spelled out."""
    ref: Name | None = None
    """Where in the source it stands, as the source calls it: a row, a field, a link."""


class OtherName(_Item):
    """Another name of an entity."""

    entity: Name
    other_name: Name
    kind: Name | None = None
    quote: Words | None = None
    ref: Name | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """An item as the claim it makes. `text` is the passage it stands on."""

    index: int
    text: str
    claim: Claim
    ref: str | None


def read_statements(
    items: Sequence[Mapping[str, Any]], ontology: Ontology
) -> tuple[list[Read], dict[int, list[Problem]]]:
    """Claims of the items that can be read, and for each other one what is wrong with it."""
    good, bad = list[Read](), dict[int, list[Problem]]()
    for index, item in enumerate(items):
        try:
            good.append(_statement(index, Statement.model_validate(item), ontology))
        except ValidationError as error:
            bad[index] = _problems("statements", index, error)
        except InvalidInput as error:
            field = f"statements[{index}].{error.facts['field']}"
            bad[index] = [{"field": field, "message": str(error)}]
    return good, bad


def read_names(items: Sequence[Mapping[str, Any]], first: int) -> tuple[list[Read], dict[int, list[Problem]]]:
    """As `read_statements`, of other names; their indices go on at `first`."""
    good, bad = list[Read](), dict[int, list[Problem]]()
    for index, item in enumerate(items):
        try:
            name = OtherName.model_validate(item)
        except ValidationError as error:
            bad[first + index] = _problems("names", index, error)
            continue
        text = name.quote or f"{name.entity} is also known as {name.other_name}."
        claim = Claim(
            name.entity,
            NAMING,
            text,
            0,
            len(text),
            value=Value(name.other_name),
            subject_kind=name.kind,
            wording=NAMING,
        )
        good.append(Read(first + index, text, claim, name.ref))
    return good, bad


def _problems(listed: str, index: int, error: ValidationError) -> list[Problem]:
    found: dict[str, str] = {}
    for e in error.errors(include_url=False, include_input=False):
        # A value may be many things; that it is none of them is one mistake.
        at = "value" if e["loc"][:1] == ("value",) else ".".join(str(part) for part in e["loc"])
        message = "must be text, a number, true, false, or an object with raw" if at == "value" else e["msg"]
        found.setdefault(f"{listed}[{index}].{at}".rstrip("."), message)
    return [{"field": field, "message": message} for field, message in found.items()]


def _statement(index: int, said: Statement, ontology: Ontology) -> Read:
    relation, phrase, wording = _relation(said, ontology)
    value = _value(said, relation)
    other = said.object if said.object is not None else value.raw if value else ""
    text = said.quote or f"{said.subject} {relation.label if relation else phrase} {other}."
    claim = Claim(
        said.subject,
        phrase,
        text,
        0,
        len(text),
        object=said.object,
        value=value,
        subject_kind=said.subject_kind,
        object_kind=said.object_kind if said.object is not None else None,
        time=_time(said),
        denies=said.denies,
        corrects=said.corrects,
        qualifiers=tuple(sorted(said.qualifiers.items())),
        wording=wording,
    )
    return Read(index, text, claim, said.ref)


def _wrong(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, field=field)


def _relation(said: Statement, ontology: Ontology) -> tuple[Relation | None, str, str]:
    """The declared relation, if one is named, with the phrase and the wording that bind to it."""
    if (said.predicate is None) == (said.phrase is None):
        raise _wrong("predicate", "give either predicate or phrase")
    if said.phrase is not None:
        return None, said.phrase, said.phrase
    relation = ontology.by_key.get(said.predicate or "")
    if relation is None:
        raise _wrong("predicate", f"{said.predicate!r} is not declared")
    words = (relation.label, relation.key.replace("_", " "), *relation.aliases)
    own = next((w for w in words if ontology.bind(w) == (relation, False)), None)
    if own is None:
        raise _wrong("predicate", f"every word of {relation.key} names another relation first; give a phrase")
    return relation, own, own


def _value(said: Statement, relation: Relation | None) -> Value | None:
    if (said.object is None) == (said.value is None):
        raise _wrong("object", "give either object or value")
    if relation is not None and relation.kind == "attribute" and said.value is None:
        raise _wrong("object", f"{relation.key} is an attribute: give a value")
    if relation is not None and relation.kind != "attribute" and said.object is None:
        raise _wrong("value", f"{relation.key} is a relation: give an object")
    if said.value is None:
        return None
    value = _literal(said.value, relation)
    if relation is not None and relation.datatype in ("number", "money") and value.number is None:
        raise _wrong("value", f"{relation.key} takes a number")
    return value


def _literal(given: bool | int | float | str | GivenValue, relation: Relation | None) -> Value:
    unit = relation.unit if relation else None
    money: Literal["number", "money"] = "money" if relation is not None and relation.datatype == "money" else "number"
    if isinstance(given, bool):
        return Value("true" if given else "false", datatype="bool")
    if isinstance(given, int | float):
        number = Decimal(str(given))
        if not number.is_finite():
            raise _wrong("value", "must be finite")
        return Value(str(given), number, unit, money)
    if isinstance(given, str):
        declared = relation.datatype if relation and relation.datatype in ("date", "bool") else "text"
        return Value(given, datatype=declared)
    if given.number is None:
        if given.unit is not None or given.type in ("number", "money"):
            raise _wrong("value", "a unit, a number or a sum needs number")
        return Value(given.raw, datatype=given.type or "text")
    if not given.number.is_finite():
        raise _wrong("value", "number must be finite")
    return Value(given.raw, given.number, given.unit or unit, given.type or money)


def _time(said: Statement) -> ClaimTime:
    if said.at is not None:
        if said.valid_from is not None or said.valid_to is not None:
            raise _wrong("at", "give either at, or valid_from and valid_to")
        start = _parsed("at", parse_start, said.at)
        end = _parsed("at", parse_end, said.at)
        if end.at == start.at:  # a moment is over at once; what happens in it has it as its bucket
            return ClaimTime(start.at, start.precision, words=said.at, at_event=True)
        return ClaimTime(start.at, start.precision, end.at, end.precision, words=said.at, at_event=True)
    start, end = _parsed("valid_from", parse_start, said.valid_from), _parsed("valid_to", parse_end, said.valid_to)
    if start.at is not None and end.at is not None and end.at <= start.at:  # lint: axis what a caller gave is in order
        raise _wrong("valid_to", "must lie after valid_from")
    words = " – ".join(t for t in (said.valid_from, said.valid_to) if t is not None)
    return ClaimTime(start.at, start.precision, end.at, end.precision, words=words)


def _parsed(field: str, parse: Any, text: str | None) -> Any:
    try:
        return parse(text)
    except InvalidInput as error:
        raise _wrong(field, str(error)) from error
