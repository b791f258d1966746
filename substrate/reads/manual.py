"""The product's own manual: its README and ``docs``, by section, searched by words. Never a document of a user.

The pages ride in the package; from a checkout they are read where they lie. The index is small, in memory, built at the
first question, and cuts text into terms as the index of passages does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from substrate.errors import InvalidInput
from substrate.retrieval.analysis import analyser, normalised, telling, terms, words

SECTIONS = 4
LONGEST_SECTION = 1600
LONGEST_QUERY = 2000
_HEADING = re.compile(r"^(#{1,4}) +(.+?) *#*$")
_ANALYSER = "words"
_HEADING_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page beneath one heading."""

    page: str
    heading: str
    text: str


def search_manual(query: str) -> dict[str, Any]:
    """At most four sections for a question, best first, each cut at 1,600 characters. Raises `InvalidInput`."""
    if not query.strip():
        raise InvalidInput("query must not be blank", field="query")
    if len(query) > LONGEST_QUERY:
        raise InvalidInput(f"query: at most {LONGEST_QUERY} characters", field="query")
    sections, index = _manual()
    wanted = sorted(set(terms(telling(words(normalised(query, "query"), asked=True)))))
    found = [sections[n] for n in _best(index, wanted)]
    return {
        "query": query,
        "limit": SECTIONS,
        "results": [
            {
                "page": s.page,
                "heading": s.heading,
                "text": s.text[:LONGEST_SECTION],
                "truncated": len(s.text) > LONGEST_SECTION,
            }
            for s in found
        ],
    }


def pages() -> Iterator[tuple[str, str]]:
    """(name, Markdown) of each page, in order."""
    root: Any = resources.files("substrate").joinpath("_manual")
    if not root.is_dir():
        root = Path(__file__).resolve().parents[2]
    for name in ("README.md", "GLOSSARY.md", "CHANGELOG.md"):
        if (file := root.joinpath(name)).is_file():
            yield name, file.read_text(encoding="utf-8")
    yield from _below(root.joinpath("docs"), "docs")


def _below(folder: Any, place: str) -> Iterator[tuple[str, str]]:
    if not folder.is_dir():
        return
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.is_dir():
            yield from _below(file, f"{place}/{file.name}")
        elif file.name.endswith(".md"):
            yield f"{place}/{file.name}", file.read_text(encoding="utf-8")


def sections_of(page: str, text: str) -> Iterator[Section]:
    """A page cut at its headings; what is fenced as code is no heading."""
    path: list[str] = []
    lines: list[str] = []
    fenced = False
    for line in [*text.splitlines(), "# end"]:
        fenced ^= line.lstrip().startswith("```")
        found = None if fenced else _HEADING.match(line)
        if not found:
            lines.append(line)
            continue
        if body := "\n".join(lines).strip():
            yield Section(page, " > ".join(path), body)
        path, lines = [*path[: len(found[1]) - 1], found[2]], []


@cache
def _manual() -> tuple[Sequence[Section], Any]:
    from tantivy import Document, Index, SchemaBuilder

    builder = SchemaBuilder()
    builder.add_unsigned_field("number", stored=True)
    for name in ("heading", "text"):
        builder.add_text_field(name, tokenizer_name=_ANALYSER, index_option="freq")
    index = Index(builder.build())
    index.register_tokenizer(_ANALYSER, analyser())
    sections = [section for page, text in pages() for section in sections_of(page, text)]
    writer = index.writer(num_threads=1)
    for number, section in enumerate(sections):
        made = Document()
        made.add_unsigned("number", number)
        made.add_text("heading", " ".join(words(normalised(f"{section.page} {section.heading}"))))
        made.add_text("text", " ".join(words(normalised(section.text))))
        writer.add_document(made)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return sections, index


def _best(index: Any, wanted: Sequence[str]) -> Iterator[int]:
    from tantivy import Occur, Query

    if not wanted:
        return
    asked = [(Occur.Should, Query.term_query(index.schema, "text", word)) for word in wanted]
    asked += [
        (Occur.Should, Query.boost_query(Query.term_query(index.schema, "heading", word), _HEADING_WEIGHT))
        for word in wanted
    ]
    searcher = index.searcher()
    for _, address in searcher.search(Query.boolean_query(asked), SECTIONS).hits:
        yield searcher.doc(address)["number"][0]
