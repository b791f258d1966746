"""The parts that the tools' schemas are made of."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

DATE = "YYYY[-MM[-DD]] or RFC 3339"
AS_OF = f"Record time: what was held then. {DATE} or seq:N."
AT = f"World time: what held then. {DATE}."


def text(description: str, **more: Any) -> Json:
    """An argument of text."""
    return {"type": "string", "description": description, **more}


def limit(most: int) -> Json:
    """How many rows at most."""
    return {"type": "integer", "minimum": 1, "maximum": most}


CURSOR = text("next_cursor of the page before.")
ENTITY = text("An entity's id or name.", minLength=1, maxLength=300)
PREDICATE = text("Part of a relation's name.", maxLength=200)
KIND = text("Class of the other entity.", maxLength=200)
MOMENTS = {
    "as_of": text(AS_OF),
    "before": text("Record time, strictly before; wins over as_of."),
}


def takes(required: tuple[str, ...], **properties: Json) -> Json:
    """What a tool takes: these arguments and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def maybe(kind: str) -> Json:
    """A field that may be null."""
    return {"type": [kind, "null"]}


STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
BOOLEAN: Json = {"type": "boolean"}
STRINGS: Json = {"type": "array", "items": STRING}


def fields(**properties: Json) -> Json:
    """An object that has all of these fields and may have more."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def rows(**properties: Json) -> Json:
    """Rows with these fields, all of which are there; to say so again would lengthen the list of tools by a quarter."""
    return {"type": "array", "items": {"type": "object", "properties": properties}}


OBJECTS: Json = {"type": "array", "items": {"type": "object"}}
ENVELOPE = {"kb_id": STRING, "as_of": STRING, "seq": INTEGER, "head_hash": STRING}
HINTS = {"hints": rows(kind=STRING, says=STRING, tool=STRING, arguments={"type": "object"}, items=STRINGS)}
TODAY = {"status": STRING, "successor_id": maybe("string")}
SUBJECT = fields(id=STRING, name=STRING, type_key=maybe("string"), type_label=maybe("string"))
INTERVAL = {
    "valid_from": maybe("string"),
    "valid_to": maybe("string"),
    "valid_from_precision": maybe("string"),
    "valid_to_precision": maybe("string"),
}
FACTS = rows(
    id=STRING,
    direction={"type": "string", "enum": ["in", "out"]},
    predicate_key=maybe("string"),
    predicate_label=STRING,
    inferred=BOOLEAN,
    temporal=STRING,
    other_id=maybe("string"),
    other_name=maybe("string"),
    object_value=maybe("object"),
    confidence={"type": "number"},
    qualifiers={"type": "array", "items": {"type": "object"}},
    **INTERVAL,
    holds_from=maybe("string"),
    holds_to=maybe("string"),
    undated=BOOLEAN,
    contested={"type": "array", "items": {"type": "object"}},
    recorded_at=STRING,
    invalidated_at=maybe("string"),
    supersedes=maybe("string"),
    document_ids=STRINGS,
    evidence_count=INTEGER,
    evidence={"type": "array", "items": {"type": "object"}},
    unconfirmed=BOOLEAN,
    rested_on={"type": "array", "items": {"type": "object"}},
    **TODAY,
    since=maybe("object"),
)
LINK = {
    "direction": STRING,
    "predicate_key": maybe("string"),
    "predicate_label": STRING,
    "confidence": {"type": "number"},
    **INTERVAL,
    "holds_from": maybe("string"),
    "holds_to": maybe("string"),
    "undated": BOOLEAN,
    "contested": OBJECTS,
    "unconfirmed": BOOLEAN,
    "document_ids": STRINGS,
    **TODAY,
    "since": maybe("object"),
}
PAGED = {
    "total_facts": INTEGER,
    "matched_facts": INTEGER,
    "limit": INTEGER,
    "truncated": BOOLEAN,
    "next_cursor": maybe("string"),
}
