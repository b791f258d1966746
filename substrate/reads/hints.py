"""What an honest colleague would add to an answer, per row and ready to be carried out.

A hint has ``kind``, ``says`` (one sentence in our own words: no name, no word of a source), ``tool`` and ``arguments``
(a call that goes further; a client sends it as it stands), and ``items``: the rows it is about, whose first the call is
for. Hints are as of today, whatever moment the answer stands on, and outside the promise that an answer can be asked
again. One query for each answer.

==================  ================================================================================
kind                when
==================  ================================================================================
superseded          a fact shown was corrected, ended or taken over by another since
withdrawn           a fact shown is held no more, and nothing took its place
merged              an entity shown was joined into another since
contested           another statement speaks against it, and nobody has decided
unconfirmed         the passage it rested on is gone
undated             nothing dates it, so that it is read at every moment
derived             it follows from a rule, nobody said it
pending             proposals about the entity wait for a person
rejected            people refused statements about the entity
only_now            nothing was held then, but there is something today
words_only          search by meaning could not serve, or not in full
meaning_only        search by words could not
nothing             nothing was found
more                there is more than the limit let through
==================  ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.axes.as_of import AsOf
from substrate.db import AnyConnection
from substrate.ledger.drafts import normalise_name
from substrate.reads.shapes import HINTS

Answer = dict[str, Any]
Arguments = Mapping[str, Any]
Hint = dict[str, Any]
ENTITY_TOOLS = ("entity_facts", "timeline", "neighbors")
_RECORD = ("as_of", "before", "cursor")
_ARMS = {"lexical": "words", "vector": "meaning"}


def with_hints(
    conn: AnyConnection, kb_id: UUID, as_of: AsOf, tool: str, arguments: Arguments, answer: Mapping[str, Any]
) -> Answer:
    """`answer` of `tool` with ``hints``; `arguments` are those that it was asked with, which calls again repeat.

    Where the row that took a fact's place was replaced in its turn, ``successor_id`` becomes the one held today.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    done = dict(answer)
    known = _known(conn, kb_id, as_of, done) if _asks(done) else {}
    _as_of_today(done, known)
    found = [
        *_of_facts(done),
        *_of_moved(done),
        *_of_entity(tool, given, as_of, done, known),
        *_of_search(tool, given, done),
    ]
    if tool == "find_entities" and not done["entities"]:
        found += _of_no_name(conn, kb_id, as_of, given)
    if done.get("next_cursor"):
        more = _hint(
            "more", "There is more than the limit let through.", tool, {**given, "cursor": done["next_cursor"]}
        )
        found.append(more)
    return {**done, HINTS: found}


def _known(conn: AnyConnection, kb_id: UUID, as_of: AsOf, answer: Answer) -> Mapping[str, Any]:
    entity = answer.get("entity") or {}
    names = [entity["name"], *(n["name"] for n in answer.get("names", ()))] if entity else []
    values = {
        "kb_id": kb_id,
        "entity_id": entity.get("id"),
        "gone": [_id(fact) for fact in _facts(answer) if fact["since"]]
        + [c["fact_id"] for c in answer.get("changes", ()) if c["fact_id"]],
        "entities": [e["id"] for e in answer.get("entities", ())],
        "names": sorted({normalise_name(name) for name in names}),
        "now": bool(entity) and as_of.known_seq is not None and not any(_facts(answer)),
    }
    return conn.execute(sql.query("hints_of_answer"), values).fetchone() or {}


def _asks(answer: Answer) -> bool:
    return bool(answer.get("entity") or answer.get("entities") or answer.get("changes")) or any(_facts(answer))


def _as_of_today(answer: Answer, known: Mapping[str, Any]) -> None:
    """``status`` and ``successor_id`` of every row: for events, those of the fact that they are about."""
    ended, joined = known.get("ended") or {}, known.get("joined") or {}
    for fact in _facts(answer):
        fact["successor_id"] = (ended.get(_id(fact)) or {}).get("now") or fact["successor_id"]
    for event in answer.get("changes", ()):
        told = ended.get(event["fact_id"]) or {}
        now = told.get("now") if told.get("kind") else None
        event["status"] = ("superseded" if now else told.get("kind")) or ("held" if event["fact_id"] else event["kind"])
        event["successor_id"] = now
    for entity in answer.get("entities", ()):
        entity["successor_id"] = joined.get(entity["id"])
        entity["status"] = "merged" if entity["successor_id"] else "held"


def _of_moved(answer: Answer) -> Iterator[Hint]:
    if gone := [e for e in answer.get("entities", ()) if e["successor_id"]]:
        told = f"{len(gone)} of these {'was' if len(gone) == 1 else 'were'} joined into another entity since."
        yield _hint("merged", told, "entity_facts", {"entity_id": gone[0]["successor_id"]}, [e["id"] for e in gone])
    if gone := [c for c in answer.get("changes", ()) if c["successor_id"]]:
        told = f"{len(gone)} of these facts {'has' if len(gone) == 1 else 'have'} been superseded since."
        call = {"fact_id": gone[0]["successor_id"]}
        yield _hint("superseded", told, "explain_fact", call, list(dict.fromkeys(c["fact_id"] for c in gone)))


def _facts(answer: Answer) -> Iterator[Answer]:
    """Every row of the answer that is a fact, whatever list it stands in."""
    yield from answer.get("facts", ())
    yield from answer.get("neighbors", ())
    for path in answer.get("paths", ()):
        yield from path["edges"]


def _id(fact: Answer) -> str:
    return str(fact["fact_id"] if "fact_id" in fact else fact["id"])


def _of_facts(answer: Answer) -> Iterator[Hint]:
    rows = list(_facts(answer))
    tests: tuple[tuple[str, Callable[[Answer], bool], str], ...] = (
        ("superseded", lambda f: bool(f["since"]) and bool(f["successor_id"]), "has been superseded since"),
        ("withdrawn", lambda f: bool(f["since"]) and not f["successor_id"], "is not held any more"),
        ("contested", lambda f: bool(f["contested"]), "is contested: another statement speaks against it, undecided"),
        ("unconfirmed", lambda f: bool(f["unconfirmed"]), "has lost its evidence: no passage held now says so"),
        ("undated", lambda f: bool(f["undated"]), "is undated: nothing tells when it held"),
    )
    for kind, applies, says in tests:
        if about := [f for f in rows if applies(f)]:
            target = about[0]["successor_id"] if kind == "superseded" else _id(about[0])
            told = f"{_count(about, 'fact')} {says if len(about) == 1 else _plural(says)}."
            yield _hint(kind, told, "explain_fact", {"fact_id": target}, [_id(f) for f in about])
    if derived := answer.get("derived_facts"):
        told = f"{_count(derived, 'fact')} {'is' if len(derived) == 1 else 'are'} derived by rule: no source says so."
        yield _hint("derived", told, "list_rules", {}, [f["id"] for f in derived])


def _of_entity(tool: str, given: Arguments, as_of: AsOf, answer: Answer, known: Mapping[str, Any]) -> Iterator[Hint]:
    entity = answer.get("entity")
    if not entity or not known:
        return
    if n := known["pending"]:
        told = f"{n} proposal{'s' * (n > 1)} about it await a person; the sentences can be read."
        yield _hint("pending", told, "search_chunks", {"query": entity["name"]})
    if n := known["refused"]:
        told = f"People refused {n} statement{'s' * (n > 1)} about it."
        yield _hint("rejected", told, "changes", {"since": "0001", "entity_id": entity["id"], "kinds": ["rejected"]})
    if n := known["held_now"]:
        told = f"Nothing of the kind was on record then; today it has {n} fact{'s' * (n > 1)}."
        yield _hint("only_now", told, tool, {k: v for k, v in given.items() if k not in _RECORD})
    elif tool in ENTITY_TOOLS and not any(_facts(answer)) and as_of.known_seq is None:
        yield _hint("nothing", "No fact matches; passages may say it.", "search_chunks", {"query": entity["name"]})


def _of_search(tool: str, given: Arguments, answer: Answer) -> Iterator[Hint]:
    for arm, state in answer.get("arms", {}).items():
        word, _, reason = state.partition(": ")
        if word != "ok":
            told = f"Search by {_ARMS.get(arm, arm)} is {word}{f': {reason}' if reason else ''}."
            yield _hint("words_only" if arm == "vector" else "meaning_only", told, tool, dict(given))
    if "chunks" not in answer:
        return
    gone = [c for c in answer["chunks"] if c["since"]]
    if gone:
        told = f"{_count(gone, 'passage')} shown {'was' if len(gone) == 1 else 'were'} replaced or deleted since."
        call = {"document_id": gone[0]["document_id"]}
        yield _hint("superseded", told, "get_document", call, [c["chunk_id"] for c in gone])
    if answer.get("limit_reached"):
        call = {"question": given["query"], "budget_tokens": 4000}
        call |= {k: given[k] for k in ("as_of",) if k in given}
        yield _hint("more", "The limit was reached; more passages fit into a context.", "context", call)


def _of_no_name(conn: AnyConnection, kb_id: UUID, as_of: AsOf, given: Arguments) -> Iterator[Hint]:
    if as_of.known_seq is not None:
        escaped = normalise_name(given["name"])
        for sign in "\\%_":
            escaped = escaped.replace(sign, f"\\{sign}")
        values = {"kb_id": kb_id, "patterns": [f"%{escaped}%"]}
        row = conn.execute(sql.query("hints_named_now"), values).fetchone()
        if row and row["named"]:
            told = f"Nobody bore that name on record then; {row['named']} do today."
            yield _hint("only_now", told, "find_entities", {"name": given["name"]})
            return
    yield _hint("nothing", "No entity by that name; passages may know it.", "search_chunks", {"query": given["name"]})


def _hint(kind: str, says: str, tool: str, arguments: Arguments, items: Sequence[str] = ()) -> Hint:
    return {"kind": kind, "says": says, "tool": tool, "arguments": dict(arguments), "items": list(items)}


def _count(rows: Sequence[object], noun: str) -> str:
    return f"1 {noun}" if len(rows) == 1 else f"{len(rows)} {noun}s"


def _plural(says: str) -> str:
    first, _, rest = says.partition(" ")
    return f"{ {'has': 'have', 'is': 'are'}[first] } {rest}"
