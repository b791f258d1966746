"""A question that found nothing is kept without secrets, counted, and closed by the document that answers it."""

from __future__ import annotations

import pytest

from substrate import gaps, reads
from substrate.documents import intake
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.gaps.keeping import plain_question
from substrate.pipeline import Services, run_step
from tests.ledger_facts import Scribe

ADA = "person:Ada (agent)"


@pytest.fixture
def keep(database, kb):
    def call(question, *, asker=ADA, via="search_chunks"):
        with database.read(kb) as conn:
            seq = reads.resolve(conn, kb).seq
        return gaps.keep(database, kb, question, asker=asker, via=via, seq=seq)

    return call


@pytest.fixture
def listed(database, kb):
    def call(**options):
        with database.read(kb) as conn:
            return reads.list_gaps(conn, kb, reads.resolve(conn, kb), **options)["gaps"]

    return call


@pytest.fixture
def remember(database, kb, settings):
    def call(sentence, *steps):
        done = intake.remember(database, kb, sentence, actor=ADA, via="mcp", author="Ada")
        with Services(settings) as services:
            for step in steps or ("index",):
                run_step(database, kb, services, step)
        return done

    return call


def test_the_same_question_is_one_and_those_asked_most_come_first(keep, listed):
    assert listed() == []
    keep("Who signed the Heron lease?")
    keep("  who signed   the heron LEASE ", asker="person:Bob (agent)")
    keep("What does Egret cost?")
    first, second = listed()
    assert (first["question"], first["asked"], first["askers"]) == ("Who signed the Heron lease?", 2, 2)
    assert (second["asked"], second["state"], second["answer"]) == (1, "open", None)
    assert [g["question"] for g in listed(asker="person:Bob (agent)")] == ["Who signed the Heron lease?"]
    assert plain_question("¿Qué?") == "qué"


def test_a_later_document_closes_it_and_says_which(keep, listed, remember, database, kb):
    remember("Ada signed the Egret contract.")
    keep("Who signed the Heron lease?")
    remember("The weather in Graz was fine.")
    remember("Heron was founded in Linz.")  # holds a word of it, and not what it asks
    assert [g["state"] for g in listed(state=None)] == ["open"]
    done = remember("Bob signed the Heron lease in Graz.")
    [gap] = listed(state=None)
    assert (gap["state"], gap["closed_by"]) == ("answered", "pipeline")
    assert gap["answer"]["document_id"] == str(done.document_id)
    assert listed() == []
    with database.read(kb) as conn:
        status = reads.review_status(conn, kb, reads.resolve(conn, kb), actor=ADA)
    assert [g["answer"]["chunk_id"] for g in status["gaps"]] == [str(done.chunk_id)]
    with database.read(kb) as conn:
        assert reads.review_status(conn, kb, reads.resolve(conn, kb), actor="person:Bob (agent)")["gaps"] == []


def test_what_was_there_before_the_question_is_no_answer(keep, listed, remember):
    remember("Bob signed the Heron lease in Graz.")
    keep("Who signed the Heron lease?")
    remember("Nothing of the kind.")
    assert [g["state"] for g in listed()] == ["open"]


def test_a_name_that_nobody_bore_is_answered_by_who_bears_it(keep, listed, database, kb, remember):
    keep("Cora Lind", via="find_entities")
    remember("Nothing of the kind.")
    assert len(listed()) == 1
    Scribe(database, kb).say("Cora Lind", "works_on", "Heron", evidence=Scribe(database, kb).document("C. L."))
    remember("Nothing either.", "facts")
    [gap] = listed(state="answered")
    assert gap["answer"]["entity_id"] is not None and gap["answer"]["document_id"] is None


def test_an_answered_question_that_finds_nothing_again_is_open_and_one_laid_aside_stays(
    keep, listed, remember, database, kb
):
    gap_id = keep("Who signed the Heron lease?").id
    remember("Bob signed the Heron lease.")
    assert listed() == []
    keep("Who signed the Heron lease?")
    assert [(g["state"], g["asked"], g["answer"]) for g in listed()] == [("open", 2, None)]
    with database.write(kb) as conn:
        gaps.dismiss(conn, kb, gap_id, by="person:Ada", why="out of scope")
    keep("Who signed the Heron lease?")
    [gap] = listed(state="dismissed")
    assert (gap["asked"], gap["closed_by"], gap["why"]) == (3, "person:Ada", "out of scope")
    with database.write(kb) as conn, pytest.raises(Conflict, match="not open"):
        gaps.dismiss(conn, kb, gap_id, by="person:Ada", why="")
    with database.write(kb) as conn:
        gaps.reopen(conn, kb, gap_id)
    assert [g["state"] for g in listed()] == ["open"]
    with database.write(kb) as conn, pytest.raises(NotFound, match="gap"):
        gaps.reopen(conn, kb, kb)


SECRETS = [
    ("is sk-proj-abcdefghij1234567890 still valid", "abcdefghij"),
    ("who owns tc_pat_ABCDEFGH12345678ABCDEFGH1234", "ABCDEFGH"),
    ("why does ghp_16C7e42F292c6912E7710c838347Ae178B4a fail", "16C7e42F"),
    ("AKIAIOSFODNN7EXAMPLE access", "IOSFODNN"),
    ("Authorization: Bearer abc.def-ghi_jkl1234", "abc.def"),
    ("my password is hunter2! what is yours", "hunter2"),
    ("password: Tr0ub4dor&3", "Tr0ub4dor"),
    ("api_key=9f8e7d6c5b", "9f8e7d6c5b"),
    ("postgresql://ada:s3cr3t@db.example/x is down", "s3cr3t"),
    ("ada@example.org:Winter2024", "Winter2024"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl what", "eyJhbGci"),
    ("wJalrXUtnFEMI1K7MDENGbPxRfiCYEXAMPLEKEY12 what is it", "wJalrXUtn"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----", "MIIEvQ"),
    ("密码是 hao123456 吗", "hao123456"),
]
PLAIN = [
    "Who reset Ada's password?",
    "What is the token limit of the model?",
    "0b5cbe9e-3a0f-4a5b-9a37-0f8f3a1f5c11",
    "When did the Donaudampfschifffahrtsgesellschaft close?",
    "mail ada@example.org about src/substrate/reads/entities_and_changes.py",
    "between 2024-01-01T00:00:00Z and 2024-02-01",
    "password policy: who wrote it",
]


@pytest.mark.parametrize(("said", "secret"), SECRETS)
def test_secrets_are_struck_out(said, secret):
    assert secret not in gaps.redacted(said)
    assert "***" in gaps.redacted(said)


@pytest.mark.parametrize("said", PLAIN)
def test_what_is_no_secret_stays(said):
    assert gaps.redacted(said) == said


def test_no_secret_reaches_the_table_and_a_secret_alone_is_refused(keep, listed, dsn):
    import psycopg

    keep("is sk-proj-abcdefghij1234567890 still valid")
    with psycopg.connect(dsn) as owner:
        assert "abcdefghij" not in str(owner.execute("select * from gaps").fetchall())
    with pytest.raises(InvalidInput, match="question"):
        keep("sk-proj-abcdefghij1234567890")
    with pytest.raises(InvalidInput, match="question"):
        keep("  ")


def test_the_status_of_what_was_recorded(database, kb, remember):
    from substrate.ledger import verdicts

    Scribe(database, kb)
    sentence = "Bob leads Heron."
    done = remember(sentence)

    def status(**options):
        with database.read(kb) as conn:
            moment = reads.resolve(conn, kb, as_of=options.pop("as_of", None))
            return reads.review_status(conn, kb, moment, actor=options.pop("actor", ADA), **options)["recorded"]

    assert [r["state"] for r in status()] == ["waiting"]
    remember("Cora leads Egret.", "parse", "claims", "entities", "facts")
    cora, bob = status()
    assert (bob["sentence"], bob["document_id"], bob["state"]) == (sentence, str(done.document_id), "read")
    assert [p["status"] for p in bob["proposals"]] == ["pending"]
    with database.read(kb) as conn:
        waiting = reads.resolve(conn, kb).seq
        pending = {p["sentence"]: p["id"] for p in reads.list_pending(conn, kb, reads.resolve(conn, kb))["pending"]}
    from uuid import UUID

    verdicts.confirm(database, kb, UUID(pending[sentence]), actor="person:Eve", via="rest", why="seen it")
    verdicts.reject(database, kb, UUID(pending["Cora leads Egret."]), actor="person:Eve", via="rest", why="no")
    cora, bob = status()
    [told] = bob["proposals"]
    assert (told["status"], told["decided_by"], told["why"]) == ("confirmed", "person:Eve", "seen it")
    with database.read(kb) as conn:
        [held] = reads.entity_facts(conn, kb, "Heron", reads.resolve(conn, kb))["facts"]
    assert told["fact_id"] == held["id"]
    assert [(p["status"], p["fact_id"]) for p in cora["proposals"]] == [("rejected", None)]
    assert [p["status"] for p in status(as_of=f"seq:{waiting}")[1]["proposals"]] == ["pending"]
    assert status(actor="person:Eve") == []
    assert [r["document_id"] for r in status(actor="person:Eve", document_id=done.document_id)] == [
        str(done.document_id)
    ]
    assert status(since="2999") == []
