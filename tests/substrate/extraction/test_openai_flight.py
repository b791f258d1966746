"""Passages in flight, through the real stage: written as answers come, and within the budget of their base."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from substrate import work
from substrate.db import EVERY_BASE, Database
from substrate.documents.intake import PushItem, push
from substrate.documents.stage import run_parse
from substrate.errors import InvalidInput
from substrate.extraction import flight
from substrate.extraction.budget import Terms, reserve, set_limits, settle, standing
from substrate.extraction.claims import Passage
from substrate.extraction.openai import tries
from substrate.extraction.openai_compatible import OpenAIExtractor
from substrate.extraction.stage import run_claims
from substrate.settings import Settings
from tests.substrate.extraction.chat_server import ChatServer, asked, completion, listed, refusal, statement
from tests.waiting import until

BY: Any = {"actor": "person:Ada", "via": "rest"}
COSTS = {"prompt_tokens": 700, "completion_tokens": 300}
FREE = Terms()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(tries, "FIRST_WAIT", 0.01)
    opened = ChatServer()
    opened.otherwise = leads
    yield opened
    opened.close()


@pytest.fixture
def open_extractor(server: ChatServer) -> Iterator[Callable[..., OpenAIExtractor]]:
    opened: list[OpenAIExtractor] = []

    def make(model: str = "tiny", **more: Any) -> OpenAIExtractor:
        opened.append(OpenAIExtractor(f"http://{server.address}/v1", model, None, **more))
        return opened[-1]

    yield make
    for extractor in opened:
        extractor.close()


def leads(body: dict[str, Any], usage: dict[str, int] = COSTS) -> Any:
    """Who is said to lead what, as the passage says it."""
    text = asked(body)
    name, _, project = text.removesuffix(".").partition(" leads ")
    return completion(listed(statement(text, name, "leads", object=project)), usage=usage)


def put(database: Database, kb: UUID, names: list[str]) -> None:
    push(database, kb, [PushItem(name, f"{name}.md", f"{name} leads Orion.".encode()) for name in names], **BY)
    run_parse(database, kb)


def rows(database: Database, statement: str) -> list[dict[str, Any]]:
    with database.read(EVERY_BASE) as conn:
        return conn.execute(statement).fetchall()


def subjects(database: Database) -> list[str]:
    return sorted(row["subject"] for row in rows(database, "select subject from claims"))


def now_due(database: Database, kb: UUID) -> None:
    with database.write(kb) as conn:
        conn.execute("update work set due_at = clock_timestamp() where state = 'due'")


NAMES = [f"Ada{letter}" for letter in "abcdefghijkl"]


def test_a_passage_is_written_while_others_are_still_awaited_and_no_connection_is_held(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    slow = threading.Event()

    def answer(body: dict[str, Any]) -> Any:
        if "Adal" in asked(body):
            assert slow.wait(60)
        return leads(body)

    server.otherwise = answer
    extractor = open_extractor(at_once=4)
    extractor.extract([Passage("Zoe leads Orion.")])  # the first of all is asked alone
    passing = threading.Thread(target=run_claims, args=(database, kb, extractor))
    passing.start()
    until(lambda: len(subjects(database)) == 11)
    held = rows(
        database,
        "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'"
        " and pid <> pg_backend_pid()",
    )
    slow.set()
    passing.join(60)
    assert held == []
    assert subjects(database) == NAMES
    assert server.most_at_once <= 4
    assert len(server.requests) == 1 + 12


def test_one_passage_that_is_not_answered_waits_alone(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    down = True

    def answer(body: dict[str, Any]) -> Any:
        return refusal(503, "busy") if down and "Adac" in asked(body) else leads(body)

    server.otherwise = answer
    extractor = open_extractor(at_once=1)
    result = run_claims(database, kb, extractor)
    assert (result.done, result.failed, result.remaining) == (11, 1, 1)
    assert result.failures[0].startswith("Adac: ") and "503" in result.failures[0]
    assert "Adac" not in subjects(database) and len(subjects(database)) == 11
    down = False
    now_due(database, kb)
    assert run_claims(database, kb, extractor).done == 1
    assert subjects(database) == NAMES


def test_an_endpoint_that_stays_down_ends_the_pass_and_nothing_more_is_sent(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    server.otherwise = lambda _: refusal(403, "out of credit")
    result = run_claims(database, kb, open_extractor(at_once=2))
    assert result.done == 0 and result.remaining == 12
    assert "refuses the key (403)" in result.failures[0]
    assert len(server.requests) <= 2 * flight.ROUNDS  # what was in flight
    with database.read(kb) as conn:
        assert work.due_counts(conn, kb) == {}
    server.otherwise = leads
    now_due(database, kb)
    assert run_claims(database, kb, open_extractor()).done == 12
    assert subjects(database) == NAMES


def test_three_passages_in_a_row_without_an_answer_end_the_pass(
    server: ChatServer,
    open_extractor: Callable[..., OpenAIExtractor],
    database: Database,
    kb: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("substrate.extraction.openai_compatible.TRIES", 1)
    put(database, kb, NAMES)
    server.otherwise = lambda _: refusal(503, "busy")
    assert run_claims(database, kb, open_extractor(at_once=1)).done == 0
    assert flight.GIVE_UP_AFTER <= len(server.requests) < 12


def test_a_bug_is_raised_and_in_the_end_quarantines_its_passage_alone(
    open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    extractor = open_extractor(at_once=4)
    submit = extractor.submit

    def broken(passage: Passage, begin: Callable[[], None] = lambda: None) -> Any:
        def poisoned() -> None:
            begin()
            if "Adac" in passage.text:
                raise ZeroDivisionError("poison")

        return submit(passage, poisoned)

    extractor.submit = broken  # type: ignore[method-assign]
    for _ in range(20):
        try:
            run_claims(database, kb, extractor)
        except ZeroDivisionError:
            continue
        break
    assert subjects(database) == [name for name in NAMES if name != "Adac"]
    with database.read(kb) as conn:
        [failure] = work.failures(conn, kb)
    assert (failure["external_id"], failure["state"]) == ("Adac", "quarantined")


def test_a_limit_on_passages_is_kept(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    result = run_claims(database, kb, open_extractor(at_once=2), limit=5)
    assert (result.done, result.remaining, len(server.requests)) == (5, 7, 5)


def test_what_other_passages_of_a_document_name_is_told_by_handles(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    sections = "\n\n".join(f"# Part {part}\n\n{name} leads Orion." for part, name in enumerate(NAMES[:6]))
    push(database, kb, [PushItem("memo", "memo.md", sections.encode())], **BY)
    put(database, kb, ["Zoe"])

    def answer(body: dict[str, Any]) -> Any:
        text = asked(body).rpartition("\n")[2]
        name, _, project = text.removesuffix(".").partition(" leads ")
        return completion(listed(statement(text, name, "leads", subject_kind="person", object=project)))

    server.otherwise = answer
    extractor = open_extractor(at_once=1)
    run_claims(database, kb, extractor, limit=3)
    before = len(server.requests)
    run_claims(database, kb, extractor)
    later = [body["messages"][1]["content"] for body in server.requests[before:]]
    told = [text for text in later if "Known in this document:" in text]
    assert told and all('e1 = "Orion"' in text and "Zoe" not in text.partition("<passage")[0] for text in told)
    assert not any("Known in this document:" in text for text in later if "Zoe leads" in text)


def test_a_newer_extractor_takes_over_before_the_next_call(
    server: ChatServer,
    open_extractor: Callable[..., OpenAIExtractor],
    database: Database,
    kb: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flight, "OURS_FOR_S", 0.0)
    put(database, kb, NAMES)
    entered, go_on = threading.Event(), threading.Event()

    def answer(body: dict[str, Any]) -> Any:
        if body["model"] == "old":
            entered.set()
            assert go_on.wait(60)
        return leads(body)

    server.otherwise = answer
    older = open_extractor("old", at_once=1)
    results: list[work.StageResult] = []
    passing = threading.Thread(target=lambda: results.append(run_claims(database, kb, older)))
    passing.start()
    assert entered.wait(60)
    newer = run_claims(database, kb, open_extractor("new"))
    go_on.set()
    passing.join(60)
    [old] = results
    assert newer.done == 12
    sent = [body["model"] for body in server.requests].count("old")
    assert sent == old.done == 1
    assert "openai:new" in old.failures[0]
    kept = rows(database, "select extractor, count(*) as n from claims group by extractor order by extractor")
    assert [row["n"] for row in kept] == [12, old.done]
    assert run_claims(database, kb, open_extractor("new")).done == 0


def test_a_spent_budget_pauses_in_the_open_and_a_raise_goes_on(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    terms, extractor = Terms(tokens_per_day=5_500), open_extractor(at_once=1)
    with database.read(kb) as conn:
        before = standing(conn, kb, terms)
    assert (before.tokens, before.alert, before.own) == (0, None, False)
    result = run_claims(database, kb, extractor, terms=terms)
    with database.read(kb) as conn:
        spent = standing(conn, kb, terms)
        assert work.due_counts(conn, kb) == {"entities": result.done}
        reasons = {failure["failure_code"] for failure in work.failures(conn, kb)}
    assert 0 < result.done < 12 and result.remaining == 12 - result.done
    assert 5_500 - 1000 < spent.tokens == 1000 * result.done < 5_500 + 1000
    assert (spent.reserved_tokens, reasons) == (0, {"budget_spent"})
    assert spent.alert is not None and "5500 tokens" in spent.alert
    assert any("5500 tokens" in line for line in result.failures)
    now_due(database, kb)
    again = run_claims(database, kb, extractor, terms=terms)
    assert (again.done, again.remaining) == (0, result.remaining)
    with database.write(kb) as conn:
        raised = set_limits(conn, kb, terms, tokens_per_day=1_000_000, cost_per_day=None, set_by="person:Ada", why="ok")
    assert (raised.alert, raised.own, raised.tokens_per_day) == (None, True, 1_000_000)
    assert run_claims(database, kb, extractor, terms=terms).done == 12 - result.done
    assert subjects(database) == NAMES and len(server.requests) == 12


def test_the_next_day_has_a_budget_of_its_own(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    terms, extractor = Terms(tokens_per_day=5_500), open_extractor(at_once=1)
    first = run_claims(database, kb, extractor, terms=terms).done
    with database.write(kb) as conn:
        conn.execute("update model_spending set day = day - 1 where day = current_date")
    now_due(database, kb)
    second = run_claims(database, kb, extractor, terms=terms)
    assert second.done == first > 0
    days = rows(database, "select day, answers from model_spending order by day")
    assert [row["answers"] for row in days] == [first, first] and days[1]["day"] - days[0]["day"] == timedelta(days=1)


def test_many_calls_at_once_pass_the_limit_by_no_more_than_their_own_excess(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, [*NAMES, *(f"Bo{letter}" for letter in "abcdefghijkl")])
    extractor = open_extractor(at_once=8)
    server.otherwise = lambda body: leads(body, {"prompt_tokens": 5_000, "completion_tokens": 0})
    terms = Terms(tokens_per_day=20_000)
    run_claims(database, kb, extractor, terms=terms)
    with database.read(kb) as conn:
        spent = standing(conn, kb, terms)
    assert 20_000 - 5_000 < spent.tokens <= 20_000 + 5_000 * 8


def test_what_a_server_does_not_count_is_estimated_and_counts(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, NAMES)
    server.otherwise = lambda body: leads(body, {})
    terms = Terms(tokens_per_day=5_500)
    result = run_claims(database, kb, open_extractor(at_once=1), terms=terms)
    with database.read(kb) as conn:
        spent = standing(conn, kb, terms)
    assert 0 < result.done < 12
    assert result.cost["prompt_tokens"] == 0 < result.cost["estimated_tokens"] == spent.estimated_tokens


def test_tokens_of_calls_that_came_to_nothing_are_counted(
    server: ChatServer, open_extractor: Callable[..., OpenAIExtractor], database: Database, kb: UUID
) -> None:
    put(database, kb, ["Ada"])
    server.script = [lambda _: completion("no", usage=COSTS), *[lambda _: refusal(503, "busy")] * 4]
    result = run_claims(database, kb, open_extractor())
    with database.read(kb) as conn:
        spent = standing(conn, kb, FREE)
    assert (result.done, spent.tokens, spent.answers) == (0, 1000, 1)
    assert result.cost["prompt_tokens"] == 700


def test_a_limit_on_cost_needs_prices_and_is_kept(database: Database, kb: UUID) -> None:
    put(database, kb, ["Ada", "Bo"])
    [one, two] = [row["id"] for row in rows(database, "select id from chunks order by id")]
    priced = Terms(cost_per_day=Decimal("1.5"), prompt_price=Decimal(1), completion_price=Decimal(4))
    calls = [(one, {"prompt_tokens": 600_000, "completion_tokens": 100_000}), (two, {"prompt_tokens": 600_000})]
    with database.write(kb) as conn:
        assert reserve(conn, kb, priced, calls, seconds=60) == 1
        held = standing(conn, kb, priced)
        assert (held.reserved_cost, held.alert is not None) == (Decimal(1), True)
        settle(conn, kb, priced, {one: {"prompt_tokens": 100_000}})
        assert standing(conn, kb, priced).cost == Decimal("0.1")
        assert reserve(conn, kb, priced, calls[1:], seconds=60) == 1
        assert standing(conn, kb, priced).alert is None
        with pytest.raises(InvalidInput, match="cost_per_day"):
            set_limits(conn, kb, FREE, tokens_per_day=None, cost_per_day=Decimal(1), set_by="person:Ada")
        with pytest.raises(InvalidInput, match="tokens_per_day"):
            set_limits(conn, kb, priced, tokens_per_day=-1, cost_per_day=None, set_by="person:Ada")
    with pytest.raises(InvalidInput, match="TWOCLOCKS_CHAT_COST_PER_DAY"):
        Terms.of(Settings(chat_cost_per_day=Decimal(1)))


def test_a_reservation_of_a_worker_that_died_ends_by_itself(database: Database, kb: UUID) -> None:
    put(database, kb, ["Ada"])
    [chunk] = [row["id"] for row in rows(database, "select id from chunks")]
    terms = Terms(tokens_per_day=100)
    with database.write(kb) as conn:
        assert reserve(conn, kb, terms, [(chunk, {"prompt_tokens": 100})], seconds=60) == 1
        assert standing(conn, kb, terms).reserved_tokens == 100
        conn.execute("update model_reservations set until = clock_timestamp() - interval '1 second'")
        assert standing(conn, kb, terms).reserved_tokens == 0
