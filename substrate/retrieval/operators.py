"""What a caller says beside a question: phrases that must stand, words to leave out, words of a title.

They are said by arguments (`Narrowing`), or in the query itself by a small grammar that is asked for explicitly::

    "a phrase"          must stand in the passage, its title or headings, word after word
    -word  -"a phrase"  must not stand there
    title:word          must stand in the file name, the title, the author or a heading; title:"two words" too
    type:x  source:x  namespace:x    as the filters of these names

Words are compared as everywhere in search (folded, stemmed, CJK by characters). Whatever is none of these is plain
text: an open quote, a minus before a blank, a colon after another word. Nothing a user types is parsed by the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from substrate.errors import InvalidInput
from substrate.retrieval.analysis import normalised, terms, words
from substrate.retrieval.filters import Filters, Narrowing
from substrate.retrieval.lexical_reader import View
from substrate.retrieval.lexical_schema import Field, Term, chunk_numbers, run_query

MOST_SAID = 50
"""Phrases, words to leave out and title words of one search."""
_IN_TEXT: tuple[Field, ...] = ("body", "title")
_IN_TITLE: tuple[Field, ...] = ("title",)
_EXTENSION = re.compile(r"(?<=\w)\.[A-Za-z][A-Za-z0-9]{0,4}$")
_QUOTES = str.maketrans("“”„‟＂", '"""""')
_TOKEN = re.compile(
    r'(?<!\S)(?P<minus>-)?(?:(?P<field>title|type|source|namespace):)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]\S*))',
    re.IGNORECASE,
)

Run = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """Runs of terms: each of `present` and `titles` must stand in a passage, none of `absent` may."""

    present: tuple[Run, ...] = ()
    absent: tuple[Run, ...] = ()
    titles: tuple[Run, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.present or self.absent or self.titles)

    def looked_for(self) -> tuple[Term, ...]:
        """What the words' arm looks for beside the question, so that none that holds a phrase is missed."""
        pairs = {("body", t) for run in self.present for t in run} | {("title", t) for run in self.titles for t in run}
        return tuple(Term(field, text, 1.0) for field, text in sorted(pairs))  # type: ignore[arg-type]


def said(narrowing: Narrowing | None) -> Said:
    """The phrases of a narrowing as terms. Raises `InvalidInput` for one without a word, or for too many."""
    if narrowing is None:
        return Said()
    given = {"phrase": narrowing.phrases, "without": narrowing.without, "title": narrowing.titles}
    for field, listed in given.items():
        if len(listed) > MOST_SAID:
            raise InvalidInput(f"{field}: at most {MOST_SAID} in one search", field=field)
    # A file name is known without its extension.
    given["title"] = tuple(_EXTENSION.sub("", text) for text in given["title"])
    present, absent, titles = (tuple(_run(text, field) for text in listed) for field, listed in given.items())
    return Said(present, absent, titles)


def _run(text: str, field: str) -> Run:
    run = tuple(terms(words(normalised(text, field))))
    if not run:
        raise InvalidInput(f"{field}: {text!r} has no word to look for", field=field)
    return run


def read(query: str, narrowing: Narrowing | None = None) -> tuple[str, Narrowing]:
    """The question and the narrowing that a query with operators means, added to what `narrowing` asks already.

    Raises `InvalidInput` naming ``query`` where nothing is left to look for, a field that cannot be left out is, or a
    namespace is given twice.
    """
    found: dict[str, list[str]] = {name: [] for name in ("plain", "phrase", "without", "title", *_FIELDS)}
    end = 0
    text = query.translate(_QUOTES)
    for match in _TOKEN.finditer(text):
        found["plain"].append(text[end : match.start()])
        end = match.end()
        kind, value = _meant(match)
        found[kind].append(value)
        if kind == "phrase":
            found["plain"].append(value)
    found["plain"].append(text[end:])
    left = " ".join(" ".join(found["plain"]).split()) or " ".join(found["title"])
    if not left:
        raise InvalidInput("query: says what to leave out or where to look, and nothing to look for", field="query")
    return left, _joined(narrowing or Narrowing(), found)


_FIELDS = ("type", "source", "namespace")


def _meant(match: re.Match[str]) -> tuple[str, str]:
    """What a token is, and its value."""
    field, value = (match["field"] or "").lower(), match["quoted"] if match["quoted"] is not None else match["bare"]
    if field in _FIELDS and value.strip():
        if match["minus"]:
            raise InvalidInput(f"query: {field} cannot be left out, only words and phrases can", field="query")
        return field, value
    if not terms(words(normalised(value, "query"))):
        return "plain", match[0]
    if match["minus"]:
        if field:
            raise InvalidInput("query: a title cannot be left out, only words and phrases can", field="query")
        # "--flag" and "-->" are what people write, not an exclusion.
        return ("plain", match[0]) if value.startswith("-") else ("without", value)
    if field:
        return field, value
    return ("phrase", value) if match["quoted"] is not None else ("plain", value)


def _joined(narrowing: Narrowing, found: dict[str, list[str]]) -> Narrowing:
    namespaces = {*found["namespace"], *([] if narrowing.namespace is None else [narrowing.namespace])}
    if len(namespaces) > 1:
        raise InvalidInput("query: only one namespace can be searched", field="query")
    return replace(
        narrowing,
        namespace=next(iter(namespaces), None),
        sources=(*narrowing.sources, *found["source"]),
        types=(*narrowing.types, *found["type"]),
        phrases=(*narrowing.phrases, *found["phrase"]),
        without=(*narrowing.without, *found["without"]),
        titles=(*narrowing.titles, *found["title"]),
    )


def narrowed_by(filters: Filters, asked: Said, view: View) -> Filters:
    """The filters with the passages that hold what must stand, without those that hold what must not.

    Passages of all moments are counted in, which the arms judge by their own: the cost grows with how many hold it.
    """
    if not asked:
        return filters
    kept, dropped = filters.passages, filters.without
    for runs, fields in ((asked.present, _IN_TEXT), (asked.titles, _IN_TITLE)):
        for run in runs:
            holding = frozenset(_holding(view, run, fields))
            kept = holding if kept is None else kept & holding
    for run in asked.absent:
        dropped |= frozenset(_holding(view, run, _IN_TEXT))
    if kept is not None:
        kept, dropped = kept - dropped, frozenset()
    return replace(filters, passages=kept, without=dropped)


def _holding(view: View, run: Sequence[str], fields: Sequence[Field]) -> Iterator[UUID]:
    with view.lock:
        yield from view.tail.holding(run, fields)
    searcher: Any = view.searcher
    if searcher is None:
        return
    query = run_query(run, fields)
    count = searcher.search(query, 1, count=True).count
    if count:
        hits = searcher.search(query, count, count=False).hits
        yield from (UUID(int=n) for n in chunk_numbers(searcher, [address for _, address in hits]))
