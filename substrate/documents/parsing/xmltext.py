"""XML: the text between the tags in the order of the file, with records as tables and fields by their names.

Nothing is known of the vocabulary but a few names that many of them share for titles and paragraphs.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from substrate.documents.blocks import Block
from substrate.documents.parsing.decode import decode
from substrate.documents.parsing.limits import Limits, reject
from substrate.documents.parsing.tables import table_block
from substrate.documents.parsing.text import clean, one_line

_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{2,40})")
_PROLOG = re.compile(r"\s*<\?xml[^>]*\?>")
_TITLES = frozenset({"title", "heading", "head", "headline"})
_PROSE = frozenset("p para simpara paragraph text body abstract description summary content note quote li".split())
_FOR_PROGRAMS = frozenset({"id", "lang", "class", "style", "space"})
_DEEPEST = 200


def read_xml(content: bytes, filename: str, limits: Limits) -> Iterator[Block]:
    """Blocks anchored by the path of their element.

    Raises ``doctype`` where the file declares entities, and ``malformed`` where it is not well formed.
    """
    from lxml import etree

    named = _DECLARED.search(content[:512])
    text = clean(decode(content, filename, declared=named[1].decode("ascii") if named else None))
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(_PROLOG.sub("", text, count=1).encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        reject(filename, "malformed", f"is not well-formed XML ({error}); save it anew")
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        reject(filename, "doctype", "declares entities of its own, which we do not expand; save it without them")
    yield from _walk(root, (), 1, filename, limits)


def _walk(node: Any, path: tuple[str, ...], level: int, filename: str, limits: Limits) -> Iterator[Block]:
    if len(path) > _DEEPEST:
        reject(filename, "malformed", f"nests deeper than {_DEEPEST} levels; flatten it")
    children = _elements(node)
    if not children or _is_mixed(node):
        yield from _leaf(node, path, level)
        return
    yield from _attributes(node, path)
    titled = level + any(_name(child) in _TITLES for child in children)
    alike: dict[str, list[Any]] = {}
    for child in children:
        alike.setdefault(child.tag, []).append(child)
    tables = {tag: same for tag, same in alike.items() if len(same) > 1 and all(map(_is_record, same))}
    for child in children:
        below = (*path, _name(child))
        if child.tag not in tables:
            deeper = level if _name(child) in _TITLES else titled
            yield from _walk(child, below, deeper, filename, limits)
        elif child is tables[child.tag][0]:
            yield from _records(tables[child.tag], below, filename, limits)


def _leaf(node: Any, path: tuple[str, ...], level: int) -> Iterator[Block]:
    """Running text, or a field under its name."""
    anchor = {"path": ".".join(path)}
    words = _words(node)
    if words and _name(node) in _TITLES:
        yield Block("heading", words, level=level, anchor=anchor)
    elif words and (_name(node) in _PROSE or _is_mixed(node) or not path):
        yield Block("paragraph", words, anchor=anchor)
    elif words:
        yield Block("list_item", f"{'.'.join(path)}: {words}", anchor=anchor)
    yield from _attributes(node, path)


def _attributes(node: Any, path: tuple[str, ...]) -> Iterator[Block]:
    """Attributes as fields; those of running text that only serve programs are left out."""
    prose = _name(node) in _PROSE | _TITLES or _is_mixed(node)
    for key, value in node.attrib.items():
        if (shown := one_line(value)) and not (prose and _local(key) in _FOR_PROGRAMS):
            name = ".".join((*path, _local(key)))
            yield Block("list_item", f"{name}: {shown}", anchor={"path": name})


def _records(nodes: list[Any], path: tuple[str, ...], filename: str, limits: Limits) -> Iterator[Block]:
    rows = [_fields(node) for node in nodes]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    if len(keys) * len(rows) > limits.table_cells:
        reject(filename, "too_large", f"a table has over {limits.table_cells} cells; split the file")
    name = ".".join(path)
    yield table_block(keys, ([row.get(key, "") for key in keys] for row in rows), {"path": name, "row": 1}, name)


def _is_record(node: Any) -> bool:
    """A flat element: fields named by attributes and by children, each name once, and no text beside them.

    A title with prose below it is a section, and a paragraph with an attribute is a paragraph.
    """
    children = _elements(node)
    names = [_local(key) for key in node.attrib] + [_name(child) for child in children]
    if _name(node) in _PROSE | _TITLES or (_TITLES.intersection(names) and _PROSE.intersection(names)):
        return False
    flat = all(not _elements(child) and not child.attrib for child in children)
    return bool(names) and flat and len(set(names)) == len(names) and not (children and _is_mixed(node))


def _fields(node: Any) -> dict[str, str]:
    found = {_local(key): one_line(value) for key, value in node.attrib.items()}
    children = _elements(node)
    if not children and (words := _words(node)):
        found[_name(node)] = words
    return {**found, **{_name(child): _words(child) for child in children}}


def _is_mixed(node: Any) -> bool:
    """Whether text stands beside child elements."""
    children = _elements(node)
    return bool(children) and bool((node.text or "").strip() or any((c.tail or "").strip() for c in node))


def _elements(node: Any) -> list[Any]:
    return [child for child in node if isinstance(child.tag, str)]


def _words(node: Any) -> str:
    # An entity of an outside DTD stays as written, unless HTML knows it.
    entities = {child.text for child in node.iterdescendants() if not isinstance(child.tag, str)}
    return one_line("".join(html.unescape(part) if part in entities else part for part in node.itertext()))


def _name(node: Any) -> str:
    return _local(node.tag)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
