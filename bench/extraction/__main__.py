"""``make bench-extraction``: sentences a second without a model, and the share of a slow endpoint that is made use of.

Without a model: generated memos and the demo's documents, cut and read by the built-in extractor alone; sentences by
full stops and lines, seconds of one core. With a model: an endpoint in a process of its own that takes 500 ms for an
answer and lets 16 in at once, so that 32 passages a second are possible; the real stage over a real database, from the
first lease to the last commit.

``--smoke URL MODEL`` also puts ten sentences to a chat server that is there, and prints what came back as it is.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.database import ROOT, commit, fresh_settings
from bench.generate import documents
from substrate.bases import create_base
from substrate.db import NO_BASE, open_database
from substrate.documents.intake import PushItem, push
from substrate.documents.parsing import ParserPool
from substrate.documents.stage import run_parse
from substrate.errors import ModelUnavailable
from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.claims import Passage
from substrate.extraction.openai_compatible import OpenAIExtractor
from substrate.extraction.stage import run_claims
from substrate.settings import Settings

SEED, LATENCY_S, AT_ONCE = 1, 0.5, 16
SENTENCES_PER_S, SHARE = 200.0, 0.9
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
SMOKE = (
    "Ann Lee has led Project Kestrel since 1 March 2024.",
    "Halden Works acquired Brightwater in June 2019 for 40 million EUR.",
    "Marta Silva joined Northwind Bank as head of risk on 3 May 2021.",
    "The headquarters of Quartz Foods moved from Bremen to Leiden in 2022.",
    "Northwind Bank does not own Halden Works.",
    "Oslo is the capital of Norway.",
    "Bo Stone replaced Ann Lee as chief of Project Kestrel in May 2024.",
    "Quartz Foods may buy Brightwater next year.",
    "Brightwater employs 320 people.",
    "Ines Falk is the daughter of Hugo Falk.",
)


@dataclass(frozen=True)
class Endpoint:
    """What a pass over a slow endpoint took."""

    passages: int
    seconds: float
    busy_s: float
    """Processor time of this process, the database and the server aside."""
    claims: int
    refused: int
    bare_per_s: float
    """Requests a second that as many threads get that do nothing but ask, just before on the same machine."""

    @property
    def share(self) -> float:
        """Of the passages a second that were possible."""
        return self.passages / self.seconds / (AT_ONCE / LATENCY_S)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="bench.extraction")
    parser.add_argument("--passages", type=int, default=640)
    parser.add_argument("--smoke", nargs=2, metavar=("URL", "MODEL"))
    parser.add_argument("--sentences", type=int, default=len(SMOKE), help="of the smoke run")
    arguments = parser.parse_args()
    with fresh_settings() as settings:
        speed, sentences = without_model(settings)
        print(f"built-in: {sentences} sentences, {speed:.0f} a second of one core", flush=True)
        met = with_endpoint(settings, arguments.passages)
        bare = f"threads that only ask: {met.bare_per_s:.1f} a second"
        print(f"endpoint: {met.passages} passages in {met.seconds:.1f} s; {bare}", flush=True)
    smoked: list[str] = []
    if arguments.smoke:
        url, model = arguments.smoke
        smoked = smoke(url, model, arguments.sentences)
    line = f"extraction: sentences_per_s={speed:.0f} endpoint_share={met.share:.2f}"
    if arguments.passages == parser.get_default("passages"):
        _write(speed, sentences, met, smoked, line)
    print(line)
    return 0 if speed >= SENTENCES_PER_S and met.share >= SHARE and met.refused == 0 else 1


def without_model(settings: Settings) -> tuple[float, int]:
    """Sentences a second of processor time, and how many there were."""
    memos = [(d.filename, d.text) for d in documents(40, SEED)]
    demo = sorted(p for p in (ROOT / "demo" / "documents").rglob("*") if p.suffix in (".md", ".txt"))
    texts = [*memos, *((path.name, path.read_text(encoding="utf-8")) for path in demo)]
    passages = [
        Passage(part, filename=name) for name, text in texts for part in re.split(r"\n(?=#)", text) if part.strip()
    ]
    count = sum(bool(re.search(r"\w", part)) for p in passages for part in _SENTENCE_END.split(p.text))
    extractor = BuiltinExtractor(settings)
    extractor.extract(passages[:2])  # the parser is loaded once in the life of a process
    started = time.process_time()
    for at in range(0, len(passages), 32):
        extractor.extract(passages[at : at + 32])
    return count / (time.process_time() - started), count


@contextmanager
def slow_server() -> Iterator[str]:
    """The address of an endpoint that runs until the block ends."""
    command = [sys.executable, "-m", "bench.extraction.server", str(LATENCY_S), str(AT_ONCE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None and server.stdin is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        server.stdin.close()


def with_endpoint(settings: Settings, passages: int) -> Endpoint:
    """The claims stage over at least `passages` passages, as a pipeline runs it."""
    import httpx

    memos = documents(passages // 3 + 1, SEED, size=3000)
    with open_database(settings, "bench") as db, slow_server() as address:
        with db.write(NO_BASE) as connection:
            kb_id = create_base(connection, "extraction", "Extraction")
        items = [PushItem(d.external_id, d.filename, d.text.encode(), d.doc_time) for d in memos]
        push(db, kb_id, items, actor="bench", via="cli")
        pool = ParserPool()
        run_parse(db, kb_id, pool=pool)
        pool.close()
        bare = bare_client(address, passages // 4)
        extractor = OpenAIExtractor(address, "bench", None, at_once=AT_ONCE)
        started, busy = time.monotonic(), time.process_time()
        result = run_claims(db, kb_id, extractor, limit=passages)
        seconds, busy = time.monotonic() - started, time.process_time() - busy
        extractor.close()
        refused = httpx.get(f"{address}/counts").json()["refused"]
    return Endpoint(result.done, seconds, busy, result.written, refused, bare)


def bare_client(address: str, requests: int) -> float:
    """Requests a second of threads that only ask: what the machine lets through at the moment."""
    import httpx

    body = {"model": "bench", "messages": [{"role": "system", "content": ""}, {"role": "user", "content": ""}]}
    with httpx.Client(timeout=60) as client, ThreadPoolExecutor(AT_ONCE) as pool:
        started = time.monotonic()
        for answer in pool.map(lambda _: client.post(f"{address}/chat/completions", json=body), range(requests)):
            answer.raise_for_status()
        return requests / (time.monotonic() - started)


def smoke(url: str, model: str, sentences: int = len(SMOKE)) -> list[str]:
    """What a chat server says to so many sentences, a line each, as it is."""
    extractor = OpenAIExtractor(url, model, None, at_once=1)
    lines, kept, dropped = [], 0, Counter[str]()
    for sentence in SMOKE[:sentences]:
        try:
            [found] = extractor.extract([Passage(sentence)])
        except ModelUnavailable as error:
            lines.append(f"{sentence} → {error}")
            continue
        kept += len(found.claims)
        dropped += Counter(drop.code for drop in found.drops)
        said = "; ".join(f"{c.subject} | {c.phrase} | {c.object or (c.value and c.value.raw)}" for c in found.claims)
        lines.append(f"{sentence} → {said or 'nothing'} ({', '.join(d.code for d in found.drops) or 'no drops'})")
    extractor.close()
    lines.append(f"{kept} claims, drops: {dict(dropped)}")
    print("\n".join(lines), flush=True)
    return lines


def _write(speed: float, sentences: int, met: Endpoint, smoked: Sequence[str], line: str) -> None:
    text = f"""# bench-extraction

- Commit: {commit()}
- Corpus: generated memos, seed {SEED}, and the demo's documents: {sentences} sentences
- Endpoint: answers in {LATENCY_S * 1000:.0f} ms, lets {AT_ONCE} in at once; {AT_ONCE / LATENCY_S:.0f} passages a second
  are possible
- Repetitions: one run on a two-core machine that others may have shared

| with the endpoint | |
|---|---|
| passages | {met.passages} |
| seconds, first lease to last commit | {met.seconds:.1f} |
| passages a second | {met.passages / met.seconds:.1f} |
| requests a second of threads that only ask, just before | {met.bare_per_s:.1f} |
| processor seconds of the stage's own process | {met.busy_s:.1f} |
| claims written | {met.claims} |
| refused by the endpoint for too many at once | {met.refused} |

The built-in reader is measured in seconds of one core, so that others on the machine count less; what it does not show
is other kinds of text. The endpoint's answers are made up: the share says what the stage adds to an endpoint's own
time, and nothing of what a model finds.
"""
    if smoked:
        text += "\n## A chat server that was there, as it is\n\n" + "\n".join(f"- {told}" for told in smoked) + "\n"
    target = Path(ROOT / "bench" / "results" / "extraction.md")
    target.write_text(f"{text}\n```\n{line}\n```\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
