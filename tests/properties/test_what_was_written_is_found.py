"""Read-your-writes: four processes write, a fifth finds each sentence at once, and the index is built anew meanwhile.

===============================================  =======================================================
at every moment                                  then
===============================================  =======================================================
a sentence was committed in another process      the next search finds it, indexed or not
the index is brought up, or built anew beside    no search fails, and what was found before is found
the one in use and swapped
===============================================  =======================================================

A hundred writes here, a thousand with ``pytest -m slow``.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from pathlib import Path
from uuid import UUID

import pytest

from substrate.db import Database
from substrate.documents.intake import remember
from substrate.reads.moments import resolve
from substrate.retrieval.lexical import rebuild_index, run_index
from substrate.retrieval.lexical_files import IndexFiles
from substrate.retrieval.search import search_chunks
from substrate.settings import Settings

WRITER = Path(__file__).with_name("remembering_writer.py")
WRITERS = 4
FIRST = "The crate qfirst is on the quay."


class Found:
    """What searches found, and the index work that went on beside them."""

    def __init__(self, database: Database, kb: UUID, settings: Settings) -> None:
        self.database, self.kb, self.settings = database, kb, settings
        self.stop = threading.Event()
        self.failures: list[BaseException] = []
        self.swaps: set[str] = set()

    def texts(self, word: str) -> list[str]:
        with self.database.read(self.kb) as conn:
            as_of = resolve(conn, self.kb)
            answer = search_chunks(conn, self.kb, word, as_of, embedder=None, settings=self.settings)
        assert answer["arms"]["lexical"] == "ok"
        return [chunk["text"] for chunk in answer["chunks"]]

    def index(self) -> None:
        """By turns: bring the index up, build it anew and swap."""
        try:
            while not self.stop.is_set():
                run_index(self.database, self.kb, self.settings)
                rebuild_index(self.database, self.kb, self.settings)
                current = IndexFiles(self.settings.index_dir, self.kb).current()
                self.swaps.add(current.name if current else "")
        except BaseException as error:  # told to the test, whatever it is
            self.failures.append(error)


def written(database: Database, dsn: str, kb: UUID, settings: Settings, each: int) -> None:
    remember(database, kb, FIRST, actor="person:Ada", via="rest")
    found, words = Found(database, kb, settings), queue.SimpleQueue[str]()
    command = [sys.executable, str(WRITER), dsn, str(kb)]
    writers = [
        subprocess.Popen([*command, str(name), str(each)], stdout=subprocess.PIPE, text=True) for name in range(WRITERS)
    ]

    def listen(writer: subprocess.Popen[str]) -> None:
        assert writer.stdout is not None
        for line in writer.stdout:
            words.put(line.strip())

    threads = [threading.Thread(target=listen, args=(writer,)) for writer in writers]
    threads.append(threading.Thread(target=found.index))
    for thread in threads:
        thread.start()
    missed, empty = [], 0
    try:
        for _ in range(WRITERS * each):
            word = words.get(timeout=240)
            missed += [word] if found.texts(word)[:1] != [f"The crate {word} is on the quay."] else []
            empty += found.texts("qfirst")[:1] != [FIRST]
    finally:
        found.stop.set()
        for writer in writers:
            writer.wait(120)
        for thread in threads:
            thread.join(120)
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.close()
    assert (missed, empty, found.failures) == ([], 0, [])
    assert len(found.swaps) > 1 and all(writer.returncode == 0 for writer in writers)


def test_a_hundred_sentences_of_four_processes_are_each_found_at_once(database, dsn, kb, settings):
    written(database, dsn, kb, settings, 25)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_thousand_sentences_of_four_processes_are_each_found_at_once(database, dsn, kb, settings):
    written(database, dsn, kb, settings, 250)
