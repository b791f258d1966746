"""What each tool does: a call to a read (or to `remember`), its text, and the ids it hands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from api.deps import Member
from api.mcp import text
from api.searching import find, gather, search
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
        seq=result.structured.get("seq"),
        fact_ids=fact_ids_in(result.structured),
        chunk_ids=chunk_ids_in(result.structured),
    )
    return result


def _search_chunks(who: Member, arguments: Arguments) -> Result:
    answer = search(who, arguments["query"], arguments.get("as_of"), 6)
    rows = text.search_rows(answer)
    lead = "\n".join([f"{len(rows)} passages {text.stands_on(answer)}", *text.arms(answer), *text.hints(answer)])
    return Result(answer, "\n\n".join([lead, *rows]))


def _context(who: Member, arguments: Arguments) -> Result:
    moments = {name: arguments.get(name) for name in ("at", "as_of", "before")}
    answer = gather(who, arguments["question"], arguments.get("budget_tokens", 1500), **moments)
    said = answer.pop("text")
    return Result(
        answer, "\n".join([f"Context {text.stands_on(answer)}", *text.arms(answer), *text.hints(answer), said])
    )


def _get_document(who: Member, arguments: Arguments) -> Result:
    document_id = _id(arguments, "document_id", "No document with that id in this knowledge base.")
    with who.read() as conn:
        moment = who.moment(conn, as_of=arguments.get("as_of"))
        answer = reads.get_document(conn, who.kb_id, document_id, arguments.get("offset", 0), moment)
    return Result(answer, text.document(answer))


def _find_entities(who: Member, arguments: Arguments) -> Result:
    answer = find(who, arguments["name"], reads.FOUND, **_record_moments(arguments))
    more = [f"{answer['total'] - len(answer['entities'])} more match; narrow the name."] if answer["truncated"] else []
    rows = [text.entities_lead(answer), *text.hints(answer), *text.entity_rows(answer), *more]
    return Result(answer, "\n".join(rows))


def _entity_facts(who: Member, arguments: Arguments) -> Result:
    filters = {k: arguments.get(k) for k in ("predicate", "object_type", "since", "until", "cursor")}
    at = arguments.get("at")

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, at=at, **(again or _record_moments(arguments)))
            answer = reads.entity_facts(conn, who.kb_id, arguments["entity_id"], moment, limit=limit, **filters)
            answer = reads.with_hints(conn, who.kb_id, moment, "entity_facts", arguments, answer)
        return {**answer, "before": arguments.get("before")}

    return _paged(ask, arguments.get("limit", 80), text.facts_lead, text.fact_rows)


def _neighbors(who: Member, arguments: Arguments) -> Result:
    filters = {k: arguments.get(k) for k in ("predicate", "object_type", "cursor")}
    at = arguments.get("at")

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, at=at, **(again or _record_moments(arguments)))
            answer = reads.neighbors(conn, who.kb_id, arguments["entity"], moment, limit=limit, **filters)
            return reads.with_hints(conn, who.kb_id, moment, "neighbors", arguments, answer)

    return _paged(ask, arguments.get("limit", 40), text.neighbors_lead, text.neighbor_rows)


def _timeline(who: Member, arguments: Arguments) -> Result:
    filters = {k: arguments.get(k) for k in ("predicate", "since", "until", "cursor")}

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, **(again or _record_moments(arguments)))
            answer = reads.timeline(conn, who.kb_id, arguments["entity"], moment, limit=limit, **filters)
            return reads.with_hints(conn, who.kb_id, moment, "timeline", arguments, answer)

    return _paged(ask, arguments.get("limit", 60), text.facts_lead, text.fact_rows)


def _paths_between(who: Member, arguments: Arguments) -> Result:
    with who.read() as conn:
        moment = who.moment(conn, at=arguments.get("at"), **_record_moments(arguments))
        answer = reads.paths_between(
            conn, who.kb_id, arguments["from"], arguments["to"], moment, max_hops=arguments.get("max_hops", 3)
        )
        answer = reads.with_hints(conn, who.kb_id, moment, "paths_between", arguments, answer)
    return Result(answer, text.paths(answer))


def _explain_fact(who: Member, arguments: Arguments) -> Result:
    fact_id = _id(arguments, "fact_id", "No fact with that id in this knowledge base.")
    with who.read() as conn:
        moment = who.moment(conn, **_record_moments(arguments))
        answer = reads.explain_fact(conn, who.kb_id, fact_id, moment, checkpoints=who.settings.checkpoints_dir)
        answer = reads.with_hints(conn, who.kb_id, moment, "explain_fact", arguments, answer)
    return Result(answer, text.explanation(answer))


def _changes(who: Member, arguments: Arguments) -> Result:
    filters = {k: arguments.get(k) for k in ("until", "kinds", "cursor")}

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, **(again or {"as_of": arguments.get("as_of")}))
            answer = reads.changes(
                conn,
                who.kb_id,
                arguments["since"],
                entity=arguments.get("entity_id"),
                limit=limit,
                as_of=moment,
                **filters,
            )
            return reads.with_hints(conn, who.kb_id, moment, "changes", arguments, answer)

    return _paged(ask, arguments.get("limit", 40), text.changes_lead, text.change_rows)


def _list_rules(who: Member, arguments: Arguments) -> Result:
    with who.read() as conn:
        answer = reads.list_rules(conn, who.kb_id, who.moment(conn, as_of=arguments.get("as_of")))
    return Result(answer, text.rules(answer))


def _review_status(who: Member, arguments: Arguments) -> Result:
    filters: dict[str, Any] = {k: arguments.get(k) for k in ("idempotency_key", "since", "cursor")}
    document = None
    if "document_id" in arguments:
        document = _id(arguments, "document_id", "No document with that id in this knowledge base.")

    def ask(limit: int, again: Moments) -> Answer:
        with who.read() as conn:
            moment = who.moment(conn, **(again or {"as_of": arguments.get("as_of")}))
            return reads.review_status(
                conn, who.kb_id, moment, actor=who.actor, document_id=document, limit=limit, **filters
            )

    return _paged(ask, arguments.get("limit", 20), text.status_lead, text.status_rows)


def _search_docs(who: Member, arguments: Arguments) -> Result:
    answer = {"kb_id": str(who.kb_id), **reads.search_manual(arguments["query"])}
    return Result(answer, text.manual(answer))


def _id(arguments: Arguments, name: str, otherwise: str) -> UUID:
    try:
        return UUID(arguments[name])
    except ValueError:
        raise NotFound(otherwise, field=name) from None


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


def _report_gap(who: Member, arguments: Arguments) -> Result:
    from substrate import gaps

    if not who.may_write:
        raise Forbidden("this needs a token with the write scope, held by an editor in this base")
    with who.read() as conn:
        seq = who.moment(conn).seq
    kept = gaps.keep(who.db, who.kb_id, arguments["question"], asker=who.actor, via="report_gap", seq=seq)
    structured = {
        "kb_id": str(who.kb_id),
        "gap_id": str(kept.id),
        "question": kept.question,
        "asked": kept.asked,
        "seq": seq,
        "status": kept.state,
    }
    said = f"Kept as a question without answer (asked {kept.asked} times, {kept.state}). review_status tells when a "
    return Result(structured, said + "document answers it.")


_TOOLS: Mapping[str, Callable[[Member, Arguments], Result]] = {
    "search_chunks": _search_chunks,
    "context": _context,
    "get_document": _get_document,
    "find_entities": _find_entities,
    "entity_facts": _entity_facts,
    "neighbors": _neighbors,
    "timeline": _timeline,
    "paths_between": _paths_between,
    "explain_fact": _explain_fact,
    "changes": _changes,
    "list_rules": _list_rules,
    "review_status": _review_status,
    "search_docs": _search_docs,
    "remember": _remember,
    "report_gap": _report_gap,
}
