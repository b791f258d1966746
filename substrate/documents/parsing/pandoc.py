"""ODT, RTF, EPUB, reStructuredText and Org: pandoc makes HTML of them, unstructured makes elements of that.

Why these and no others: docs/decisions/0004-unstructured-reads-what-has-no-reader-of-ours.md. Pandoc runs in its
sandbox, so that no directive of a document opens a file or an address, and under the limits of the process that
calls it.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from substrate.documents.blocks import Block, DocumentDate
from substrate.documents.parsing.dates import date_in_front_matter
from substrate.documents.parsing.decode import decode
from substrate.documents.parsing.limits import Limits, reject
from substrate.documents.parsing.markup import read_html, spans_filled
from substrate.documents.parsing.rich import rewrite
from substrate.documents.parsing.text import LIST_MARK, clean, one_line
from substrate.settings import tame_native_threads

PANDOC = frozenset({"odt", "rtf", "epub", "rst", "org"})
_JOINER = "\u2060"
_HOLDS_TEXT = ("p", "li", "dt", "dd", "div", "blockquote", "figcaption", *(f"h{level}" for level in range(1, 7)))
_KEYWORD = re.compile(r"^#\+(title|date):[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
# Org shows three levels of headings unless told otherwise; a document's own setting comes later and wins.
_ORG_LEVELS = "#+OPTIONS: H:6\n"
_DIED = re.compile(r"exitcode \"(-?\d+)\"")
_OUT_OF_MEMORY, _OUT_OF_TIME = frozenset({-9, -6, 251, 254}), frozenset({-24})
_DC = "{http://purl.org/dc/elements/1.1/}"
Read = tuple[str, DocumentDate | None, Iterator[Block]]


def read_with_pandoc(kind: str, content: bytes, filename: str, limits: Limits) -> Read:
    """Title and date where the format states them, and blocks anchored by element number in reading order.

    Call it in a worker: unstructured takes 250 MB and seconds to load. Raises the codes of `parse`.
    """
    title, date, restored = "", None, dict[int, str]()
    if kind == "rtf":
        rewritten = rewrite(content, filename)
        content, restored = rewritten.content, rewritten.restored
    elif kind == "epub":
        title, date = _package(content, filename)
    elif kind == "odt":
        _refuse_password(content, filename)
    else:
        text = clean(decode(content, filename))
        if kind == "org":
            title, date = _keywords(text)
            text = _ORG_LEVELS + text
        content = text.encode("utf-8")
    return title, date, _blocks(_html(kind, content, filename), filename, limits, restored)


@cache
def _unstructured() -> None:
    """Make unstructured work offline: no notice, no telemetry, and sentences split by rule.

    It would otherwise download a spaCy model from the network at the first paragraph.
    """
    tame_native_threads(1)
    import pypandoc
    import spacy
    import unstructured.nlp.tokenize as tokenize

    splitter = spacy.blank("en")
    splitter.add_pipe("sentencizer")
    # Both names are private: the pins in pyproject.toml and a test hold them.
    _replace(tokenize, "_get_nlp", lambda: splitter)
    _replace(pypandoc, "__pandoc_path", str(bundled_pandoc()))


def _replace(module: Any, name: str, value: object) -> None:
    if not hasattr(module, name):
        raise ImportError(f"{module.__name__} has no {name} any more; see substrate/documents/parsing/pandoc.py")
    setattr(module, name, value)


def bundled_pandoc() -> Path:
    """The pandoc of the wheel: a newer one of the machine must not change what a document says."""
    spec = find_spec("pypandoc")
    if spec is None or spec.origin is None:
        raise ImportError("pypandoc_binary is not installed; install from locks/runtime.lock")
    return Path(spec.origin).with_name("files") / "pandoc"


def _html(kind: str, content: bytes, filename: str) -> str:
    _unstructured()
    from unstructured.errors import UnprocessableEntityError
    from unstructured.file_utils.file_conversion import convert_file_to_html_text_using_pandoc

    try:
        return str(convert_file_to_html_text_using_pandoc(source_format=kind, file=io.BytesIO(content)))
    except (RuntimeError, UnprocessableEntityError) as error:
        _explain(kind, str(error), filename)


def _explain(kind: str, error: str, filename: str) -> NoReturn:
    """What pandoc died of, without the place of our temporary file."""
    found = _DIED.search(error)
    code = int(found[1]) if found else 0
    if code in _OUT_OF_MEMORY or "out of memory" in error or "heap exhausted" in error.lower():
        reject(filename, "out_of_memory", "needs more memory than one document may use; split it")
    if code in _OUT_OF_TIME:
        reject(filename, "timeout", "took more processor time than one document may use; split it")
    words = error.partition("during conversion:")[2].partition("\n\n")[0]
    said = one_line(re.sub(r"\S*tmp_file\.\w+", "the file", words))[:200]
    reject(filename, "malformed", f"cannot be read as {kind.upper()} ({said or 'pandoc failed'}); save it anew")


def _blocks(html: str, filename: str, limits: Limits, restored: Mapping[int, str]) -> Iterator[Block]:
    from unstructured.partition.html import partition_html

    shown = _prepared(html, filename, limits)
    if not shown:
        return
    # An empty language turns its detection off, which nothing here reads.
    for number, element in enumerate(partition_html(text=shown, languages=[""]), start=1):
        anchor: dict[str, object] = {"element": number}
        if element.category == "Table":
            yield from _table(element, filename, limits, restored, anchor)
        elif text := _as_written(element.text, restored):
            yield _block(element, text, anchor)


def _block(element: Any, text: str, anchor: Mapping[str, object]) -> Block:
    if element.category == "Title":
        return Block("heading", one_line(text), level=(element.metadata.category_depth or 0) + 1, anchor=anchor)
    if element.category == "CodeSnippet":
        return Block("code", text, anchor=anchor)
    listed = element.category == "ListItem" or LIST_MARK.match(text)
    return Block("list_item" if listed else "paragraph", text, anchor=anchor)


def _table(
    element: Any, filename: str, limits: Limits, restored: Mapping[int, str], anchor: dict[str, object]
) -> Iterator[Block]:
    """The cells as unstructured keeps them, under the header rule of every other table."""
    fragment = _as_written(element.metadata.text_as_html or "", restored)
    yield from read_html(fragment, filename, limits, **anchor)[1]


def _as_written(text: str, restored: Mapping[int, str]) -> str:
    return clean(text).replace(_JOINER, "").translate(restored).strip("\n ")


def _prepared(html: str, filename: str, limits: Limits) -> str:
    """The page with what unstructured would lose made safe.

    Measured on 0.27.35: a paragraph of one character is dropped, a leading dash and space are taken for a bullet
    ("- 5" becomes "5"), spans of cells are forgotten, and a list item of paragraphs is no list item. A word joiner
    before each text prevents the first two.
    """
    from lxml import html as pages

    if not html.strip():
        return ""
    parser = pages.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, huge_tree=True)
    root = pages.document_fromstring(html.encode("utf-8"), parser=parser)
    for mark in root.xpath("//a[@class='footnote-back' or @class='footnote-ref']"):
        mark.drop_tree()
    for table in root.xpath("//table[not(.//table)][.//*[@colspan or @rowspan]]"):
        spans_filled(table, filename, limits)
    for part in root.xpath("//li/p"):
        if part.getprevious() is not None:
            part.addprevious(pages.Element("br"))
        part.drop_tag()
    for node in root.iter(*_HOLDS_TEXT):
        node.text = _JOINER + (node.text or "")
    return str(pages.tostring(root, encoding="unicode"))


def _keywords(text: str) -> tuple[str, DocumentDate | None]:
    """Title and date of an Org file, which stand above its body."""
    found = {name.lower(): value.strip() for name, value in reversed(_KEYWORD.findall(text))}
    date = found.get("date", "").strip("<>[]")
    return one_line(found.get("title", "")), date_in_front_matter(date) if date else None


def _refuse_password(content: bytes, filename: str) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            reject(filename, "encrypted", "is protected by a password; remove the password and send it again")


def _package(content: bytes, filename: str) -> tuple[str, DocumentDate | None]:
    """Title and day of publication of a book, from its package file.

    A moment with a time of day is when a program built the file, which says nothing of the text.
    """
    from lxml import etree

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        if "META-INF/rights.xml" in names:
            reject(filename, "encrypted", "is locked by its shop; send a copy without the lock")
        packages = [name for name in names if name.lower().endswith(".opf")]
        source = archive.read(packages[0]) if packages else b"<none/>"
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    tree = etree.fromstring(source, parser)
    date = next(tree.iter(f"{_DC}date"), None)
    title = next(tree.iter(f"{_DC}title"), None)
    words = one_line("".join(date.itertext())) if date is not None else ""
    stated = date_in_front_matter(words) if words and "T" not in words else None
    return one_line("".join(title.itertext())) if title is not None else "", stated
