"""Answers as text for people and models: the same rows that the structured answer holds, in readable form.

Text from documents stands only behind its label, in quotation marks or behind ``>``, and a name is one line, since a
document may say anything: no row can be made to look like another, or like a note of ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from substrate.reads import words

Answer = Mapping[str, Any]
_QUOTE = 300


def stands_on(answer: Answer) -> str:
    """Where the answer stands on the record clock."""
    ahead = ", the head, since the record has not come to what was asked" if answer.get("clamped") else ""
    return f"(record as of {answer['as_of']}, seq:{answer['seq']}{ahead})"


def hints(answer: Answer) -> list[str]:
    """One line per hint, with the call that goes further; what an arm says stands in `arms` already."""
    return [
        f"Note ({h['kind']}): {h['says']} -> {h['tool']} {json.dumps(h['arguments'], ensure_ascii=False)}"
        for h in answer.get("hints", ())
        if h["kind"] not in ("words_only", "meaning_only", "more")
    ]


def search_rows(answer: Answer) -> list[str]:
    """One block per passage."""
    return [
        f'[{n}] "{flat(c["filename"])}" section {c["seq"]} (document_id: {c["document_id"]})\n'
        + _cited(c["text"] + (" …" if c["truncated"] else ""))
        for n, c in enumerate(answer["chunks"], start=1)
    ]


def arms(answer: Answer) -> list[str]:
    """One line per arm that could not serve or is not complete, so that a reader of text alone knows."""
    names = {"lexical": "words", "vector": "meaning"}
    lines = []
    for arm, state in answer["arms"].items():
        word, _, reason = state.partition(": ")
        if word != "ok":
            lines.append(f"Search by {names.get(arm, arm)} is {word}{f': {reason}' if reason else ''}.")
    return lines


def document(answer: Answer) -> str:
    """A page of a document, with how to go on."""
    date = f", dated {answer['doc_time'][:10]}" if answer["doc_time"] else ""
    lines = [f'"{flat(answer["filename"])}"{date} {stands_on(answer)}']
    if answer["missing_since"]:
        lines.append(f"It is not at its source any more since {answer['missing_since'][:10]}; nobody deleted it.")
    if answer["purged"]:
        lines.append(f"Its words are gone{_purged(answer['purged'])}.")
    elif answer["state"] != "parsed":
        lines.append(f"This document is {answer['state']}. {answer['failure'] or ''}".strip())
    for section in answer["sections"]:
        heading = flat(" > ".join(section["heading_path"]))
        lines.append(f"\n## {heading}" if heading else "")
        lines.append(_cited(section["text"]))
    if answer["next_offset"] is not None:
        lines.append(
            f"\n[truncated at {answer['next_offset']} of {answer['total_chars']} characters: "
            f"call again with offset {answer['next_offset']}]"
        )
    elif answer["offset"] >= answer["total_chars"] > 0:
        lines.append("No remaining text.")
    return "\n".join(lines)


def entity_rows(answer: Answer) -> list[str]:
    """One line per candidate."""
    return [
        f"- {flat(e['name'])} ({e['type_label'] or 'untyped'}"
        + (f"; {flat(e['disambiguator'])}" if e["disambiguator"] else "")
        + f") {e['fact_count']} facts, id {e['id']}"
        for e in answer["entities"]
    ]


def entities_lead(answer: Answer) -> str:
    """Says how sure the first candidate is."""
    found = answer["entities"]
    if not found:
        return f"No entity by that name {stands_on(answer)}."
    exact = [e for e in found if e["match"] == "name"]
    ahead = len(found) == 1 or len(exact) == 1 or found[0]["fact_count"] >= 3 * max(1, found[1]["fact_count"])
    word = f"Best match: {flat(found[0]['name'])}" if ahead else "Several entities match"
    return f"{word} {stands_on(answer)}"


def facts_lead(answer: Answer) -> str:
    """Who it is about, on which clocks, and how many there are."""
    entity = answer["entity"]
    lines = [f"{flat(entity['name'])} ({entity['type_label'] or 'untyped'}, id {entity['id']})"]
    others = [flat(n["name"]) for n in answer.get("names", ()) if n["name"] != entity["name"]]
    if others:
        lines.append("Also known as: " + ", ".join(others))
    world = f" that held at {answer['at']}" if answer.get("at") else ""
    lines.append(f"{answer['matched_facts']} of {answer['total_facts']} facts{world} match {stands_on(answer)}")
    present = answer.get("predicates_present")
    if present:
        lines.append("Relations there are: " + ", ".join(f"{flat(p['label'])} ({p['count']})" for p in present))
    return "\n".join([*lines, *hints(answer)])


def fact_rows(answer: Answer) -> list[str]:
    """One block per fact: relation, other end, time, confidence, first sentence behind it."""
    return [_fact(f) for f in answer["facts"]]


def _fact(f: Answer) -> str:
    arrow = "" if f["direction"] == "out" else " (of it)"
    other = flat(f["other_name"] or words.value(f["object_value"]))
    extra = flat("".join(f" [{q['label']}: {q['value']}]" for q in f["qualifiers"]))
    extra = f" {extra}" if extra else ""
    sure = "" if f["confidence"] >= 1 else f" [{f['confidence']:.0%}]"
    later = f" <since {f['since']['invalidated_kind']}{_purged(f['since']['purged'])}>" if f["since"] else ""
    doubt = " [unconfirmed: no passage held now says so]" if f["unconfirmed"] else ""
    against = f" [contested: {', '.join(c['conflict_id'] for c in f['contested'])}]" if f["contested"] else ""
    line = f"- {flat(f['predicate_label'])}{arrow}: {other}{extra} ({words.interval(f)}){sure}{doubt}{against}{later}"
    for e in f["evidence"][:1]:
        source = f'"{flat(e["filename"])}", document_id {e["document_id"]}' if e["document_id"] else "a person's word"
        more = f", {f['evidence_count']} sources" if f["evidence_count"] > 1 else ""
        line += f"\n  source: {_quoted(e['quote'])} ({source}{more})"
    shown = {(e["chunk_id"], e["quote"]) for e in f["evidence"][:1]}
    for e in f["rested_on"][:1]:
        if (e["chunk_id"], e["quote"]) not in shown:
            line += f'\n  rested on: {_quoted(e["quote"])} ("{flat(e["filename"])}", {e["passage"]} since)'
    return line


def _purged(purge: Answer | None) -> str:
    """Who erased the words, when and why."""
    return f", purged on {purge['at'][:10]} by {purge['by']}: {purge['why']}" if purge else ""


def flat(text: str | None) -> str:
    """One line, whatever breaks it had."""
    return " ".join((text or "").split())


def _cited(text: str) -> str:
    """A passage, each line behind ``>``."""
    return "\n".join(f"> {line}" for line in text.splitlines())


def _quoted(text: str) -> str:
    line = flat(text)
    return f'"{line[:_QUOTE]}{"…" if len(line) > _QUOTE else ""}"'


def changes_lead(answer: Answer) -> str:
    """The window and how much it holds."""
    until = f" until {answer['until']}" if answer["until"] else ""
    lead = f"{answer['total']} changes recorded since {answer['since']}{until} {stands_on(answer)}"
    return "\n".join([lead, *hints(answer)])


def change_rows(answer: Answer) -> list[str]:
    """One block per event."""
    return [_change(c) for c in answer["changes"]]


def _change(c: Answer) -> str:
    other = c["object_name"] or words.value(c["object_value"])
    said = flat(" ".join((c["subject_name"] or "?", c["predicate_label"], other)))
    line = f"- {c['at']} {c['kind']}: {said}"
    if c["valid_from"] or c["valid_to"]:
        start = words.moment(c["valid_from"], c["valid_from_precision"]) or "…"
        end = words.last_moment(c["valid_to"], c["valid_to_precision"]) if c["valid_to"] else None
        line += f" ({start} → {end or 'open'})"
    if c["quote"]:
        line += f'\n  source: {_quoted(c["quote"])} ("{flat(c["filename"])}", document_id {c["document_id"]})'
    return line


def neighbors_lead(answer: Answer) -> str:
    """Who it is about, how many links there are, and by which relations."""
    entity = answer["entity"]
    world = f" that held at {answer['at']}" if answer.get("at") else ""
    lines = [
        f"{flat(entity['name'])} ({entity['type_label'] or 'untyped'}, id {entity['id']})",
        f"{answer['total']} links{world} {stands_on(answer)}",
    ]
    if answer["groups"]:
        told = ", ".join(f"{_relation(g)} ({g['count']})" for g in answer["groups"])
        lines.append(f"Relations: {told}")
    return "\n".join([*lines, *hints(answer)])


def neighbor_rows(answer: Answer) -> list[str]:
    """One line per link, beneath its relation where a new one begins."""
    rows, before = [], None
    for n in answer["neighbors"]:
        relation = _relation(n)
        head = f"Relation: {relation}\n" if relation != before else ""
        before = relation
        kind = n["type_label"] or "untyped"
        rows.append(
            f"{head}- {flat(n['name'])} ({kind}; {words.interval(n)}){_doubts(n)} id {n['id']}, fact {n['fact_id']}"
        )
    return rows


def paths(answer: Answer) -> str:
    """Each chain on a line, with the facts it is made of, then what was not looked at."""
    ends = flat(f"{answer['from']['name']} and {answer['to']['name']}")
    world = f", every step holding at {answer['at']}" if answer["at"] else ""
    lines = [f"{answer['total']} chains between {ends}{world} {stands_on(answer)}", *hints(answer)]
    for number, path in enumerate(answer["paths"], start=1):
        edges = path["edges"]
        steps = [_step(e) for e in edges]
        facts = ", ".join(e["fact_id"] for e in edges)
        lines.append(f"{number}. {flat(edges[0]['from']['name'])}{''.join(steps)}\n  facts: {facts}")
    if answer["truncated"]:
        lines.append(f"{answer['total'] - len(answer['paths'])} more chains are not shown; give at or fewer hops.")
    out = answer["left_out"]
    told = [f"{out[name]} {says}" for name, says in _LEFT_OUT.items() if out[name]]
    return "\n".join([*lines, *([f"Not looked at: {', '.join(told)}."] if told else [])])


_LEFT_OUT = {
    "hubs": "entities that very many facts touch",
    "entities": "other entities on the way",
    "facts": "facts or more of the two ends",
}


def _step(e: Answer) -> str:
    label = flat(e["predicate_label"])
    arrow = f" —{label}→ " if e["direction"] == "out" else f" ←{label}— "
    return f"{arrow}{flat(e['to']['name'])} ({words.interval(e)}){_doubts(e)}"


def _relation(row: Answer) -> str:
    return f"{flat(row['predicate_label'])}{'' if row['direction'] == 'out' else ' (of it)'}"


def _doubts(f: Answer) -> str:
    told = [f"{f['confidence']:.0%}"] if f["confidence"] < 1 else []
    told += [f["status"]] if f["status"] != "held" else []
    return f" [{', '.join(told)}]" if told else ""


def explanation(answer: Answer) -> str:
    """The fact, then the words behind it, its history, what speaks against it, and its proof."""
    [f] = answer["facts"]
    other = f["other_name"] or words.value(f["object_value"])
    now = f", now {f['successor_id']}" if f["successor_id"] else ""
    state = f" [{f['status']}{now}]" if f["status"] != "held" else ""
    said = flat(" — ".join((f["subject_name"] or "?", f["predicate_label"], other)))
    lines = [f"{said} ({words.interval(f)}){state} {stands_on(answer)}"]
    lines += hints(answer)
    for e in answer["evidence"]:
        lines.append(f"- evidence: {_quoted(e['quote'])} ({_where(e)}; recorded by {e['recorded_by']})")
        if e["confirmed"]:
            lines.append(
                f"  confirmed by {e['confirmed']['by']} at {e['confirmed']['at']}: {flat(e['confirmed']['why'])}"
            )
    for item in answer["history"]:
        if item["kind"] == "fact":
            ended = f", {item['closed']['kind']} at {item['closed']['at']}" if item["closed"] else ""
            lines.append(f"- row {item['id']}: recorded at {item['recorded']['at']}{ended}")
    for c in answer["conflicts"]:
        sides = flat(" / ".join(f"{c[s]['subject']} — {c[s]['object']}" for s in ("old", "new") if s in c))
        lines.append(f"- conflict {c['id']} ({c['reason']}, {c['verdict'] or 'undecided'}): {sides}")
    lines += [f"- corrected by {c['said_by']} at {c['recorded_at']}: {flat(c['why'])}" for c in answer["corrections"]]
    lines += [
        f"- proof: {p['event']} at seq:{p['seq']}, event {p['ordinal']}, hash {p['hash']}" for p in answer["proof"]
    ]
    if answer["checkpoint"]:
        lines.append(f"- covered by the signed checkpoint of seq:{answer['checkpoint']['seq']}")
    return "\n".join(lines)


def _where(e: Answer) -> str:
    if not e["document_id"]:
        return "a person's word"
    gone = f", {e['passage']} since" if e["passage"] else ""
    return f'"{flat(e["filename"])}" section {e["section"]}, document_id {e["document_id"]}{gone}'


def rules(answer: Answer) -> str:
    """One line per rule."""
    lines = [f"{answer['total']} rules declared, {answer['refused']} triples refused {stands_on(answer)}"]
    return "\n".join([*lines, *(f"- {r['label']} ({r['on']}): {r['rule']}: {r['says']}" for r in answer["rules"])])


def status_lead(answer: Answer) -> str:
    """How much was recorded, and the questions that found nothing."""
    lines = [f"{answer['total']} recorded, {answer['total_gaps']} questions kept {stands_on(answer)}"]
    for g in answer["gaps"]:
        found = g["answer"] or {}
        where = found.get("document_id") or found.get("entity_id")
        lines.append(f"- question {_quoted(g['question'])}: {g['state']}{f', see {where}' if where else ''}")
    return "\n".join(lines)


def status_rows(answer: Answer) -> list[str]:
    """One block per document recorded: its proposals and what became of them."""
    return [_recorded(r) for r in answer["recorded"]]


def _recorded(r: Answer) -> str:
    lines = [f"- {_quoted(r['sentence'] or r['filename'] or '')} ({r['state']}, document_id {r['document_id']})"]
    for p in r["proposals"]:
        why = f": {flat(p['why'])}" if p["why"] else ""
        by = f" by {p['decided_by']}{why}" if p["decided_by"] else ""
        said = flat(" — ".join((p["subject"], p["predicate_label"], p["object"])))
        lines.append(f"  {said}: {p['status']}{by}")
    return "\n".join(lines)


def manual(answer: Answer) -> str:
    """Sections of the manual."""
    found = [f"[{s['page']}: {s['heading']}]\n{s['text']}{' …' if s['truncated'] else ''}" for s in answer["results"]]
    return "\n\n".join(found) or "The manual says nothing of it."


def fits(lead: str, rows: Sequence[str], most: int) -> int:
    """How many rows fit into `most` characters beneath the lead and above a notice; at least one."""
    left = most - len(lead) - 200
    for n, row in enumerate(rows):
        left -= len(row) + 1
        if left < 0:
            return max(n, 1)
    return len(rows)
