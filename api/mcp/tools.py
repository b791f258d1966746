"""What each tool does: a call to a read (or to `remember`), its text, and the ids it hands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from api.deps import Member
from api.mcp import text
from api.searching import gather, search
from api.served import chunk_ids_in, fact_ids_in
from substrate import reads
from substrate.errors import Forbidden, NotFound

MOST_TEXT = 20_000
"""Characters of text in one result; some clients cut or divert longer ones."""
Arguments = Mapping[str, Any]
Answer = dict[str, Any]
Moments = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's answer in both forms."""

    structured: Answer
    text: str


def run(name: str, who: Member, arguments: Arguments) -> Result:
    """Run a tool whose arguments were judged, and write down what it handed out. Raises errors of the tree."""
    result = _TOOLS[name](who, arguments)
    who.access_log.served(
        who.principal,
        who.kb_id,
        via="mcp",
        action=name,
        seq=result.structured["seq"],
        fact_ids=fact_ids_in(result.structured),
        chunk_ids=chunk_ids_in(result.structured),
    )
    return result


def _search_chunks(who: Member, arguments: Arguments) -> Result:
    answer = search(who, arguments["query"], arguments.get("as_of"), 6)
    rows = text.search_rows(answer)
    lead = "\n".join([f"{len(rows)} passages {text.stands_on(answer)}", *text.arms(answer)])
    return Result(answer, "\n\n".join([lead, *rows]))


def _context(who: Member, arguments: Arguments) -> Result:
    moments = {name: arguments.get(name) for name in ("at", "as_of", "before")}
    answer = gather(who, arguments["question"], arguments.get("budget_tokens", 1500), **moments)
    said = answer.pop("text")
    return Result(answer, "\n".join([f"Context {text.stands_on(answer)}", *text.arms(answer), said]))


def _get_document(who: Member, arguments: Arguments) -> Result:
    try:
        document_id = UUID(arguments["document_id"])
    except ValueError:
        raise NotFound("No document with that id in this knowledge base.", field="document_id") from None
    with who.read() as conn:
        moment = who.moment(conn, as_of=arguments.get("as_of"))
        answer = reads.get_document(conn, who.kb_id, document_id, arguments.get("offset", 0), moment)
    return Result(answer, text.document(answer))


def _find_entities(who: Member, arguments: Arguments) -> Result:
    with who.read() as conn:
        moment = who.moment(conn, as_of=arguments.get("as_of"), before=arguments.get("before"))
        answer = reads.find_entities(conn, who.kb_id, arguments["name"], moment)
    more = [f"{answer['total'] - len(answer['entities'])} more match; narrow the name."] if answer["truncated"] else []
    return Result(answer, "\n".join([text.entities_lead(answer), *text.entity_rows(answer), *more]))


def _entity_facts(who: Member, arguments: Arguments) -> Result:
    filters = {k: arguments.get(k) for k in ("predicate", "object_type", "since", "until", "cursor")}
    at, moments = arguments.get("at"), _record_moments(arguments)

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, at=at, **(again or moments))
            answer = reads.entity_facts(conn, who.kb_id, arguments["entity_id"], moment, limit=limit, **filters)
        return {**answer, "before": arguments.get("before")}

    return _paged(ask, arguments.get("limit", 80), text.facts_lead, text.fact_rows)


def _timeline(who: Member, arguments: Arguments) -> Result:
    filters = {k: arguments.get(k) for k in ("predicate", "since", "until", "cursor")}

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, **(again or _record_moments(arguments)))
            return reads.timeline(conn, who.kb_id, arguments["entity"], moment, limit=limit, **filters)

    return _paged(ask, arguments.get("limit", 60), text.facts_lead, text.fact_rows)


def _changes(who: Member, arguments: Arguments) -> Result:
    filters = {k: arguments.get(k) for k in ("until", "kinds", "cursor")}

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, **(again or {"as_of": arguments.get("as_of")}))
            return reads.changes(
                conn,
                who.kb_id,
                arguments["since"],
                entity=arguments.get("entity_id"),
                limit=limit,
                as_of=moment,
                **filters,
            )

    return _paged(ask, arguments.get("limit", 40), text.changes_lead, text.change_rows)


def _record_moments(arguments: Arguments) -> Moments:
    return {"as_of": arguments.get("as_of"), "before": arguments.get("before")}


def _paged(
    ask: Callable[[int, Moments], Answer],
    limit: int,
    lead_of: Callable[[Answer], str],
    rows_of: Callable[[Answer], list[str]],
) -> Result:
    """A page that ends where the limit or the characters do, whichever comes first.

    Where the characters end it, the shorter page is asked for again at the same sequence number, so that rows,
    cursor and text agree.
    """
    answer = ask(limit, {})
    kept = text.fits(lead_of(answer), rows_of(answer), MOST_TEXT)
    if kept < len(rows_of(answer)):
        clamped = {"clamped": True} if answer.get("clamped") else {}
        answer = {**ask(kept, {"as_of": f"seq:{answer['seq']}"}), **clamped, "limit": limit}
    notice = [f"More rows: call again with cursor {answer['next_cursor']}"] if answer["next_cursor"] else []
    return Result(answer, "\n".join([lead_of(answer), *rows_of(answer), *notice]))


def _remember(who: Member, arguments: Arguments) -> Result:
    from substrate.documents import intake

    if not who.may_write:
        raise Forbidden("this needs a token with the write scope, held by an editor in this base")
    done = intake.remember(
        who.db,
        who.kb_id,
        arguments["text"],
        arguments.get("occurred_at"),
        actor=who.actor,
        via="mcp",
        author=who.principal.person_name,
        idempotency_key=arguments.get("idempotency_key"),
    )
    when = f" (effective {arguments['occurred_at']})" if arguments.get("occurred_at") else ""
    structured = {
        "kb_id": str(who.kb_id),
        "document_id": str(done.document_id),
        "chunk_id": str(done.chunk_id),
        "seq": done.seq,
        "status": "recorded; facts await confirmation",
    }
    said = (
        f"Recorded the sentence{when}; it can be found at once. Its facts await a person's confirmation in Review. "
        "Do not claim that a fact was added."
    )
    return Result(structured, said)


_TOOLS: Mapping[str, Callable[[Member, Arguments], Result]] = {
    "search_chunks": _search_chunks,
    "context": _context,
    "get_document": _get_document,
    "find_entities": _find_entities,
    "entity_facts": _entity_facts,
    "timeline": _timeline,
    "changes": _changes,
    "remember": _remember,
}
