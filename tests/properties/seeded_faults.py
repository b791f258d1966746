"""Faults to seed into a copy of the tree, each a line of the product made wrong, and the tests that must see it.

``python -m tests.properties.seeded_faults DSN`` tries them all on a server of tests and ends with
``faults: seeded= caught=``; so does ``pytest -m slow tests/properties/test_every_seeded_fault_is_caught.py``. First
the tests named must pass on the copy as it is, or a failure would prove nothing. A fault whose line is not there once,
and one whose tests do not even start, is not caught.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = "tests/properties/"
MODEL = (HERE + "test_a_past_answer_never_changes.py::test_sequences_against_the_model",)
TIMELINE = HERE + "test_a_timeline_holds_whatever_the_order.py::"
SAME = HERE + "test_the_same_statements_give_the_same_facts.py::"
ORDER = (HERE + "test_record_time_is_an_order.py::test_many_writers_make_one_order",)
CLOCK = (HERE + "test_a_clock_may_step.py",)
PERIODS = (HERE + "test_two_periods_in_every_relation.py",)
DATES = (HERE + "test_no_date_is_guessed.py",)
CHAIN = (HERE + "test_a_chain_never_forks.py::test_five_thousand_appends_make_one_chain",)
KEYS = (HERE + "test_an_acknowledged_write_is_kept.py::test_what_is_tried_again_under_its_key_is_there_once",)
LEDGER, AXES = "substrate/ledger/", "substrate/axes/"


@dataclass(frozen=True)
class Fault:
    """In `file`, the text `right` becomes `wrong`; each of `tests` alone is enough to see it."""

    name: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "a period is closed at its end: [) becomes []",
        AXES + "valid_time.py",
        "{alias}.holds_to > %(valid_start)s",
        "{alias}.holds_to >= %(valid_start)s",
        MODEL,
    ),
    Fault(
        "a period begins a unit early: < becomes <=",
        AXES + "valid_time.py",
        "{alias}.holds_from < %(valid_end)s",
        "{alias}.holds_from <= %(valid_end)s",
        MODEL,
    ),
    Fault(
        "a closing counts at its own number still: > becomes >=",
        AXES + "transaction_time.py",
        "{alias}.invalidated_seq > %(known_seq)s",
        "{alias}.invalidated_seq >= %(known_seq)s",
        MODEL,
    ),
    Fault(
        "a row is not seen at the number that wrote it: <= becomes <",
        AXES + "transaction_time.py",
        'f"({alias}.recorded_seq <= %(known_seq)s"',
        'f"({alias}.recorded_seq < %(known_seq)s"',
        MODEL,
    ),
    Fault(
        "a moment is not its own transaction's: <= becomes <",
        "substrate/sql/moments.sql",
        "t.recorded_at <= %(moment)s",
        "t.recorded_at < %(moment)s",
        DATES,
    ),
    Fault(
        "a day is 25 hours long",
        AXES + "valid_time.py",
        '"day": timedelta(days=1)',
        '"day": timedelta(hours=25)',
        (*DATES, *MODEL),
    ),
    Fault(
        "a month is thirty days",
        AXES + "valid_time.py",
        "return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)",
        "return start + timedelta(days=30)",
        (*DATES, *MODEL),
    ),
    Fault(
        "a date is read in the machine's zone",
        "substrate/reads/moments.py",
        "start = datetime.strptime(cleaned, pattern).replace(tzinfo=UTC)",
        "start = datetime.strptime(cleaned, pattern).astimezone(UTC)",
        DATES,
    ),
    Fault(
        "a moment is truncated to milliseconds",
        "substrate/reads/moments.py",
        "start = moment.astimezone(UTC)\n",
        "start = moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)\n",
        DATES,
    ),
    Fault(
        "a clock time without a zone is taken for UTC",
        "substrate/reads/moments.py",
        "        if moment.tzinfo is None:\n            raise",
        "        moment = moment.replace(tzinfo=moment.tzinfo or UTC)\n        if False:\n            raise",
        DATES,
    ),
    Fault(
        "record time does not step over the last one",
        LEDGER + "door.py",
        'at=max(clock["now"], head["at"] + timedelta(microseconds=1))',
        'at=clock["now"]',
        CLOCK,
    ),
    Fault(
        "record time is the clock's, cut to seconds",
        LEDGER + "door.py",
        'at=max(clock["now"], head["at"] + timedelta(microseconds=1))',
        'at=clock["now"].replace(microsecond=0)',
        ORDER,
    ),
    Fault(
        "now by a clock that was set back does not see the head",
        "substrate/sql/moments.sql",
        "interval '1 minute'",
        "interval '0 minutes'",
        CLOCK,
    ),
    Fault(
        "the head is read without its lock",
        "substrate/sql/ledger.sql",
        "from kb_head where kb_id = %(kb_id)s for update",
        "from kb_head where kb_id = %(kb_id)s",
        ORDER,
    ),
    Fault(
        "an event does not follow the one before it",
        LEDGER + "door.py",
        "            previous = current\n",
        "",
        CHAIN,
    ),
    Fault(
        "a key that was used is not looked up",
        LEDGER + "door.py",
        "if done is not None:",
        "if False:",
        KEYS,
    ),
    Fault(
        "a rival that opens at the same moment cuts too",
        LEDGER + "timelines.py",
        "bisect_right(openings, at, key=lambda cut: cut[0])",
        "bisect_left(openings, at, key=lambda cut: cut[0])",
        MODEL,
    ),
    Fault(
        "the walk goes by id",
        LEDGER + "timelines.py",
        "(a for a in own if _placed(a)), key=_position)",
        "(a for a in own if _placed(a)), key=lambda a: a.id.int)",
        (TIMELINE + "test_neither_order_nor_ids_matter",),
    ),
    Fault(
        "the later of two stated ends stands, whatever their units",
        LEDGER + "timelines.py",
        "if not (apart or (refines and _finer(a.end_precision, span.end_precision))):",
        "if a.end <= span.end:",
        (TIMELINE + "test_an_end_in_a_unit_is_refined_inside_it_and_only_there", *MODEL),
    ),
    Fault(
        "of two documents that say it was over, the later bounds it",
        LEDGER + "timelines.py",
        "else min(bound, span.attested_to)",
        "else max(bound, span.attested_to)",
        (TIMELINE + "test_of_two_documents_that_say_it_was_over_the_earlier_bounds_it",),
    ),
    Fault(
        "a rival cuts a stated end",
        LEDGER + "timelines.py",
        "if bucket_start(span.end, span.end_precision) <= at < span.end and not said_later:",
        "if at < span.end and not said_later:",
        (*PERIODS, *MODEL),
    ),
    Fault(
        "the stretch on the left of a correction stays open",
        LEDGER + "timelines.py",
        '        span.end, span.end_precision, span.end_origin = at, precision, "engine"\n',
        "",
        (*PERIODS, *MODEL),
    ),
    Fault(
        "what is only known to have ended held before its rivals too",
        LEDGER + "timelines.py",
        "found[0].not_before = max(",
        "found[0].not_before = None and max(",
        (*PERIODS, *MODEL),
    ),
    Fault(
        "an earlier stretch of its own stays open",
        LEDGER + "timelines.py",
        "if following is not None and (at := following.opens) is not None:",
        "if False and following is not None and (at := following.opens) is not None:",
        (TIMELINE + "test_spans_of_one_triple_never_overlap",),
    ),
    Fault(
        "a denial reaches younger documents",
        LEDGER + "outranking.py",
        "return earlier.attested is None or later.attested is None or earlier.attested <= later.attested",
        "return True",
        MODEL,
    ),
    Fault(
        "a denial takes nothing away",
        LEDGER + "timelines.py",
        "and not any(denied(a, d) for d in denials)",
        "",
        MODEL,
    ),
    Fault(
        "two units that only touch are taken to meet: < becomes <=",
        LEDGER + "outranking.py",
        "return a.start < bucket_end(b.start, b.start_precision) and b.start < bucket_end",
        "return a.start <= bucket_end(b.start, b.start_precision) and b.start <= bucket_end",
        MODEL,
    ),
    Fault(
        "a finer start is taken across an end",
        LEDGER + "timelines.py",
        "if bisect_right(ends, start) > bisect_right(ends, a.start):",
        "if False:",
        (TIMELINE + "test_a_finer_start_beyond_a_stated_end_is_another_stretch", *MODEL),
    ),
    Fault(
        "an event has no end of its own bucket",
        LEDGER + "spans.py",
        "return self.start, self.end or bucket_end(self.start, self.start_precision)",
        "return self.start, self.end",
        MODEL,
    ),
    Fault(
        "what is live is judged without the other side's rivals",
        LEDGER + "timelines.py",
        "correctors += [c for c in self._correcting(timeline) if c.value not in beside]",
        "pass",
        MODEL,
    ),
    Fault(
        "a correction moves no pair beyond its rivals",
        LEDGER + "scenes.py",
        "dirty |= self._corrected_far_away(paired, correcting)",
        "pass",
        (SAME + "test_a_correction_gives_back_what_the_corrected_had_cut",),
    ),
    Fault(
        "rivals of what changed are not recomputed",
        LEDGER + "scenes.py",
        "dirty = dirty | self._rivals(dirty)",
        "pass",
        (*PERIODS, *MODEL),
    ),
    Fault(
        "only time is compared",
        LEDGER + "recompute.py",
        '_COMPARED = (*TIME, *WORDS, "qualifiers", "grade", "confidence")',
        "_COMPARED = TIME",
        (SAME + "test_words_and_confidence_are_those_of_the_best_statement_whichever_came_first",),
    ),
    Fault(
        "links to what a fact no longer rests on stay",
        LEDGER + "recompute.py",
        "self.door.close_links(sorted(set(gone)))",
        "pass",
        (SAME + "test_neither_order_nor_batches_matter",),
    ),
    Fault(
        "an eternal fact is extended past a denial",
        LEDGER + "recompute.py",
        "plain -= scene.contested(plain)",
        "pass",
        (SAME + "test_an_eternal_fact_is_the_same_by_the_short_way", *MODEL),
    ),
    Fault(
        "a merge forgets refusals",
        LEDGER + "merges.py",
        "moved = withhold(door, rows)  # what",
        "moved = []  # what",
        MODEL,
    ),
    Fault(
        "a merge leaves behind what was merged into the absorbed entity",
        LEDGER + "merges.py",
        "_place(door, list(members))\n    rows = _assertions(door, members)\n    moved = withhold(door, rows)  # what",
        "_place(door, [keep_id, absorbed_id])\n    rows = _assertions(door, members)\n"
        "    moved = withhold(door, rows)  # what",
        (SAME + "test_a_chain_of_merges_is_one_entity_from_either_end", *MODEL),
    ),
    Fault(
        "a retraction is ignored",
        LEDGER + "retractions.py",
        "changed = recompute(door, ",
        "changed = set() if rows else recompute(door, ",
        MODEL,
    ),
    Fault(
        "a refused triple comes in again",
        LEDGER + "refusals.py",
        "found[d.source_key] = ",
        "found[d.source_key + '?'] = ",
        MODEL,
    ),
    Fault(
        "a deletion names every fact that changed",
        "substrate/sql/ledger.sql",
        "  and not exists (select from facts g where g.kb_id = f.kb_id and g.lineage_id = f.lineage_id"
        " and g.invalidated_seq is null)\norder by f.id",
        "order by f.id",
        (SAME + "test_a_deletion_names_the_facts_that_ended_and_not_those_that_changed",),
    ),
)


class Tree:
    """A copy of what the tests need, into which one fault at a time is sown."""

    KEPT = ("substrate", "api", "orchestration", "bench", "tests", "migrations", "tools", "pyproject.toml")

    def __init__(self, place: Path, dsn: str) -> None:
        self.place, self.dsn = place, dsn
        for name in self.KEPT:
            one = ROOT / name
            if one.is_dir():
                shutil.copytree(one, place / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(one, place / name)
        for test in (place / HERE).glob("test_*.py"):  # what fails here need not be made small
            test.write_text(test.read_text(encoding="utf-8").replace(", Phase.shrink", ""), encoding="utf-8")

    def run(self, *tests: str) -> int:
        """pytest's exit code: 0 all passed, 1 some failed, more where they could not run."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow"]
        environment = {**os.environ, "TWOCLOCKS_TEST_DATABASE_URL": self.dsn, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self.place,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode

    def verdict(self, fault: Fault) -> str:
        """``caught``, or why not."""
        file = self.place / fault.file
        text = file.read_text(encoding="utf-8")
        if text.count(fault.right) != 1:
            return f"its line is there {text.count(fault.right)} times"
        file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
        try:
            for test in fault.tests:
                code = self.run(test)
                if code == 1:
                    return "caught"
                if code > 1:
                    return f"{test} did not run: exit {code}"
            return "not seen"
        finally:
            file.write_text(text, encoding="utf-8")


def sow(place: Path, dsn: str, faults: tuple[Fault, ...] = FAULTS) -> Iterator[tuple[Fault, str]]:
    """Each fault and its verdict. Raises `AssertionError` where a named test fails without any fault."""
    tree = Tree(place, dsn)
    named = sorted({test for fault in faults for test in fault.tests})
    assert tree.run(*named) == 0, "the tests fail on the tree as it is"
    for fault in faults:
        yield fault, tree.verdict(fault)


def main() -> int:
    import tempfile

    caught = 0
    with tempfile.TemporaryDirectory(prefix="twoclocks-faults-") as place:
        for fault, verdict in sow(Path(place), sys.argv[1]):
            caught += verdict == "caught"
            print(f"{verdict}: {fault.name}", flush=True)
    print(f"faults: seeded={len(FAULTS)} caught={caught}")
    return 0 if caught == len(FAULTS) else 1


if __name__ == "__main__":
    sys.exit(main())
