"""Accuracy of the time grammar on sentences with known answers.

``make bench-dates DATA=FOLDER``, where FOLDER holds ``english.json`` and ``chinese.json``: lists of
``{Input, Context: {ReferenceDateTime}, Results: [{Start, End, TypeName, Resolution: {values}}]}``.

Counted are results of type date and daterange that have a resolved value. One is right if a mention that
overlaps it states one of the listed values, to the day. The data's ranges stop *at* the last named unit ("2014
to 2018" ends 2018-01-01) where ours include it, so both spellings of the same end are accepted, and likewise of
the start after "after". The line before the last repeats English with the order of day and month declared,
since the data take 5/12 for 12 May and the grammar refuses to guess. ``false_dates`` counts mentions in our own
list of sentences without any date, ``own`` our own table of expressions; both live beside the tests.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from substrate.extraction.times import Anchor, TimeMention, find_times, parse_time
from substrate.extraction.times.buckets import add_months

ROOT = Path(__file__).resolve().parent.parent


def earlier(at: datetime | None, precision: str | None) -> datetime | None:
    """The first moment of the unit before `at`."""
    if at is None:
        return None
    if precision in ("year", "month"):
        return add_months(at, -12 if precision == "year" else -1)
    return at - timedelta(1)


def bounds(mention: TimeMention) -> set[tuple[str, str]]:
    """Every spelling of the interval that means the same."""
    time = mention.time
    starts, ends = {time.valid_from}, {time.valid_to}
    if mention.shape == "interval" and re.search(r"q[1-4]|quarter|季", time.words, re.IGNORECASE) and time.valid_to:
        ends.add(add_months(time.valid_to, -3))
    if mention.shape in ("interval", "until", "by"):
        ends.add(earlier(time.valid_to, time.valid_to_precision))
    if mention.shape == "after":
        starts.add(earlier(time.valid_from, time.valid_from_precision))
    return {(day(start), day(end)) for start in starts for end in ends}


def day(at: datetime | None) -> str:
    return at.date().isoformat() if at else ""


def right(mentions: list[TimeMention], result: dict[str, Any]) -> bool:
    start, end = result["Start"], result["End"] + 1
    for mention in mentions:
        if mention.end <= start or mention.start >= end:
            continue
        for value in result["Resolution"]["values"]:
            if value["type"] == "date":
                if mention.time.valid_from_precision == "day" and day(mention.time.valid_from) == value.get("value"):
                    return True
            elif (value.get("start", ""), value.get("end", "")) in bounds(mention):
                return True
    return False


def counted(result: dict[str, Any]) -> bool:
    values = (result.get("Resolution") or {}).get("values") or []
    resolved = any(value.get("start") or value.get("end") or value.get("value", "")[:1].isdigit() for value in values)
    return result["TypeName"] in ("datetimeV2.date", "datetimeV2.daterange") and resolved


def score(path: Path, language: Any, misses: bool, order: Any = None) -> dict[str, list[bool]]:
    scores: dict[str, list[bool]] = {"date": [], "daterange": []}
    for row in json.loads(path.read_text(encoding="utf-8")):
        reference = (row.get("Context") or {}).get("ReferenceDateTime")
        anchor = Anchor(datetime.fromisoformat(reference).replace(tzinfo=UTC), "day") if reference else None
        mentions = find_times(row["Input"], anchor, language=language, order=order)
        for result in filter(counted, row["Results"]):
            good = right(mentions, result)
            scores[result["TypeName"].split(".")[1]].append(good)
            if misses and not good:
                found = [(row["Input"][m.start : m.end], m.shape, sorted(bounds(m))) for m in mentions]
                wanted = [
                    v.get("value") or (v.get("start", ""), v.get("end", "")) for v in result["Resolution"]["values"]
                ]
                print(f"{result['TypeName'][11:]:9} {row['Input'][:70]!r} [{result['Text']}] {wanted}\n      {found}")
    return scores


def table() -> ModuleType:
    """The tests' own tables."""
    path = ROOT / "tests" / "substrate" / "extraction" / "time_tables.py"
    spec = importlib.util.spec_from_file_location("time_tables", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def share(values: list[bool]) -> str:
    return f"{sum(values)}/{len(values)}={sum(values) / max(1, len(values)):.3f}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.dates", description="Accuracy of the time grammar on known answers.")
    parser.add_argument("--data", type=Path, required=True, help="a folder with english.json and chinese.json")
    parser.add_argument("--misses", action="store_true", help="print what is not read as expected")
    arguments = parser.parse_args()
    data, misses = arguments.data, arguments.misses
    if not (data / "english.json").exists():
        print(f"bench-dates: no english.json in {data}", file=sys.stderr)
        return 2
    english = score(data / "english.json", "en", misses)
    american = score(data / "english.json", "en", False, "mdy")
    chinese = score(data / "chinese.json", "zh", misses)
    own = table()
    anchor = own.ANCHOR
    false_dates = sum(len(find_times(text, anchor)) for text in own.NOTHING)
    held = [own.rendered(parse_time(words, anchor)) == expected for words, expected in own.EXPRESSIONS]
    print(f"with order=mdy: en_date={share(american['date'])} en_range={share(american['daterange'])}")
    print(
        f"dates: en_date={share(english['date'])} en_range={share(english['daterange'])} "
        f"zh={share(chinese['date'] + chinese['daterange'])} false_dates={false_dates}/{len(own.NOTHING)} "
        f"own={share(held)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
