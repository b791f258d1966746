"""``python -m bench.identity.speed``: 10,000 mentions in generated documents through the entities stage, in batches.

Persons of 400 family names and 12 given names, a tenth of them written with an initial, work for 300 companies, a fifth
of them written with a legal form; a document makes two claims. Only the entities stage is timed, and its statements
are counted.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence

from bench.database import fresh_settings
from bench.identity.__main__ import _look_around
from substrate import sql
from substrate.bases import create_base
from substrate.db import NO_BASE, open_database
from substrate.documents.intake import PushItem, push
from substrate.extraction.claims import Claim, Extraction, Passage
from substrate.pipeline import Services, run_pipeline, run_step

DOCUMENTS, SEED = 2_500, 7
GIVEN = "Ada Bo Cy Dina Egon Fay Gus Hana Ivo Jun Kai Lea".split()
SYLLABLES = "bar den fol gris hal jor kam lund mar nor ost pel quin ros sten tam ulf ver wes zan".split()


class Lines:
    """Reads ``subject | phrase | object`` lines."""

    name, version = "lines", "1"

    def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        return [Extraction(tuple(_claims(p.text))) for p in passages]


def _claims(text: str) -> list[Claim]:
    found, at = [], 0
    for line in text.split("\n"):
        if line.count("|") == 2:
            subject, phrase, other = (part.strip() for part in line.split("|"))
            found.append(Claim(subject, phrase, line, at, at + len(line), object=other))
        at += len(line) + 1
    return found


def texts(documents: int) -> list[str]:
    """What the documents say."""
    rng = random.Random(SEED)
    families = [(a + b).title() for a in SYLLABLES for b in SYLLABLES]
    companies = [f"{a.title()}{b} Works" for a in SYLLABLES[:18] for b in SYLLABLES[:17]][:300]
    employer = {f: rng.choice(companies) for f in families}
    found = []
    for _ in range(documents):
        lines = []
        for _ in range(2):
            family, given = rng.choice(families), rng.choice(GIVEN)
            company = employer[family] + rng.choice(["", "", "", "", " Ltd"])
            name = f"{given[0]}." if rng.random() < 0.1 else given
            lines.append(f"{name} {family} | works for | {company}")
        found.append("\n".join(lines) + "\n")
    return found


def main() -> int:
    with fresh_settings() as settings, open_database(settings, "bench") as db:
        with db.write(NO_BASE) as connection:
            kb_id = create_base(connection, "speed", "Speed")
        items = [PushItem(f"d{i}", f"d{i}.txt", text.encode()) for i, text in enumerate(texts(DOCUMENTS))]
        for start in range(0, len(items), 100):
            push(db, kb_id, items[start : start + 100], actor="person:bench", via="rest")
        with Services(settings, extractor=Lines()) as services:
            run_pipeline(db, kb_id, services, ("parse", "claims"))
            _look_around(settings)
            started, busy = time.perf_counter(), time.process_time()
            result = run_step(db, kb_id, services, "entities")
            seconds, busy = time.perf_counter() - started, time.process_time() - busy
        with db.read(kb_id) as connection:
            counts = connection.execute(sql.query("identity_counts"), {"kb_id": kb_id}).fetchone()
    assert counts is not None
    print(
        f"identity-speed: mentions={result.written} seconds={seconds:.1f} own_cpu_s={busy:.1f} "
        f"mentions_per_s={result.written / seconds:.0f} merges={counts['merges']} doubts={counts['doubts']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
