"""A server that fails in every way it can, three times in ten: no gold claim is lost, none is doubled, all is counted.

The server knows what each passage states. It answers late and in every wrapping, adds items that the passage does not
bear out, and goes wrong at random. It books each item that it sends in an answer that came through; every one of them
must be a claim or a drop in the end, and the claims must be the gold ones.
"""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from uuid import UUID

import pytest

from substrate.db import Database
from substrate.documents.intake import PushItem, push
from substrate.documents.stage import run_parse
from substrate.extraction.openai import tries
from substrate.extraction.openai_compatible import OpenAIExtractor
from substrate.extraction.stage import run_claims
from substrate.identity.stage import run_entities
from substrate.ledger.stage import run_facts
from tests.substrate.extraction.chat_server import Answer, ChatServer, asked, completion, refusal, statement

DOCUMENTS, SENTENCES, RATE, SEED = 40, 3, 0.3, 20241130
STREAM = {"Content-Type": "text/event-stream"}


class Unsteady:
    """The script of such a server, and its books."""

    def __init__(self, rate: float, seed: int) -> None:
        self.rate, self.random = rate, random.Random(seed)
        self.lock = threading.Lock()
        kinds = [*sorted(FAILURES), *["cut"] * 5]
        self.random.shuffle(kinds)
        self.kinds = itertools.cycle(kinds)
        self.failed: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Answer:
        with self.lock:
            fails = self.random.random() < self.rate
            kind = next(self.kinds) if fails else ""
            wrap, late = self.random.choice(sorted(WRAPPINGS)), self.random.random() * 0.02
            cut = self.random.random()
        time.sleep(late)
        again = len(body["messages"]) > 2
        gold = [item for item in gold_of(asked(body)) if item["subject"] not in told_before(body)]
        parts = [json.dumps(item) for item in gold]
        if not again:
            parts = ['{"quote": not json}', *parts, *(json.dumps(item) for item in bad_of(asked(body)))]
        text = '{"statements": [' + ", ".join(parts) + "]}"
        if not fails:
            self.book(len(parts))
            return WRAPPINGS[wrap](text)
        with self.lock:
            self.failed[kind] += 1
        return self.cut(text, parts, cut) if kind == "cut" else FAILURES[kind](text)

    def cut(self, text: str, parts: list[str], at: float) -> Answer:
        """A reply that ends in the middle, with a word that says so."""
        kept = text[: int(len(text) * at)]
        ends = [len('{"statements": [') + len(", ".join(parts[: n + 1])) for n in range(len(parts))]
        self.book(sum(end <= len(kept) for end in ends) + 1)
        return completion(kept, "length")

    def book(self, items: int) -> None:
        with self.lock:
            self.sent["items"] += items


def gold_of(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.split("\n"):
        name, leads, project = line.strip().removesuffix(".").partition(" leads ")
        if leads:
            found.append(statement(line.strip(), name, "leads", object=project, subject_kind="person"))
    return found


def bad_of(text: str) -> list[Any]:
    """One of each kind that a passage does not bear out."""
    first = gold_of(text)[0]
    return [
        first | {"quote": "Nobody said this."},
        first | {"object": "Project Nowhere"},
        first | {"object": None},
        first | {"subject": "She"},
        first | {"phrase": ""},
        first | {"subject": "e9"},
        "a sentence in place of an object",
        first,
    ]


def told_before(body: dict[str, Any]) -> set[str]:
    if len(body["messages"]) == 2:
        return set()
    shown = json.loads(body["messages"][2]["content"])["statements"]
    gold = [item for item in shown if isinstance(item, dict) and item in gold_of(asked(body))]
    return {item["subject"] for item in gold}


def streamed(text: str, last: str) -> Answer:
    parts = [text[at : at + 50] for at in range(0, len(text), 50)]
    lines = [f"data: {json.dumps({'choices': [{'delta': {'content': part}}]})}\n\n" for part in parts]
    return 200, STREAM, "".join(lines) + last


WRAPPINGS: dict[str, Callable[[str], Answer]] = {
    "plain": lambda text: completion(text, usage={"prompt_tokens": 10, "completion_tokens": 5}),
    "fenced": lambda text: completion(f"```json\n{text}\n```"),
    "prose": lambda text: completion(f"Here is what I found:\n\n{text}\n\nI hope that this helps!", usage={"total": 7}),
    "thoughts": lambda text: completion(f"<think>They ask for {{}} and [].</think>{text}", usage={"input_tokens": 9.0}),
    "stream": lambda text: streamed(text, "data: [DONE]\n\n"),
    "parts": lambda text: completion([{"type": "text", "text": text[:9]}, {"type": "text", "text": text[9:]}]),
}
FAILURES: dict[str, Callable[[str], Answer]] = {
    "408": lambda _: refusal(408, "took too long"),
    "409": lambda _: refusal(409, "locked"),
    "429 in seconds": lambda _: refusal(429, "slow down", Retry_After="0.02"),
    "429 by date": lambda _: refusal(429, "slow down", Retry_After=format_datetime(datetime.now(UTC), usegmt=True)),
    "500": lambda _: refusal(500, "oops"),
    "503": lambda _: refusal(503, "busy", Retry_After="0"),
    "hangs up": lambda _: (0, {}, ""),
    "half a body": lambda text: (200, {}, json.dumps(completion(text)[2])[:80]),
    "half a stream": lambda text: streamed(text[: len(text) // 2], ""),
    "a page": lambda _: (200, {"Content-Type": "text/html"}, "<html>Bad gateway</html>"),
    "an error in a 200": lambda _: (200, {}, {"error": {"message": "overloaded"}}),
    "nothing": lambda _: completion(""),
    "prose alone": lambda _: completion("I would be glad to help."),
    "cut": lambda text: completion(text),
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(tries, "FIRST_WAIT", 0.005)
    monkeypatch.setattr("substrate.extraction.openai_compatible.TRIES", 9)
    monkeypatch.setattr(tries, "UNREADABLE", 8)
    opened = ChatServer()
    yield opened
    opened.close()


def test_no_gold_claim_is_lost_none_doubled_and_every_item_is_counted(
    server: ChatServer, database: Database, kb: UUID
) -> None:
    sentences = [[f"Ada{doc}x{n} leads Project Heron{doc}x{n}." for n in range(SENTENCES)] for doc in range(DOCUMENTS)]
    items = [PushItem(f"d{n}", f"d{n}.md", "\n".join(told).encode()) for n, told in enumerate(sentences)]
    push(database, kb, items, actor="person:Ada", via="rest")
    run_parse(database, kb)
    server.otherwise = unsteady = Unsteady(RATE, SEED)
    extractor = OpenAIExtractor(f"http://{server.address}/v1", "tiny", None, at_once=16)
    for _ in range(5):
        if not run_claims(database, kb, extractor).remaining:
            break
        with database.write(kb) as conn:
            conn.execute("update work set due_at = clock_timestamp() where state = 'due'")
    extractor.close()
    run_entities(database, kb)
    run_facts(database, kb)
    with database.read(kb) as conn:
        claims = conn.execute("select quote, subject, object from claims where kb_id = %s", (kb,)).fetchall()
        drops = conn.execute("select code from extraction_drops where kb_id = %s", (kb,)).fetchall()
        facts = conn.execute(
            "select e.label from facts f join entities e on e.kb_id = f.kb_id and e.id = f.subject_id"
            " where f.kb_id = %s and f.phrase = 'leads' and f.invalidated_seq is null",
            (kb,),
        ).fetchall()
    gold = sorted(sentence for told in sentences for sentence in told)
    assert sorted(claim["quote"] for claim in claims) == gold
    assert sorted(fact["label"] for fact in facts) == [sentence.partition(" ")[0] for sentence in gold]
    assert len(claims) + len(drops) == unsteady.sent["items"], Counter(drop["code"] for drop in drops)
    assert set(unsteady.failed) == set(FAILURES)
    codes = {drop["code"] for drop in drops}
    assert codes >= {"malformed_item", "quote_not_in_chunk", "name_not_in_text", "repeated_item", "truncated_reply"}
    assert codes >= {"object_missing", "pronoun_subject", "unknown_ref"}
