"""What RDF from outside may not do: reach the network, grow without bound, or lie about its encoding.

Checked on the text before a parser of RDF sees it. Nothing named in a file is fetched: an ``owl:imports`` is noted, a
JSON-LD context that is an address and an XML entity that is outside the file are refused.
"""

from __future__ import annotations

import json
import re
from typing import Any
from xml.parsers import expat

from substrate.errors import InvalidInput

MOST_ENTITIES = 200
MOST_EXPANDED = 16 * 1024 * 1024
"""Characters that the entities of a file may stand for, all their uses together."""
MOST_DEPTH = 200
_DECLARED = re.compile(r"""\A\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
_PLAIN = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


def guard_xml(text: str) -> None:
    """Raise `InvalidInput` for entities outside the file, in one another or too many, and for another encoding."""
    if (declared := _DECLARED.match(text)) and declared[1].lower() not in _PLAIN:
        raise InvalidInput(f"the XML says it is {declared[1]}, and it is UTF-8", field="file")
    if "<!ENTITY" not in text and "<!DOCTYPE" not in text:
        _depth_of_xml(text)
        return
    entities: dict[str, str] = {}

    def entity(
        name: str, parameter: bool, value: str | None, base: Any, system: Any, public: Any, notation: Any
    ) -> None:
        if parameter or value is None or system or public or notation:
            raise InvalidInput(f"the XML names an entity outside the file: {name}", field="file")
        if "&" in value or "%" in value:
            raise InvalidInput(f"the XML has entities in one another: {name}", field="file")
        entities[name] = value
        if len(entities) > MOST_ENTITIES:
            raise InvalidInput(f"the XML has more than {MOST_ENTITIES} entities", field="file")

    def doctype(name: str, system: str | None, public: str | None, internal: bool) -> None:
        if system or public:
            raise InvalidInput("the XML names a document type outside the file", field="file")

    def attributes(element: str, name: str, *_: Any) -> None:
        raise InvalidInput(f"the XML gives {element} an attribute that it does not have: {name}", field="file")

    _declarations(text, entity, doctype, attributes)
    grown = sum(len(value) * text.count(f"&{name};") for name, value in entities.items())
    if grown > MOST_EXPANDED:
        raise InvalidInput(
            f"the entities of the XML stand for {grown} characters; at most {MOST_EXPANDED}", field="file"
        )
    _depth_of_xml(text)


def _declarations(text: str, entity: Any, doctype: Any, attributes: Any) -> None:
    """Only what stands before the first element, so that nothing is expanded yet."""

    class _Begun(Exception):
        pass

    def begun(*_: Any) -> None:
        raise _Begun

    parser = expat.ParserCreate("utf-8")
    parser.AttlistDeclHandler = attributes
    parser.EntityDeclHandler, parser.StartDoctypeDeclHandler, parser.StartElementHandler = entity, doctype, begun
    try:
        parser.Parse(text.encode(), True)
    except _Begun:
        return
    except expat.ExpatError as error:
        raise InvalidInput(f"the file is not valid XML: {error}", field="file") from None


def _depth_of_xml(text: str) -> None:
    depth = 0

    def deeper(*_: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise InvalidInput(f"the XML is nested more than {MOST_DEPTH} deep", field="file")

    def back(*_: Any) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = deeper, back
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise InvalidInput(f"the file is not valid XML: {error}", field="file") from None


def guard_json(text: str) -> Any:
    """The JSON of a text. Raises `InvalidInput` for what is none, and for a context that would have to be fetched."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the file is not valid JSON: {error}", field="file") from None
    todo: list[tuple[Any, int]] = [(data, 0)]
    while todo:
        value, depth = todo.pop()
        if depth > MOST_DEPTH:
            raise InvalidInput(f"the JSON is nested more than {MOST_DEPTH} deep", field="file")
        if isinstance(value, dict):
            if "@import" in value:
                raise InvalidInput("a context that is imported is not fetched: write it into the file", field="@import")
            _no_address(value.get("@context"))
            todo += [(v, depth + 1) for v in value.values()]
        elif isinstance(value, list):
            todo += [(v, depth + 1) for v in value]
    return data


def _no_address(context: Any) -> None:
    for part in context if isinstance(context, list) else [context]:
        if isinstance(part, str):
            raise InvalidInput(f"the context {part!r} is not fetched: write it into the file", field="@context")
