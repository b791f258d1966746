"""The model extractor against a real chat server on the loopback, and through the pipeline to facts."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from typing import Any
from uuid import UUID

import httpx2
import numpy as np
import openai
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from substrate.db import Database
from substrate.documents.intake import PushItem, push
from substrate.errors import InvalidInput, ModelUnavailable
from substrate.extraction.claims import Claim, ClaimTime, Extraction, Known, Passage, Value
from substrate.extraction.openai import tries
from substrate.extraction.openai.answers import Answer
from substrate.extraction.openai.replies import read_reply
from substrate.extraction.openai_compatible import AT_ONCE, OpenAIExtractor, open_openai_extractor, read
from substrate.pipeline import Services, run_pipeline
from substrate.reads.facts import entity_facts
from substrate.reads.moments import resolve
from substrate.settings import Settings
from tests.substrate.extraction.chat_server import ChatServer, asked, completion, listed, refusal, statement
from tests.waiting import until

KEY = "sk-test-0123456789abcdef"
LEADS = "Ann Lee has led Project Kestrel since 1 March 2024."
KESTREL = statement(
    LEADS,
    "Ann Lee",
    "leads",
    subject_kind="person",
    object="Project Kestrel",
    object_kind="project",
    times=[{"words": "since 1 March 2024", "role": "start"}],
)
EMPLOYEES = Value("32,000 employees", Decimal(32000), "{employees}", "number")


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(tries, "FIRST_WAIT", 0.01)
    opened = ChatServer()
    yield opened
    opened.close()


def values(server: ChatServer) -> dict[str, Any]:
    return {"extractor": "openai", "chat_base_url": server.address, "chat_model": "tiny", "chat_api_key": KEY}


@pytest.fixture
def extractor(server: ChatServer) -> Iterator[OpenAIExtractor]:
    opened = open_openai_extractor(Settings.model_validate(values(server)))
    yield opened
    opened.close()


def said(text: str, passage: Passage | None = None) -> Extraction:
    return read(Answer(text, False, "", {}), passage or Passage(LEADS))


def judged(item: Any, passage: Passage) -> tuple[list[Claim], list[str]]:
    found = said(listed(item), passage)
    return list(found.claims), [drop.code for drop in found.drops]


def dated(quote: str, *times: tuple[str, str], ended: bool = False, **passage: Any) -> tuple[ClaimTime, list[str]]:
    times_ = [{"words": words, "role": role} for words, role in times]
    item = statement(quote, "Ann", "leads", object="Kestrel", times=times_, ended=ended)
    claims, codes = judged(item, Passage(quote, **passage))
    assert len(claims) == 1
    return claims[0].time, codes


def test_a_good_reply_becomes_a_dated_claim_at_exact_offsets(server: ChatServer, extractor: OpenAIExtractor) -> None:
    usage = {"prompt_tokens": 321, "completion_tokens": 45, "total_tokens": 366}
    server.script = [lambda _: completion(listed(KESTREL), usage=usage)]
    passage = Passage(
        f"# Staff\n\n{LEADS}\nMore.",
        "staff.md",
        "Staff list",
        ("Handbook", "Staff"),
        day("2024-05-06"),
        "day",
        ("Who", "What"),
        (("Ann", "lead"),),
    )
    [found] = extractor.extract([passage])
    [claim] = found.claims
    assert passage.text[claim.quote_start : claim.quote_end] == claim.quote == LEADS
    assert (claim.subject, claim.phrase, claim.object) == ("Ann Lee", "leads", "Project Kestrel")
    assert (claim.subject_kind, claim.object_kind, claim.mood) == ("person", "project", None)
    assert claim.time == ClaimTime(day("2024-03-01"), "day", words="since 1 March 2024")
    assert (found.drops, found.usage) == ((), {"prompt_tokens": 321, "completion_tokens": 45})
    sent = server.requests[0]
    assert (sent["model"], sent["temperature"], sent.get("stream", False)) == ("tiny", 0, False)
    assert sent["response_format"]["type"] == "json_schema"
    assert sent["response_format"]["json_schema"]["strict"] is True
    for part in ("staff.md", "Staff list", "Handbook > Staff", "2024-05-06", LEADS, '["Ann", "lead"]'):
        assert part in sent["messages"][1]["content"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["path"] == "/v1/chat/completions"


@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n{}\n```",
        "```\n{}\n```",
        "Sure! Here is what the passage [1] states:\n\n{}\n\nLet me know if {{you}} need more.",
        '<think>Is {{"statements": [1]}} right?</think>{}',
        'maybe {{"statements": []}}</think>\n{}',
        "\ufeff{}",
    ],
)
def test_fences_prose_and_thoughts_around_the_json_are_no_loss(wrapped: str) -> None:
    found = said(wrapped.format(listed(KESTREL, KESTREL | {"phrase": "heads"})))
    assert [claim.phrase for claim in found.claims] == ["leads", "heads"]
    assert found.drops == ()


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps([KESTREL]),
        json.dumps(KESTREL),
        json.dumps({"facts": [KESTREL]}),
        f"One fact: {json.dumps(KESTREL)} and no other.",
        f"Facts: {json.dumps([KESTREL])}",
        f"{json.dumps(KESTREL)}\n{json.dumps(KESTREL)}",
    ],
)
def test_a_reply_that_ignores_the_schema_is_read_all_the_same(reply: str) -> None:
    found = said(reply)
    assert [claim.object for claim in found.claims] == ["Project Kestrel"]
    assert {drop.code for drop in found.drops} <= {"repeated_item"}


@pytest.mark.parametrize(
    "reply", ["I cannot help with that.", '{"answer": 3}', "[1] is a footnote", "null", "{{{{", "["]
)
def test_a_reply_without_statements_is_one_counted_drop(reply: str) -> None:
    found = said(reply)
    assert found.claims == ()
    assert len(found.drops) == 1
    assert found.drops[0].code in ("chunk_unextracted", "truncated_reply")


def test_no_statements_is_an_answer_and_no_drop() -> None:
    assert said(listed()) == Extraction(usage={})


def test_a_cut_reply_keeps_what_was_whole(server: ChatServer, extractor: OpenAIExtractor) -> None:
    whole = listed(KESTREL, KESTREL | {"phrase": "heads"}, KESTREL | {"phrase": "runs"})
    server.script = [lambda _: completion(whole[: whole.index('"runs"') + 3], "length")]
    [found] = extractor.extract([Passage(LEADS)])
    assert [claim.phrase for claim in found.claims] == ["leads", "heads"]
    assert [drop.code for drop in found.drops] == ["truncated_reply"]
    assert (found.usage["prompt_tokens"], found.usage["completion_tokens"]) == (0, 0)
    assert found.usage["estimated_tokens"] > 100


def test_wherever_a_reply_is_cut_whole_items_stay_and_the_cut_is_told() -> None:
    items = [KESTREL | {"phrase": phrase} for phrase in ("leads", "heads", "runs")]
    whole = listed(*items)
    ends = [whole.index(json.dumps(item)) + len(json.dumps(item)) for item in items]
    for at in range(whole.index("[") + 1, len(whole) - 2, 7):
        found = read(Answer(whole[:at], True, "", {}), Passage(LEADS))
        assert len(found.claims) == sum(end <= at for end in ends)
        assert [drop.code for drop in found.drops] == ["truncated_reply"]


def test_an_item_that_is_no_json_loses_itself_alone() -> None:
    good = json.dumps(KESTREL), json.dumps(KESTREL | {"phrase": "heads"})
    for bad in (
        '{"quote": "He said "no" to it", "subject": "x"}',
        "{quote: 1}",
        '{"quote": "an " odd one"}',
        "nonsense",
    ):
        found = said(f'{{"statements": [{good[0]}, {bad}, {good[1]}]}}')
        assert [claim.phrase for claim in found.claims] == ["leads", "heads"]
        assert [(drop.code, drop.example) for drop in found.drops] == [("malformed_item", bad)]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"quote": "Ann Lee leads everything."}, "quote_not_in_chunk"),
        ({"quote": "…"}, "quote_not_in_chunk"),
        ({"quote": None}, "malformed_item"),
        ({"subject": "Bob Stone"}, "name_not_in_text"),
        ({"subject": "nn Lee"}, "name_not_in_text"),
        ({"subject": "She"}, "pronoun_subject"),
        ({"subject": " "}, "malformed_item"),
        ({"subject": ["Ann Lee"]}, "malformed_item"),
        ({"object": "Project Heron"}, "name_not_in_text"),
        ({"object": "it"}, "pronoun_object"),
        ({"object": "Ann Lee"}, "object_is_subject"),
        ({"object": None}, "object_missing"),
        ({"object": None, "value": "31 July"}, "value_not_in_text"),
        ({"phrase": "Ann Lee"}, "phrase_is_subject"),
        ({"phrase": "project kestrel"}, "phrase_is_value"),
        ({"phrase": "-"}, "malformed_item"),
        ({"phrase": "has for many years now been the person who carries the whole of it"}, "phrase_is_clause"),
        ({"ended": "perhaps"}, "malformed_item"),
        ({"times": "since 1 March 2024"}, "malformed_item"),
    ],
)
def test_a_bad_item_among_good_ones_is_a_drop_with_code_and_example(change: dict[str, Any], code: str) -> None:
    bad = KESTREL | change
    found = said(listed(KESTREL, bad, KESTREL | {"phrase": "heads"}))
    assert [claim.phrase for claim in found.claims] == ["leads", "heads"]
    [drop] = found.drops
    assert (drop.code, drop.example) == (code, json.dumps(bad, ensure_ascii=False)[:200])
    assert drop.detail


def test_a_quote_is_found_whatever_its_spaces_and_marks_and_given_as_the_passage_has_it() -> None:
    text = "Intro. The “Kestrel”\n  project – Ann’s – is led by  Ann\u00a0Lee. 上海\n公司由李伟领导。"
    sloppy = '"The "Kestrel" project - Ann\'s - is led by Ann Lee."'
    first = statement(sloppy, "Ann Lee", "leads", object='"Kestrel"')
    second = statement("上海公司由李伟领导", "李伟", "领导", object="上海公司")
    found = said(listed(first, second), Passage(text))
    assert found.drops == ()
    for claim in found.claims:
        assert text[claim.quote_start : claim.quote_end] == claim.quote
    assert found.claims[0].quote == "The “Kestrel”\n  project – Ann’s – is led by  Ann\u00a0Lee."
    assert found.claims[1].quote == "上海\n公司由李伟领导"


def test_a_name_may_stand_in_heading_title_or_filename_and_nowhere_else() -> None:
    item = statement("Lead: Ann", "Kestrel", "led by", object="Ann")
    for context in ({"heading_path": ("Kestrel",)}, {"title": "On Kestrel"}, {"filename": "kestrel.md"}):
        assert [c.subject for c in judged(item, Passage("Lead: Ann", **context))[0]] == ["Kestrel"]
    assert judged(item, Passage("Lead: Ann", heading_path=("Kestrels",))) == ([], ["name_not_in_text"])


def test_who_says_i_is_the_speaker_if_one_is_known() -> None:
    item = statement("I work for Acme", "I", "works for", object="Acme")
    assert [c.subject for c in judged(item, Passage("I work for Acme", speaker="Mei"))[0]] == ["Mei"]
    assert judged(item, Passage("I work for Acme"))[1] == ["pronoun_subject"]


def test_a_mood_is_kept_and_an_unknown_one_never_passes_as_plain() -> None:
    for given_, kept in (("planned", "planned"), ("denied", "negated"), (None, None), ("Stated", None)):
        [claim], codes = judged(KESTREL | {"mood": given_}, Passage(LEADS))
        assert (claim.mood, codes) == (kept, [])
    [claim], codes = judged(KESTREL | {"mood": "sarcastic"}, Passage(LEADS))
    assert (claim.mood, codes) == ("hedged", ["unknown_mood"])


def test_a_correction_is_two_claims_of_one_quote() -> None:
    quote = "The salary of Ann is EUR 32,000, not EUR 30,000."
    right = statement(quote, "Ann", "salary", value="32,000", unit="EUR", corrects=True)
    wrong = statement(quote, "Ann", "salary", value="EUR 30,000", mood="negated", denies=True, corrects=True)
    found = said(listed(right, wrong), Passage(quote))
    assert found.drops == ()
    assert [(c.denies, c.corrects, c.mood) for c in found.claims] == [(False, True, None), (True, False, None)]
    assert [c.value for c in found.claims] == [
        Value("EUR 32,000", Decimal(32000), "EUR", "money"),
        Value("EUR 30,000", Decimal(30000), "EUR", "money"),
    ]
    assert len({c.quote_start for c in found.claims}) == 1


@pytest.mark.parametrize(
    ("quote", "raw", "unit", "expected"),
    [
        ("Acme has 32,000 employees.", "32000", None, EMPLOYEES),
        ("Acme has 32,000 employees.", 32000, "employees", EMPLOYEES),
        ("Acme sold for $4.5 million.", "$4.5 million", None, Value("$4.5 million", Decimal(4500000), "USD", "money")),
        ("Acme has 7 berths.", "7", "berths", Value("7", Decimal(7), "{berths}", "number")),
        ("Acme's motto is Onward.", "Onward", None, Value("Onward")),
        ("Acme's year ends on 31 March 2025.", "31 March 2025", None, Value("31 March 2025", datatype="date")),
        ("Acme 的营收为3亿元。", "3亿元", None, Value("3亿元", Decimal(300000000), "CNY", "money")),
    ],
)  # fmt: skip
def test_a_value_is_normalised_by_code(quote: str, raw: Any, unit: str | None, expected: Value) -> None:
    [claim], codes = judged(statement(quote, "Acme", "figure", value=raw, unit=unit), Passage(quote))
    assert (claim.value, claim.object, codes) == (expected, None, [])


def test_an_object_with_a_value_keeps_both() -> None:
    quote = "Acme acquired Beta for $4 million."
    [claim], codes = judged(statement(quote, "Acme", "acquires", object="Beta", value="$4 million"), Passage(quote))
    assert (claim.object, claim.value, claim.qualifiers, codes) == ("Beta", None, (("value", "$4 million"),), [])


def test_a_rate_and_stated_details_are_qualifiers_and_invented_ones_are_dropped() -> None:
    quote = "Ann earns EUR 60,000 per year as Lead."
    details = [{"role": "As", "value": "Lead"}, {"role": "in", "value": "Paris"}, {"role": ""}, 7]
    item = statement(quote, "Ann", "salary", value="EUR 60,000 per year", qualifiers=details)
    [claim], codes = judged(item, Passage(quote))
    assert claim.qualifiers == (("per", "year"), ("as", "Lead"))
    assert codes == ["qualifier_not_in_text", "malformed_qualifier", "malformed_qualifier"]


@pytest.mark.parametrize(
    ("quote", "times", "ended", "start", "end", "event"),
    [
        ("Ann leads Kestrel since March 2024", [("March 2024", "start")], False, "2024-03-01 month", None, False),
        ("Ann led Kestrel until March 2024", [("March 2024", "end")], True, None, "2024-04-01 month", False),
        ("Ann led Kestrel before March 2024", [("March 2024", "end")], True, None, "2024-03-01 month", False),
        ("Bo replaced Ann at Kestrel on 1 May 2024", [("1 May 2024", "replaced")], True, None, "2024-05-01 day",
         False),
        ("Ann leads Kestrel no more from 1 May 2024", [("from 1 May 2024", "end")], True, None, "2024-05-01 day",
         False),
        ("Ann led Kestrel from May 2020 to June 2021", [("May 2020", "start"), ("June 2021", "end")], True,
         "2020-05-01 month", "2021-07-01 month", False),
        ("Ann led Kestrel from May 2020 to June 2021", [("from May 2020 to June 2021", "during")], True,
         "2020-05-01 month", "2021-07-01 month", False),
        ("Ann saw Kestrel in March 2024", [("in March 2024", "at")], False, "2024-03-01 month", "2024-04-01 month",
         True),
        ("Ann led Kestrel in 2019", [("2019", "during")], True, "2019-01-01 year", "2020-01-01 year", False),
        ("As of 1 May 2024 Ann leads Kestrel", [("As of 1 May 2024", "as_of")], False, "2024-05-01 day", None, False),
        ("Kestrel: Bo from May 2020 to June 2021, then Ann", [("June 2021", "start")], False, "2021-06-01 month", None,
         False),
        ("Ann leads Kestrel until March 2024", [("until March 2024", "at")], False, None, "2024-04-01 month", False),
        ("Ann leads Kestrel", [], False, None, None, False),
        ("Ann was lead of Kestrel", [], True, None, "unknown", False),
    ],
)  # fmt: skip
def test_the_model_names_the_words_and_code_computes_the_interval(
    quote: str, times: list[tuple[str, str]], ended: bool, start: str | None, end: str | None, event: bool
) -> None:
    time_, codes = dated(quote, *times, ended=ended)
    shown = [
        f"{at:%Y-%m-%d} {precision}" if at else precision
        for at, precision in (
            (time_.valid_from, time_.valid_from_precision),
            (time_.valid_to, time_.valid_to_precision),
        )
    ]
    assert (shown, time_.at_event, time_.grade, codes) == ([start, end], event, "A", [])


def test_a_relative_time_counts_from_the_documents_date_and_from_nothing_else() -> None:
    anchored, _ = dated(
        "Ann leads Kestrel since last month",
        ("since last month", "start"),
        document_date=day("2024-05-06"),
        document_date_precision="day",
    )
    assert (anchored.valid_from, anchored.valid_from_precision, anchored.grade) == (day("2024-04-01"), "month", "B")
    floating, _ = dated("Ann leads Kestrel since last month", ("since last month", "start"))
    assert floating == ClaimTime(grade="C", words="since last month")


def test_an_end_that_cannot_be_dated_is_an_unknown_end_and_never_none() -> None:
    unknown = {"valid_to_precision": "unknown", "grade": "A"}
    assert dated("Ann led Kestrel", ("until May 2020", "end")) == (ClaimTime(**unknown), ["time_not_in_quote"])
    floating, codes = dated("Ann led Kestrel until the thaw", ("until the thaw", "end"))
    assert (floating, codes) == (ClaimTime(**unknown, words="until the thaw"), ["time_not_read"])
    anchorless, codes = dated("Ann led Kestrel until last month", ("until last month", "end"))
    assert (anchorless, codes) == (ClaimTime(**unknown, words="until last month"), [])
    unclear, codes = dated("Ann left Kestrel in May 2020", ("in May 2020", "at"), ended=True)
    assert (unclear, codes) == (ClaimTime(**unknown, words="in May 2020"), ["time_role_unclear"])


def test_invented_and_contradictory_times_date_nothing() -> None:
    assert dated("Ann leads Kestrel", ("since 2020", "start")) == (ClaimTime(), ["time_not_in_quote"])
    backwards, codes = dated("Ann: Kestrel 2022, 2020", ("2022", "start"), ("2020", "end"))
    assert (backwards.valid_from, backwards.valid_to_precision, codes) == (None, "unknown", ["time_contradictory"])


def test_words_beside_the_quote_do_not_date_it() -> None:
    times = [{"words": "since 2020", "role": "start"}]
    item = statement("Ann leads Kestrel.", "Ann", "leads", object="Kestrel", times=times)
    for text in ("Ann leads Kestrel. Bo rests since 2020.", "Bo rests since 2020. Ann leads Kestrel."):
        [claim], codes = judged(item, Passage(text))
        assert (claim.time.valid_from, codes) == (None, ["time_not_in_quote"])


def test_an_until_without_a_closing_role_still_closes() -> None:
    time_, codes = dated("Ann leads Kestrel until last month", ("until last month", "at"))
    assert (time_.valid_to, time_.valid_to_precision, codes) == (None, "unknown", [])


def test_signs_that_cannot_be_seen_or_stored_are_taken_out() -> None:
    details = [{"role": "a\0s\ud800", "value": "Ann\u200b Lee"}]
    [claim], codes = judged(KESTREL | {"phrase": "le\0a\udc00ds\n", "qualifiers": details}, Passage(LEADS))
    assert (claim.phrase, claim.qualifiers, codes) == ("leads", (("as", "Ann Lee"),), [])


def test_a_heading_may_date_what_stands_below_it() -> None:
    time_, codes = dated("Ann leads Kestrel", ("March 2024", "as_of"), heading_path=("Staff in March 2024",))
    assert (time_.valid_from, time_.valid_to, codes) == (day("2024-03-01"), None, [])


def test_a_row_of_a_table_is_dated_by_its_cells() -> None:
    text = "Name | Project | Since\nAnn | Kestrel | 2024-03-01\nBo | Heron | 2024-05-01"
    rows = (("Ann", "Kestrel", "2024-03-01"), ("Bo", "Heron", "2024-05-01"))
    item = statement("Bo | Heron | 2024-05-01", "Bo", "leads", object="Heron")
    item |= {"times": [{"words": "2024-05-01", "role": "start"}]}
    [claim], codes = judged(item, Passage(text, header=("Name", "Project", "Since"), rows=rows))
    assert (claim.time.valid_from, claim.time.valid_to, codes) == (day("2024-05-01"), None, [])


def test_a_429_is_waited_out_as_its_retry_after_says(server: ChatServer, extractor: OpenAIExtractor) -> None:
    server.script = [lambda _: refusal(429, "slow down", Retry_After="1"), lambda _: completion(listed(KESTREL))]
    assert len(extractor.extract([Passage(LEADS)])[0].claims) == 1
    assert server.times[1] - server.times[0] >= 1


def test_a_server_that_stumbles_or_hangs_up_is_asked_again(server: ChatServer, extractor: OpenAIExtractor) -> None:
    stumble = [lambda _: refusal(500, "oops"), lambda _: refusal(503, "busy"), lambda _: (0, {}, "")]
    server.script = [*stumble, lambda _: completion(listed(KESTREL))]
    assert len(extractor.extract([Passage(LEADS)])[0].claims) == 1
    assert len(server.requests) == 4


def test_a_server_that_stays_down_is_given_up_after_five_tries(server: ChatServer, extractor: OpenAIExtractor) -> None:
    server.otherwise = lambda _: refusal(500, "oops", Retry_After="0.01")
    with pytest.raises(ModelUnavailable, match="answered 500: oops"):
        extractor.extract([Passage(LEADS)])
    assert len(server.requests) == 5


@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_schema_is_given_up_once_for_the_process(
    server: ChatServer, extractor: OpenAIExtractor, status: int
) -> None:
    def strict(body: dict[str, Any]) -> Any:
        if body.get("response_format", {}).get("type") == "json_schema":
            return refusal(status, "response_format json_schema is not supported")
        return completion(listed(KESTREL | {"quote": asked(body)}))

    server.otherwise = strict
    passages = [Passage(f"{LEADS} {number}") for number in range(6)]
    assert [len(found.claims) for found in extractor.extract(passages)] == [1] * 6
    assert server.formats() == ["json_schema"] + ["json_object"] * 6


def test_a_server_that_knows_no_format_and_no_temperature_is_asked_plainly(
    server: ChatServer, extractor: OpenAIExtractor
) -> None:
    def simple(body: dict[str, Any]) -> Any:
        if "temperature" in body:
            return refusal(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        return refusal(400, "unknown field") if "response_format" in body else completion(listed(KESTREL))

    server.otherwise = simple
    assert len(extractor.extract([Passage(LEADS)])[0].claims) == 1
    assert len(extractor.extract([Passage(LEADS)])[0].claims) == 1
    assert server.formats() == ["json_schema", "json_schema", "json_object", "json_object", "none", "none"]


def test_a_passage_the_server_refuses_is_counted_and_loses_itself_alone(
    server: ChatServer, extractor: OpenAIExtractor
) -> None:
    def short_only(body: dict[str, Any]) -> Any:
        long = len(asked(body)) > 200
        return refusal(400, f"too long: {asked(body)}") if long else completion(listed(KESTREL))

    server.otherwise = short_only
    found = extractor.extract([Passage("A secret plan. " * 40), Passage(LEADS), Passage("Another long plan. " * 40)])
    assert [[drop.code for drop in each.drops] for each in found] == [["chunk_unextracted"], [], ["chunk_unextracted"]]
    assert len(found[1].claims) == 1
    assert "too long" in found[0].drops[0].detail and "secret" not in found[0].drops[0].detail


def test_a_server_that_refuses_everything_is_unavailable_and_nothing_is_lost(
    server: ChatServer, extractor: OpenAIExtractor
) -> None:
    server.otherwise = lambda body: refusal(422, f"bad request {body['messages']}")
    with pytest.raises(ModelUnavailable, match="answered 422") as raised:
        extractor.extract([Passage("The quite secret plan of Ann Lee is to leave.")])
    assert "secret plan" not in str(raised.value) and "Ann Lee" not in str(raised.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_the_reason_and_never_shown(
    server: ChatServer, extractor: OpenAIExtractor, status: int
) -> None:
    server.otherwise = lambda body: refusal(status, f"Incorrect key {KEY} for {body['messages'][1]['content']}")
    with pytest.raises(ModelUnavailable, match=f"refuses the key \\({status}\\)") as raised:
        extractor.extract([Passage("The quite secret plan of Ann Lee is to leave.")])
    assert KEY not in str(raised.value) and "secret" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert len(server.requests) == 1


def test_nobody_listening_is_unavailable(server: ChatServer) -> None:
    extractor = OpenAIExtractor("http://127.0.0.1:9/v1", "tiny", None)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        extractor.extract([Passage(LEADS)])
    extractor.close()


def events(*parts: str, usage: str = "") -> str:
    return "".join(f"data: {json.dumps({'choices': [{'delta': {'content': part}}]})}\n\n" for part in parts) + usage


STREAM = {"Content-Type": "text/event-stream"}


def test_a_stream_nobody_asked_for_is_read(server: ChatServer, extractor: OpenAIExtractor) -> None:
    whole = listed(KESTREL, KESTREL | {"phrase": "heads"})
    parts = [whole[at : at + 20] for at in range(0, len(whole), 20)]
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 8.0}}\n\n'
    server.script = [lambda _: (200, STREAM, events(*parts, usage=usage) + "data: [DONE]\n\n")]
    [found] = extractor.extract([Passage(LEADS)])
    assert [claim.phrase for claim in found.claims] == ["leads", "heads"]
    assert (found.drops, found.usage) == ((), {"prompt_tokens": 9, "completion_tokens": 8})


def test_a_stream_that_breaks_off_is_asked_again(server: ChatServer, extractor: OpenAIExtractor) -> None:
    half = listed(KESTREL)[:-40]
    server.script = [lambda _: (200, STREAM, events(half)), lambda _: completion(listed(KESTREL))]
    [found] = extractor.extract([Passage(LEADS)])
    assert (len(found.claims), found.drops, len(server.requests)) == (1, (), 2)
    assert found.usage["estimated_tokens"] > 0


def test_of_streams_that_all_break_off_the_longest_counts(server: ChatServer, extractor: OpenAIExtractor) -> None:
    whole = listed(KESTREL, KESTREL | {"phrase": "heads"})
    cuts = [whole[:-30], whole[:40], whole[:60], whole[:50], whole[:45]]
    server.script = [lambda _, cut=cut: (200, STREAM, events(cut)) for cut in cuts]
    [found] = extractor.extract([Passage(LEADS)])
    assert [claim.phrase for claim in found.claims] == ["leads"]
    assert [drop.code for drop in found.drops] == ["truncated_reply"]
    assert len(server.requests) == 6  # five tries, and once more for what the longest left out


def test_a_reply_that_was_cut_is_asked_to_go_on(server: ChatServer, extractor: OpenAIExtractor) -> None:
    told = [KESTREL | {"phrase": phrase} for phrase in ("leads", "heads", "runs")]
    whole, usage = listed(*told), {"prompt_tokens": 10, "completion_tokens": 5}
    server.script = [
        lambda _: completion(whole[: whole.index('"runs"') + 3], "length", usage),
        lambda _: completion(listed(*told[1:]), usage=usage),
    ]
    [found] = extractor.extract([Passage(LEADS)])
    assert [claim.phrase for claim in found.claims] == ["leads", "heads", "runs"]
    assert [drop.code for drop in found.drops] == ["truncated_reply", "repeated_item"]
    assert found.usage == {"prompt_tokens": 20, "completion_tokens": 10}
    shown = json.loads(server.requests[1]["messages"][2]["content"])
    assert [item["phrase"] for item in shown["statements"]] == ["leads", "heads"]


def test_an_unreadable_answer_is_asked_for_anew_and_then_dropped(
    server: ChatServer, extractor: OpenAIExtractor
) -> None:
    server.script = [lambda _: completion("I cannot help with that."), lambda _: completion(listed(KESTREL))]
    assert len(extractor.extract([Passage(LEADS)])[0].claims) == 1
    server.otherwise = lambda _: completion("I cannot help with that.")
    [found] = extractor.extract([Passage(PLAN)])
    assert [drop.code for drop in found.drops] == ["chunk_unextracted"]
    assert len(server.requests) == 2 + 3


class Unhurried(threading.Event):
    """Whoever waits for it is let go at once, and for how long he would have waited is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return False


def limited(after: str) -> openai.RateLimitError:
    request = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx2.Response(429, headers={"Retry-After": after}, request=request)
    return openai.RateLimitError("slow down", response=response, body=None)


def test_a_retry_after_in_seconds_or_as_a_date_holds_up_everybody() -> None:
    for after in ("3600", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)):
        closing = Unhurried()
        shared, refusals = tries.Tries(closing), [limited(after)]

        def ask(refusals: list[openai.RateLimitError] = refusals) -> Answer:
            if refusals:
                raise refusals.pop()
            return Answer(listed(), False, "", {})

        assert shared.call(ask, seconds=7200) is not None
        assert shared.call(ask, seconds=7200) is not None
        told, held, other = closing.waits
        assert all(3000 < wait <= 3600 for wait in (told, held, other))


def test_a_retry_after_beyond_the_time_of_a_call_is_not_waited_for() -> None:
    closing = Unhurried()

    def ask() -> Answer:
        raise limited("3600")

    with pytest.raises(openai.RateLimitError):
        tries.Tries(closing).call(ask, seconds=240)
    assert closing.waits == []


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 7, "output_tokens": 3}, (7, 3)),
        ({"total_tokens": 10, "prompt_tokens": 6}, (6, 4)),
        ({"total_tokens": 10}, (10, 0)),
        ({"prompt_tokens": "many", "completion_tokens": -1}, (0, 0)),
    ],
)
def test_tokens_are_read_however_they_are_counted(
    server: ChatServer, extractor: OpenAIExtractor, usage: Any, expected: tuple[int, int]
) -> None:
    server.script = [lambda _: completion(listed(KESTREL), usage=usage)]
    [found] = extractor.extract([Passage(LEADS)])
    assert (found.usage["prompt_tokens"], found.usage["completion_tokens"]) == expected
    assert ("estimated_tokens" in found.usage) == (expected == (0, 0))


def test_a_handle_stands_for_a_thing_that_is_spoken_of(server: ChatServer, extractor: OpenAIExtractor) -> None:
    known = (Known("Ann Lee", "person"), Known("Project Kestrel"))
    text = "She leads it since 1 March 2024. The weather was fine."
    passage = Passage(text, known=known)
    item = statement("She leads it since 1 March 2024.", "e1", "leads", object="e2")
    server.script = [lambda _: completion(listed(item, item | {"object": "e3"}, item | {"quote": "weather was fine"}))]
    [found] = extractor.extract([passage])
    assert [(claim.subject, claim.object) for claim in found.claims] == [("Ann Lee", "Project Kestrel")]
    assert [drop.code for drop in found.drops] == ["unknown_ref", "reference_not_in_text"]
    asked_of = server.requests[0]["messages"][1]["content"]
    assert 'e1 = "Ann Lee" (person)\ne2 = "Project Kestrel"\n' in asked_of


def test_a_declared_order_of_dates_in_figures_reaches_the_model_extractor(server: ChatServer) -> None:
    quote = "Ann Lee leads Project Kestrel since 05/12/2024."
    item = statement(quote, "Ann Lee", "leads", object="Project Kestrel")
    item |= {"times": [{"words": "05/12/2024", "role": "start"}]}
    bought = statement(quote, "Project Kestrel", "start date", value="05/12/2024")
    server.otherwise = lambda _: completion(listed(item, bought))
    found = {}
    for order in (None, "dmy", "mdy"):
        ours = Settings.model_validate(values(server) | {"numeric_dates": order})
        extractor = open_openai_extractor(ours)
        [extraction] = extractor.extract([Passage(quote)])
        found[order] = extraction.claims
        assert extractor.version.endswith(f"-{order}") == (order is not None)
        extractor.close()
    begins = {order: claims[0].time.valid_from for order, claims in found.items()}
    assert begins == {None: None, "dmy": day("2024-12-05"), "mdy": day("2024-05-12")}
    assert [claims[1].value.datatype for claims in found.values()] == ["text", "date", "date"]


def test_the_order_that_a_passage_shows_dates_its_other_figures() -> None:
    quote = "Ann Lee leads Project Kestrel since 05/12/2024."
    item = statement(quote, "Ann Lee", "leads", object="Project Kestrel")
    item |= {"times": [{"words": "05/12/2024", "role": "start"}]}
    [claim], _ = judged(item, Passage(f"{quote} It was planned on 25/11/2024."))
    assert claim.time.valid_from == day("2024-12-05")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (completion(None, refusal="I will not."), "chunk_unextracted"),
        (completion("", "content_filter"), "chunk_unextracted"),
        (completion("", "length"), "truncated_reply"),
    ],
)
def test_an_empty_reply_is_counted(server: ChatServer, extractor: OpenAIExtractor, answer: Any, code: str) -> None:
    server.script = [lambda _: answer]
    [found] = extractor.extract([Passage(LEADS)])
    assert [drop.code for drop in found.drops] == [code]


@pytest.mark.parametrize("body", ["<html>hello</html>", {"error": {"message": "overloaded"}}, {"choices": []}])
def test_a_page_that_is_no_completion_is_unavailable(server: ChatServer, extractor: OpenAIExtractor, body: Any) -> None:
    server.otherwise = lambda _: (200, {}, body)
    with pytest.raises(ModelUnavailable, match=r"cannot be read|no completion"):
        extractor.extract([Passage(LEADS)])


def test_passages_are_asked_at_once_within_a_bound_and_answered_in_order(
    server: ChatServer, extractor: OpenAIExtractor
) -> None:
    def slow(body: dict[str, Any]) -> Any:
        number = int(asked(body).rpartition(" ")[2])
        if number > 0:  # the first is asked alone
            until(lambda: server.most_at_once >= AT_ONCE)
        time.sleep(0.02 * (number % 3))  # out of order, and with time for one too many to come
        return completion(listed(KESTREL | {"quote": asked(body)}))

    server.otherwise = slow
    passages = [Passage(f"{LEADS} {number}") for number in range(25)]
    found = extractor.extract(passages)
    assert [each.claims[0].quote for each in found] == [passage.text for passage in passages]
    assert server.most_at_once == AT_ONCE
    assert len(server.requests) == 25


def test_the_same_passage_twice_is_paid_once(server: ChatServer, extractor: OpenAIExtractor) -> None:
    server.otherwise = lambda _: completion(listed(KESTREL), usage={"prompt_tokens": 5, "completion_tokens": 5})
    first, second = extractor.extract([Passage(LEADS), Passage(LEADS)])
    assert (first.claims, first.usage["prompt_tokens"], dict(second.usage)) == (second.claims, 5, {})
    assert len(server.requests) == 1


def test_a_call_ends_in_its_time(server: ChatServer) -> None:
    over = threading.Event()

    def slow(_: dict[str, Any]) -> Any:
        assert over.wait(60)
        return completion(listed(KESTREL))

    server.otherwise = slow
    extractor = OpenAIExtractor(f"http://{server.address}/v1", "tiny", KEY, seconds=0.5)
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        extractor.extract([Passage(LEADS)])
    over.set()
    extractor.close()


def test_closing_ends_the_waits_between_tries(server: ChatServer, extractor: OpenAIExtractor) -> None:
    server.otherwise = lambda _: refusal(429, "slow down", Retry_After="60")
    asked_of = extractor.submit(Passage(LEADS))
    until(lambda: server.requests)
    extractor.close()
    assert isinstance(asked_of.exception(), ModelUnavailable)


def test_the_version_changes_with_the_model_and_with_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(model: str) -> tuple[str, str]:
        opened = OpenAIExtractor("http://127.0.0.1:9/v1", model, None)
        opened.close()
        return opened.name, opened.version

    one, same, other = version("m1"), version("m1"), version("m2")
    assert one == same and one[0] == "openai:m1"
    assert one[1] != other[1]
    monkeypatch.setattr("substrate.extraction.openai.prompt.SYSTEM", "Do as you like.")
    assert version("m1")[1] != one[1]


def test_settings_without_an_endpoint_or_with_a_bad_one_are_refused() -> None:
    with pytest.raises(ModelUnavailable, match="TWOCLOCKS_CHAT_API_KEY"):
        open_openai_extractor(Settings(extractor="openai"))
    with pytest.raises(InvalidInput, match="chat_base_url"):
        open_openai_extractor(Settings(extractor="openai", chat_base_url="ftp://x"))


class OneVector:
    """The same vector for every text: this is not about search."""

    name, dimension, token_limit, truncated = "one@1", 4, None, 0

    def count_tokens(self, text: str) -> int:
        return len(text)

    def passages(self, texts: Sequence[str]) -> Any:
        return np.full((len(texts), 4), 0.5, np.float32)

    queries = passages


HANDOVER = "Bo Stone leads Project Kestrel since 1 May 2024, replacing Ann Lee."
PLAN = "Ann Lee will lead Project Heron."


def model(body: dict[str, Any]) -> Any:
    """Answers as a fair model would, with an invention in every reply."""
    text = asked(body)
    invented = KESTREL | {"quote": "Ann Lee owns a yacht."}
    project = {"subject_kind": "person", "object": "Project Kestrel", "object_kind": "project"}
    known = {
        LEADS: [KESTREL],
        HANDOVER: [
            statement(HANDOVER, "Bo Stone", "leads", **project, times=[{"words": "since 1 May 2024", "role": "start"}]),
            statement(HANDOVER, "Ann Lee", "leads", **project, times=[{"words": "1 May 2024", "role": "replaced"}]),
        ],
        PLAN: [statement(PLAN, "Ann Lee", "leads", subject_kind="person", object="Project Heron", mood="planned")],
    }
    items = [item for sentence, items in known.items() if sentence in text for item in items]
    return completion(listed(invented, *items), usage={"prompt_tokens": 100, "completion_tokens": 10})


def leaders(database: Database, kb: UUID, at: str) -> list[str]:
    with database.read(kb) as conn:
        found = entity_facts(conn, kb, "Project Kestrel", resolve(conn, kb, at=at))
    return [fact["other_name"] for fact in found["facts"] if fact["phrase"] == "leads"]


def test_documents_become_facts_with_drops_and_cost_written(
    server: ChatServer, database: Database, kb: UUID, settings: Settings
) -> None:
    server.otherwise = model
    ours = Settings.model_validate(settings.model_dump() | values(server))
    texts = {"a.md": f"# Notes\n\n{LEADS}\n", "b.md": f"# Change\n\n{HANDOVER}\n\n{PLAN}\n"}
    items = [PushItem(name, name, text.encode(), doc_time="2024-05-06") for name, text in texts.items()]
    push(database, kb, items, actor="person:test", via="rest")
    with Services(ours, embedder=OneVector()) as services:
        results = {result.stage: result for result in run_pipeline(database, kb, services)}
        assert not any(result.failed for result in results.values()), results
        assert results["claims"].cost == {"prompt_tokens": 200, "completion_tokens": 20}
        assert len(server.requests) == 2
        run_pipeline(database, kb, services)
        assert len(server.requests) == 2
    assert leaders(database, kb, "2024-04-01") == ["Ann Lee"]
    assert leaders(database, kb, "2024-06-01") == ["Bo Stone"]
    assert leaders(database, kb, "2024-02-01") == []
    with database.read(kb) as conn:
        drops = conn.execute("select code, example, extractor from extraction_drops where kb_id = %s", (kb,)).fetchall()
        usage = conn.execute("select prompt_tokens, extractor from extraction_usage where kb_id = %s", (kb,)).fetchall()
        moods = conn.execute("select mood from claims where kb_id = %s and mood is not null", (kb,)).fetchall()
    assert [row["code"] for row in drops] == ["quote_not_in_chunk"] * 2
    assert all("yacht" in row["example"] for row in drops)
    assert [row["prompt_tokens"] for row in usage] == [100, 100]
    assert {row["extractor"].partition("@")[0] for row in [*drops, *usage]} == {"openai:tiny"}
    assert [row["mood"] for row in moods] == ["planned"]


def test_a_model_that_is_down_leaves_its_passages_due_and_says_why(
    server: ChatServer, database: Database, kb: UUID, settings: Settings
) -> None:
    server.otherwise = lambda _: refusal(401, f"bad key {KEY}")
    ours = Settings.model_validate(settings.model_dump() | values(server))
    push(database, kb, [PushItem("a", "a.md", LEADS.encode())], actor="person:test", via="rest")
    with Services(ours, embedder=OneVector()) as services:
        results = {result.stage: result for result in run_pipeline(database, kb, services)}
    claims = results["claims"]
    assert (claims.done, claims.failed, claims.remaining) == (0, 1, 1)
    assert "refuses the key (401)" in claims.failures[0] and KEY not in claims.failures[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(sorted(KESTREL))


@given(st.dictionaries(FIELDS, JSON | st.sampled_from([LEADS, "Ann Lee", "leads", "\ud800", "\0"]), max_size=4))
@examples(max_examples=200, deadline=None)
def test_any_item_is_a_claim_or_a_drop_that_can_be_stored(change: dict[str, Any]) -> None:
    found = said(json.dumps({"statements": [KESTREL | change, KESTREL]}))
    assert len(found.claims) + sum(drop.code == "repeated_item" for drop in found.drops) >= 1
    assert len(found.claims) + len(found.drops) >= 2
    for drop in found.drops:
        (drop.code + drop.detail + drop.example).encode()
    for claim in found.claims:
        "".join([claim.subject, claim.phrase, claim.object or "", *sum(claim.qualifiers, ())]).encode()


@given(st.text(alphabet='{}[]",:\\ a\n', max_size=60))
@examples(max_examples=300, deadline=None)
def test_any_reply_is_read_without_an_error(text: str) -> None:
    reply = read_reply(text)
    assert reply.found or not reply.items or not said(text).claims
