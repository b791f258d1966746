"""The shape of the lexical index: fields, how a chunk becomes a document, how terms become a query.

Every version of every chunk stays in the index with its record interval, so that a search of any moment is a filter.
The watermark (everything up to that sequence is indexed) is a document of the index itself and commits with the rest:
there is no moment between a commit and its watermark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from substrate.retrieval.analysis import analyser, codes, normalised, telling, terms, words
from substrate.retrieval.filters import Filters, place_of
from substrate.retrieval.passages import context_words

VERSION = 4
"""Raised whenever the fields or the analysis change: an index of another version is rebuilt."""
OPEN = 2**62
"""The closing sequence of a chunk that is not closed."""
Field = Literal["body", "title", "codes", "near"]
FIELDS: tuple[Field, ...] = ("body", "title", "codes", "near")
NEAR_WORDS = 100
"""Words of the passages before and after that `near` holds beside a passage's own: four turns of talk, or the seam
between two paragraphs. On dialogue, BM25 over such a window found .69 at 10 where the turn alone found .64."""
TITLE_WEIGHT = 0.5
"""A word of the file name or a heading counts half: it stands on every chunk of the section. A guess, not tuned."""
WORD_IN_CODE_WEIGHT = 0.3
"""A plain word that is a hump of somebody's camel case; a whole identifier counts 1. A guess, not tuned."""
_LOOKED_UP = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HALVES = ("id_high", "id_low")
_WATERMARK = "watermark"
_ANALYSER = "words"


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a question in one field."""

    field: Field
    text: str
    weight: float


def question_terms(question: str) -> tuple[Term, ...]:
    """What to look for, without repetition, sorted: the order of float additions is then the same everywhere."""
    text = normalised(question, "query")
    listed = telling(words(text, asked=True))
    weights: defaultdict[tuple[Field, str], float] = defaultdict(float)
    for term in terms(listed):
        weights["body", term] += 1
        weights["title", term] += TITLE_WEIGHT
    for code in codes(text):
        weights["codes", code] += 1
    for word in sorted({word.lower() for word in listed}):
        weights["codes", word] += WORD_IN_CODE_WEIGHT
    return tuple(Term(field, text, weight) for (field, text), weight in sorted(weights.items()))


def near_terms(question: str) -> tuple[Term, ...]:
    """The same for the field that holds a passage with what stands around it."""
    listed = telling(words(normalised(question, "query"), asked=True))
    return tuple(Term("near", text, count) for text, count in sorted(Counter(terms(listed)).items()))


def field_terms(row: Mapping[str, Any]) -> dict[Field, list[str]]:
    """Surface forms per field of a row of ``retrieval_events``, before the analyser's chain."""
    text = normalised(row["text"])
    title = normalised(context_words(row["filename"], row["heading_path"], row["author"], row["title"]))
    own = words(text)
    before = words(normalised("\n".join(row["before"])))[-NEAR_WORDS:]
    after = words(normalised("\n".join(row["after"])))[:NEAR_WORDS]
    return {
        "body": own,
        "title": words(title),
        "codes": codes(text) + codes(title),
        "near": [*before, *own, *after] if before or after else own,
    }


@cache
def schema() -> Any:
    """Tantivy's schema. The lengths let the tail be scored with the index's own averages."""
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_text_field("chunk", tokenizer_name="raw", index_option="basic")
    for name in _HALVES:
        builder.add_unsigned_field(name, fast=True)
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    for name in ("namespace", "source", "type"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("dated", indexed=True, fast=True)
    builder.add_text_field("body", tokenizer_name=_ANALYSER, index_option="position")
    builder.add_text_field("title", tokenizer_name=_ANALYSER, index_option="position")
    builder.add_text_field("codes", tokenizer_name="raw", index_option="freq")
    builder.add_text_field("near", tokenizer_name=_ANALYSER, index_option="freq")
    for name in ("recorded_seq", "invalidated_seq"):
        builder.add_integer_field(name, indexed=True, fast=True)
    for field in FIELDS:
        builder.add_integer_field(f"{field}_length", fast=True)
    return builder.build()


def open_index(directory: Path, *, make: bool = False) -> Any:
    """The index in a directory. Its reader is moved by hand, so that no thread watches the files.

    Raises ValueError where it cannot be read.
    """
    from tantivy import Index

    index = Index(schema(), path=str(directory)) if make else Index.open(str(directory))
    index.register_tokenizer(_ANALYSER, analyser())
    index.config_reader(reload_policy="manual")
    return index


def document(row: Mapping[str, Any]) -> Any:
    """The index's document for a row of ``retrieval_events``."""
    from tantivy import Document

    made = Document()
    made.add_text("chunk", str(row["id"]))
    for name, half in zip(_HALVES, divmod(row["id"].int, 2**64), strict=True):
        made.add_unsigned(name, half)
    place = place_of(row)
    made.add_text("document", str(place.document_id))
    made.add_text("namespace", _named(place.namespace))
    made.add_text("source", str(place.source_id))
    for kind in place.types:
        made.add_text("type", kind)
    if place.dated is not None:
        made.add_integer("dated", microseconds(place.dated))
    made.add_integer("recorded_seq", row["recorded_seq"])
    made.add_integer("invalidated_seq", OPEN if row["invalidated_seq"] is None else row["invalidated_seq"])
    for field, listed in field_terms(row).items():
        made.add_integer(f"{field}_length", len(listed))
        if field == "codes":
            for code in listed:
                made.add_text("codes", code)
        else:
            made.add_text(field, " ".join(listed))
    return made


def set_watermark(writer: Any, seq: int) -> None:
    """Put the watermark into the writer's next commit."""
    from tantivy import Document

    writer.delete_documents_by_term("chunk", _WATERMARK)
    mark = Document()
    mark.add_text("chunk", _WATERMARK)
    mark.add_integer("recorded_seq", seq)
    writer.add_document(mark)


def watermark(searcher: Any) -> int:
    """Everything up to this sequence is in the index; 0 for a new one."""
    from tantivy import Query

    hits = searcher.search(Query.term_query(schema(), "chunk", _WATERMARK), 1, count=False).hits
    return int(searcher.fast_field_values("recorded_seq", [hits[0][1]])[0]) if hits else 0


def chunk_numbers(searcher: Any, addresses: list[Any]) -> Iterator[int]:
    """The ids of chunks, as the integers that they are, a tenth of the time of reading stored texts."""
    high, low = (searcher.fast_field_values(name, addresses) for name in _HALVES)
    return (one << 64 | other for one, other in zip(high, low, strict=True))


def _named(namespace: str) -> str:
    """An empty text would be no term, so that the namespace without a name could not be asked for."""
    return f"/{namespace}"


def microseconds(at: datetime) -> int:
    """Since 1970, exactly."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def among(ids: Collection[str]) -> Any:
    """Only these chunks; does not score. A few hundred are looked up one by one, a third of the time of a set."""
    from tantivy import Occur, Query

    if len(ids) > _LOOKED_UP:
        return Query.const_score_query(Query.term_set_query(schema(), "chunk", list(ids)), 0.0)
    each = [(Occur.Should, Query.term_query(schema(), "chunk", i, "basic")) for i in ids]
    return Query.const_score_query(Query.boolean_query(each), 0.0)


def scoring_query(wanted: Sequence[Term], inside: Any) -> Any:
    """Any of the terms, among chunks that are known to have been held (`among`)."""
    from tantivy import Occur, Query

    return Query.boolean_query([(Occur.Must, any_of(wanted)), (Occur.Must, inside)])


def any_of(wanted: Sequence[Term]) -> Any:
    """Any of the terms, whatever became of the chunk."""
    from tantivy import Occur, Query

    asked = [(Occur.Should, Query.boost_query(Query.term_query(schema(), t.field, t.text), t.weight)) for t in wanted]
    return Query.boolean_query(asked)


def run_query(run: Sequence[str], fields: Sequence[Field]) -> Any:
    """The terms one after another in any of the fields; does not score."""
    from tantivy import Occur, Query

    def stands(field: Field) -> Any:
        if len(run) == 1:
            return Query.term_query(schema(), field, run[0], "basic")
        return Query.phrase_query(schema(), field, list(run))

    return Query.const_score_query(Query.boolean_query([(Occur.Should, stands(field)) for field in fields]), 0.0)


def coverage_query(rarity: Mapping[str, float], fields: Sequence[Field], inside: Any) -> Any:
    """Scores a chunk by the summed rarity of the terms that any of these fields holds, however often."""
    from tantivy import Occur, Query

    asked = [
        (
            Occur.Should,
            Query.disjunction_max_query(
                [Query.const_score_query(Query.term_query(schema(), f, text), weight) for f in fields]
            ),
        )
        for text, weight in rarity.items()
    ]
    return Query.boolean_query([(Occur.Must, Query.boolean_query(asked)), (Occur.Must, inside)])


def search_query(wanted: Sequence[Term], seq: int, filters: Filters | None, without: Iterable[UUID]) -> Any:
    """Any of the terms, among what was held at `seq` and passes the filters, neither of which scores."""
    from tantivy import Occur, Query

    clauses = [
        (Occur.Must, any_of(wanted)),
        _between("recorded_seq", None, seq),
        _between("invalidated_seq", seq + 1, None),
        *(_filtering(filters) if filters else ()),
    ]
    if excluded := [str(chunk_id) for chunk_id in without]:
        clauses.append((Occur.MustNot, Query.term_set_query(schema(), "chunk", excluded)))
    return Query.boolean_query(clauses)


def _between(name: str, low: int | None, high: int | None) -> tuple[Any, Any]:
    from tantivy import FieldType, Occur, Query

    inside = Query.range_query(schema(), name, FieldType.Integer, lower_bound=low, upper_bound=high)
    return Occur.Must, Query.const_score_query(inside, 0.0)


def _filtering(filters: Filters) -> Iterator[tuple[Any, Any]]:
    from tantivy import Occur, Query

    values: dict[str, Collection[object]] = {
        "document": filters.documents,
        "source": filters.sources,
        "type": filters.types,
        "namespace": () if filters.namespace is None else (_named(filters.namespace),),
    }
    for name, wanted in values.items():
        if wanted:
            inside = Query.term_set_query(schema(), name, sorted(map(str, wanted)))
            yield Occur.Must, Query.const_score_query(inside, 0.0)
    if filters.since is not None or filters.until is not None:
        since = None if filters.since is None else microseconds(filters.since)
        until = None if filters.until is None else microseconds(filters.until) - 1
        yield _between("dated", since, until)
    if filters.passages is not None:
        yield Occur.Must, among(sorted(map(str, filters.passages)))
    if filters.without:
        yield Occur.MustNot, among(sorted(map(str, filters.without)))
