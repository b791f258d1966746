"""The words' arm: what is found in which script, at which moment, in which process, after which accident."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from substrate.errors import InvalidInput
from substrate.retrieval.analysis import codes, normalised, terms, words
from substrate.retrieval.lexical import index_backlog, index_watermark, rebuild_index, run_index
from substrate.retrieval.lexical_files import IndexFiles
from substrate.retrieval.lexical_reader import current_view
from substrate.retrieval.lexical_schema import question_terms

ROOT = Path(__file__).parents[3]

ENGLISH = "Running costs of the naïve forwarding service rose in Ada's third quarter."
CODE = "A http-404 comes from src/api/getUserName.py when foo_bar is unset; see std::vector, e5-small@1 and C++."
CHINESE = "星礁公司的首席执行官是林海澜，她于2024年三月接任。"
JAPANESE = "東京都の税金は高いです。担当者は佐藤さんです。"
KOREAN = "서울특별시에서 회의가 열렸다."
THAI = "กรุงเทพมหานครเป็นเมืองหลวง"
FULL_WIDTH = "型番はＡＢＣ−１２３です"
OTHER = "Nothing of this is about anything else."
ALL = (ENGLISH, CODE, CHINESE, JAPANESE, KOREAN, THAI, FULL_WIDTH, OTHER)

FOUND = [
    ("run cost", ENGLISH),
    ("naive forwarded services", ENGLISH),
    ("Ada", ENGLISH),
    ("“third quarter”", ENGLISH),
    ("http-404", CODE),
    ("HTTP 404", CODE),
    ("getUserName", CODE),
    ("user name", CODE),
    ("getUserName.py", CODE),
    ("src/api/getUserName.py", CODE),
    ("foo_bar", CODE),
    ("std::vector", CODE),
    ("c++", CODE),
    ("e5-small@1", CODE),
    ("首席执行官", CHINESE),
    ("谁接任首席执行官？", CHINESE),
    ("林海澜", CHINESE),
    ("澜", CHINESE),
    ("税金", JAPANESE),
    ("佐藤", JAPANESE),
    ("東京都の税金はいくらですか", JAPANESE),
    ("서울특별시", KOREAN),
    ("회의", KOREAN),
    ("กรุงเทพ", THAI),
    ("ABC", FULL_WIDTH),
]
"""Question and the passage that must come first."""


@pytest.mark.parametrize("indexed", [False, True], ids=["tail", "index"])
def test_scripts_and_identifiers_are_found(shelf, texts, database, kb, settings, indexed):
    for number, text in enumerate(ALL):
        shelf.put(f"{number}.txt", [text])
    if indexed:
        run_index(database, kb, settings)
    for query, passage in FOUND:
        assert texts(query)[:1] == [passage], query
    assert texts("zebra") == [] and texts("斑马") == [] and texts("シマウマ") == []
    assert THAI not in texts("税金")


@pytest.mark.parametrize(
    "query",
    [
        "cost AND",
        "body:cost",
        "(cost",
        '"cost',
        "cost^^9",
        "cost*?~2",
        "+cost -",
        "[cost TO",
        "{cost}",
        "cost \\",
        "*",
        "NOT",
    ],
)
def test_query_syntax_is_only_text(shelf, ask, database, kb, settings, query):
    shelf.put("a.txt", [ENGLISH])
    run_index(database, kb, settings)
    found = [chunk["text"] for chunk in ask(query)["chunks"]]
    assert found == ([ENGLISH] if "cost" in query else [])


def test_a_query_without_words_says_so_and_broken_unicode_is_refused(shelf, ask):
    shelf.put("a.txt", [ENGLISH])
    answer = ask("?!…")
    assert answer["chunks"] == [] and "no word" in answer["arms"]["lexical"]
    with pytest.raises(InvalidInput, match="query") as refused:
        ask("cost \ud800")
    assert refused.value.facts["field"] == "query"


def test_long_tokens_are_found_by_their_beginning(shelf, texts, database, kb, settings):
    token = "q" * 40_000
    shelf.put("a.txt", [f"blob {token} end"])
    run_index(database, kb, settings)
    assert texts("q" * 1999) == [f"blob {token} end"[:800]]
    assert texts("q" * 100) == []


def test_headings_and_file_name_lead_to_a_passage_but_count_less_than_its_text(shelf, texts, database, kb, settings):
    shelf.put("harbour-plan.md", ["Dredging begins in May."], headings=["Limpet project", "Works"])
    shelf.put("b.md", ["The limpet is a snail of the harbour."])
    for _ in range(2):
        assert texts("limpet") == ["The limpet is a snail of the harbour.", "Dredging begins in May."]
        assert set(texts("harbour")) == set(texts("limpet"))
        run_index(database, kb, settings)


def test_tail_and_index_score_alike(shelf, database, kb, settings):
    for number in range(40):
        shelf.put(f"{number}.txt", [f"alpha beta number {number} " + "filler " * (number % 7)])
    run_index(database, kb, settings)
    shelf.put("late.txt", ["alpha beta gamma late"])
    wanted = question_terms("alpha gamma late")
    with database.read(kb) as conn:
        view = current_view(settings, kb)
        view.catch_up(conn, kb, 41)
    (tail,) = [m for m in view.search(wanted, 41, None, 3) if m.chunk_id == shelf.chunk_ids["alpha beta gamma late"]]
    run_index(database, kb, settings)
    indexed = current_view(settings, kb).search(wanted, 41, None, 3)
    assert indexed[0].chunk_id == tail.chunk_id
    assert indexed[0].score == pytest.approx(tail.score, rel=0.03)


def test_every_moment_finds_what_was_held_then(shelf, texts, database, kb, settings):
    first = shelf.put("a.txt", ["The limit is ten crates."])
    second = shelf.put("a.txt", ["The limit is twelve crates."])
    gone = shelf.delete("a.txt")
    back = shelf.put("a.txt", ["The limit is ninety crates."])
    expected = {
        first - 1: [],
        first: ["The limit is ten crates."],
        second: ["The limit is twelve crates."],
        gone: [],
        back: ["The limit is ninety crates."],
    }
    for stage in ("tail", "index", "rebuilt"):
        if stage == "index":
            run_index(database, kb, settings)
        if stage == "rebuilt":
            rebuild_index(database, kb, settings)
        for seq, found in expected.items():
            assert texts("limit crates", seq=seq) == found, (stage, seq)
    assert texts("limit crates") == expected[back]


def test_a_closing_past_the_watermark_is_honoured(shelf, texts, database, kb, settings):
    for number in range(120):
        shelf.put(f"{number}.txt", [f"crate number {number}"])
    run_index(database, kb, settings)
    before = index_watermark(settings, kb)
    for number in range(119):
        shelf.delete(f"{number}.txt")
    assert index_watermark(settings, kb) == before
    assert texts("crate") == ["crate number 119"]
    assert len(texts("crate", seq=before)) == 6
    assert index_backlog_of(database, kb, settings) == 119
    run_index(database, kb, settings)
    assert texts("crate") == ["crate number 119"] and index_backlog_of(database, kb, settings) == 0


def index_backlog_of(database, kb, settings) -> int:
    with database.read(kb) as conn:
        return index_backlog(conn, kb, settings)


def test_running_twice_changes_nothing(shelf, texts, database, kb, settings):
    shelf.put("a.txt", ["one crate"])
    assert run_index(database, kb, settings).written == 1
    again = run_index(database, kb, settings)
    assert (again.written, again.skipped, again.watermark) == (0, 0, 1)
    assert documents_in(settings, kb) == 1


def documents_in(settings, kb) -> int:
    searcher = current_view(settings, kb).searcher
    return searcher.num_docs - 1  # the watermark


def test_two_writers_one_skips(shelf, database, kb, settings):
    shelf.put("a.txt", ["one crate"])
    with IndexFiles(settings.index_dir, kb).writer() as held:
        assert held
        skipped = run_index(database, kb, settings)
        assert (skipped.skipped, skipped.written, skipped.remaining) == (1, 0, 1)
        assert "another process" in skipped.failures[0]
        assert rebuild_index(database, kb, settings).skipped == 1
    assert run_index(database, kb, settings).written == 1


def in_child(code: str, settings, kb, *more: str, **options) -> subprocess.Popen:
    """Python code in a process of its own, with `database`, `settings` and `kb` at hand."""
    head = """
        import os, signal, sys
        from uuid import UUID
        from pydantic import SecretStr
        from substrate.db import Database
        from substrate.settings import Settings
        dsn, kb = sys.argv[1], UUID(sys.argv[3])
        settings = Settings(database_url=SecretStr(dsn), data_dir=sys.argv[2])
        database = Database(dsn, pool_size=2).open()
    """
    arguments = [settings.database_url.get_secret_value(), str(settings.data_dir), str(kb), *more]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(code), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


SEARCHES = """
    from substrate.reads.moments import resolve
    from substrate.retrieval.search import search_chunks
    for line in iter(sys.stdin.readline, ""):
        with database.read(kb) as conn:
            answer = search_chunks(conn, kb, line, resolve(conn, kb), embedder=None, settings=settings)
        print([c["text"] for c in answer["chunks"]], flush=True)
"""


def test_another_process_finds_what_was_just_committed_and_follows_the_index(shelf, database, kb, settings):
    child = in_child(SEARCHES, settings, kb, stdin=subprocess.PIPE)
    try:

        def asked(query: str) -> str:
            child.stdin.write(query + "\n")
            child.stdin.flush()
            return child.stdout.readline().strip()

        assert asked("crate") == "[]"
        shelf.put("a.txt", ["a wooden crate"])
        assert asked("crate") == "['a wooden crate']"
        run_index(database, kb, settings)
        assert asked("crate") == "['a wooden crate']"
        shelf.put("a.txt", ["a steel crate"])
        assert asked("crate") == "['a steel crate']"
        rebuild_index(database, kb, settings)
        assert asked("steel") == "['a steel crate']"
        shelf.delete("a.txt")
        assert asked("crate") == "[]"
    finally:
        child.stdin.close()
        assert child.wait(120) == 0
        child.stdout.close()


KILLED = """
    from substrate.retrieval import lexical
    marks = []
    set_watermark = lexical.set_watermark
    def dying(writer, seq):
        set_watermark(writer, seq)
        marks.append(seq)
        if len(marks) == int(sys.argv[4]):
            if sys.argv[5] == "after":
                writer.commit()
            os.kill(os.getpid(), signal.SIGKILL)
    lexical.set_watermark = dying
    lexical.run_index(database, kb, settings, batch=5)
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("commit", [1, 2, 4])
def test_killed_around_a_commit_and_run_again(shelf, texts, database, kb, settings, commit, when):
    shelf.put("first.txt", ["crate zero"])
    run_index(database, kb, settings)
    shelf.put("large.txt", [f"crate of the large one {n}" for n in range(12)])  # one transaction over several batches
    for number in range(8):
        shelf.put(f"{number}.txt", [f"crate {number}"])
    shelf.delete("3.txt")
    child = in_child(KILLED, settings, kb, str(commit), when)
    assert child.wait(120) == -signal.SIGKILL
    child.stdout.close()
    everything = sorted(
        [f"crate of the large one {n}" for n in range(12)] + [f"crate {n}" for n in range(8) if n != 3] + ["crate zero"]
    )
    assert sorted(texts("crate", limit=50)) == everything
    run_index(database, kb, settings, batch=5)
    assert sorted(texts("crate", limit=50)) == everything
    assert documents_in(settings, kb) == 21
    assert index_backlog_of(database, kb, settings) == 0


def test_a_killed_first_build_is_begun_again(shelf, texts, database, kb, settings):
    shelf.put("large.txt", [f"crate {n}" for n in range(12)])
    child = in_child(KILLED, settings, kb, "2", "after")
    assert child.wait(120) == -signal.SIGKILL
    child.stdout.close()
    assert index_watermark(settings, kb) == 0
    assert len(texts("crate", limit=50)) == 12
    run_index(database, kb, settings)
    assert documents_in(settings, kb) == 12


def test_rebuilding_while_a_reader_searches(shelf, texts, database, kb, settings):
    for number in range(30):
        shelf.put(f"{number}.txt", [f"crate {number}"])
    run_index(database, kb, settings)
    before = IndexFiles(settings.index_dir, kb).current()
    counts, stop = [], threading.Event()

    def search() -> None:
        while not stop.is_set():
            counts.append(len(texts("crate", limit=50)))

    reader = threading.Thread(target=search)
    reader.start()
    for _ in range(4):
        assert rebuild_index(database, kb, settings).written == 30
    stop.set()
    reader.join()
    assert counts and set(counts) == {30}
    assert IndexFiles(settings.index_dir, kb).current() != before
    for directory in before.parent.glob("v*-*"):
        os.utime(directory, (0, 0))
    run_index(database, kb, settings)
    assert len(list(before.parent.glob("v*-*"))) == 1 and len(texts("crate", limit=50)) == 30


def test_an_unreadable_index_is_named_and_can_be_rebuilt(shelf, ask, texts, database, kb, settings):
    shelf.put("a.txt", ["one crate"])
    run_index(database, kb, settings)
    assert texts("crate") == ["one crate"]
    (IndexFiles(settings.index_dir, kb).current() / "meta.json").write_text("{")
    answer = ask("crate")
    assert answer["arms"]["lexical"].startswith("unavailable: the lexical index cannot be read")
    rebuild_index(database, kb, settings)
    assert ask("crate")["arms"]["lexical"] == "ok" and texts("crate") == ["one crate"]


def test_threads_share_the_analyser():
    failures = []

    def work() -> None:
        try:
            for _ in range(300):
                assert terms(["Running", "services"] * 20)[:2] == ["run", "servic"]
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_pairs_and_codes():
    assert words(normalised("東京都")) == ["東", "東京", "京", "京都", "都"]
    assert words("東京都", asked=True) == ["東京", "京都"] and words("東", asked=True) == ["東"]
    assert codes("see src/main.py") == ["src/main.py", "main.py"]
    assert codes("plain words only. And no more") == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text", ["q" * 200_000, "a." * 100_000, "aB" * 100_000, "_" * 200_000, "-" * 200_000, "東" * 200_000]
)
def test_no_text_takes_more_than_linear_time(text):
    codes(text), words(text)
