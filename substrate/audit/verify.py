"""Verification of what is sealed: every link, every root, and every row beside the bytes that were hashed.

The kinds of damage are the chain's (`substrate.ledger.chain`): content, link, missing, checkpoint, unsealed. Cutting
the last seals together with their rows leaves what is sound in itself, and is seen only against a checkpoint.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from substrate import sql
from substrate.audit import merkle
from substrate.audit.extractions import content_of
from substrate.audit.seals import LATE_S, Seal, genesis, seal_hash
from substrate.db import AnyConnection
from substrate.errors import InvalidInput
from substrate.ledger.canonical import canonical_bytes
from substrate.ledger.chain import EXIT_CODES, Damage, DamageKind
from substrate.ledger.erasure import PURGED

FETCH = 2_000
_EVENT = ("action", "at", "base", "chunk_ids", "fact_ids", "id", "person_id", "seq", "token_id", "via")
_EXTRACTION = (
    *("base", "chunk_id", "claims", "completion_tokens", "content", "drops", "extractor", "kept_at"),
    "prompt_tokens",
)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SealReport:
    """The outcome. `damage` says what kind, `first_bad_seal` under which seal; rows that wait count as the next one.

    `events` and `extractions` count what was found sound, `waiting` those among them that no seal covers yet,
    `uncovered` extractions of before there were digests.
    """

    seals: int
    events: int = 0
    extractions: int = 0
    waiting: int = 0
    oldest_s: float = 0.0
    uncovered: int = 0
    damage: DamageKind | None = None
    first_bad_seal: int | None = None
    problem: str = ""
    since: int = 0
    newest: Seal | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.damage is None

    @property
    def exit_code(self) -> int:
        """0, or the kind of damage as a number (`chain.EXIT_CODES`)."""
        return EXIT_CODES[self.damage] if self.damage else 0


def verify_seals(
    connection: AnyConnection,
    kb_id: UUID,
    *,
    since: int = 0,
    against: Seal | None = None,
    late_s: float = LATE_S,
) -> SealReport:
    """Recompute the seals of a base after number `since`, and the rows under them and those that wait.

    `against` is a seal that a checkpoint names; `late_s` how many seconds a row may wait. Run it on one snapshot
    (`Database.read`). Raises `InvalidInput` for a `since` past the checkpoint's seal.
    """
    began = time.monotonic()
    if against is not None and since > against.number:
        raise InvalidInput(f"the checkpoint is of seal {against.number}, before {since}", field="since")
    check = _Check(connection, kb_id, since)
    try:
        check.run(against, late_s)
    except Damage as damage:
        check.found = replace(check.found, damage=damage.kind, first_bad_seal=damage.seq, problem=damage.problem)
    return replace(check.found, seconds=time.monotonic() - began)


class _Lane:
    """Rows in order of their seal, handed out by its number; those that wait for one come last."""

    def __init__(self, name: str, rows: Iterator[Row]) -> None:
        self._name, self._rows = name, rows
        self._row = next(rows, None)

    def take(self, number: int | None) -> list[Row]:
        """The rows under this seal (None: under none). Raises `Damage` for rows under a seal that never was."""
        taken = []
        while self._row is not None and self._row["seal"] == number:
            taken.append(self._row)
            self._row = next(self._rows, None)
        if self._row is not None and _before(self._row["seal"], number):
            never = self._row["seal"]
            raise Damage("content", never, f"{self._name} names seal {never}, which never was")
        return taken


def _before(seal: int | None, number: int | None) -> bool:
    return seal is not None and (number is None or seal < number)


class _Check:
    def __init__(self, connection: AnyConnection, kb_id: UUID, since: int) -> None:
        self._connection, self._kb_id, self._since = connection, kb_id, since
        # From the beginning means all there is, so that rows under numbers that never were are seen too.
        self._after = since or None
        self.found = SealReport(seals=since, since=since)

    def run(self, against: Seal | None, late_s: float) -> None:
        """Raises `Damage`."""
        last = self._start()
        _is_signed(last, against)
        events = _Lane("an access event", self._read("sealed_events"))
        readings = _Readings(self._read)
        for row in self._read("sealed_seals", after=self._since):
            number = last.number + 1
            if row["number"] != number:
                raise Damage("missing", number, f"seal {number} is missing")
            under = events.take(number), readings.take(number)
            self._check(row, last, *under)
            last = Seal(number, bytes(row["hash"]))
            _is_signed(last, against)
            self._count(last, *under)
        if against is not None and against.number > last.number:
            problem = f"seal {against.number} was signed, and they end at {last.number}: cut, or an older copy"
            raise Damage("checkpoint", last.number + 1, problem)
        self._waits(last, events.take(None), readings.take(None), late_s)

    def _start(self) -> Seal:
        if not self._since:
            return genesis(self._kb_id)
        asked = {"kb_id": self._kb_id, "number": self._since}
        row = self._connection.execute(sql.query("seal_at"), asked).fetchone()
        if row is None:
            raise Damage("missing", self._since, f"seal {self._since} is missing")
        return Seal(row["number"], bytes(row["hash"]))

    def _check(self, row: Row, last: Seal, events: list[Row], readings: list[Row]) -> None:
        number = row["number"]
        if bytes(row["prev_hash"]) != last.hash:
            raise Damage("link", number, f"seal {number} does not follow the one before it")
        counted, root = (row["events"], row["extractions"]), bytes(row["root"])
        current = seal_hash(last.hash, self._kb_id, number, row["sealed_at"], *counted, root)
        if current != bytes(row["hash"]):
            raise Damage("content", number, f"seal {number} is not what was hashed")
        for kind, rows, count in (("access event", events, counted[0]), ("extraction", readings, counted[1])):
            if len(rows) < count:
                raise Damage("missing", number, f"{count - len(rows)} of the {kind}s under seal {number} are missing")
            if len(rows) > count:
                raise Damage("content", number, f"an {kind} under seal {number} was not there when it was sealed")
        if merkle.root([bytes(r["hash"]) for r in (*events, *readings)]) != root:
            raise Damage("content", number, f"a hash under seal {number} is not what was sealed")
        _are_as_hashed(number, events, readings)

    def _waits(self, last: Seal, events: list[Row], readings: list[Row], late_s: float) -> None:
        number, asked = last.number + 1, {"kb_id": self._kb_id}
        _are_as_hashed(number, events, readings)
        self._count(last, events, readings)
        lost = self._connection.execute(sql.query("sealed_without_reading"), asked).fetchone()
        late = self._connection.execute(sql.query("seal_waiting"), asked).fetchone()
        assert lost is not None and late is not None  # noqa: S101 - each is one row of aggregates
        self.found = replace(
            self.found, waiting=late["rows"], oldest_s=max(late["oldest_s"], 0.0), uncovered=lost["uncovered"]
        )
        if lost["orphans"]:
            problem = f"{lost['orphans']} claims or drops belong to no reading of their passage"
            raise Damage("content", number, problem)
        if late["oldest_s"] > late_s:
            raise Damage("unsealed", number, f"a row waits for a seal since {late['oldest_s']:.0f} s")

    def _count(self, last: Seal, events: list[Row], readings: list[Row]) -> None:
        self.found = replace(
            self.found,
            seals=last.number,
            newest=last,
            events=self.found.events + len(events),
            extractions=self.found.extractions + len(readings),
        )

    def _read(self, query: str, after: int | None = None) -> Iterator[Row]:
        asked = {"kb_id": self._kb_id, "after": self._after if after is None else after}
        with self._connection.cursor(name=query) as cursor:
            cursor.execute(sql.query(query), asked)
            while rows := cursor.fetchmany(FETCH):
                yield from rows


class _Readings:
    """Extractions, each with its claims and drops."""

    def __init__(self, read: Any) -> None:
        self._lanes = (
            _Lane("an extraction", read("sealed_extractions")),
            _Lane("a claim", read("sealed_claims")),
            _Lane("a drop", read("sealed_drops")),
        )

    def take(self, number: int | None) -> list[Row]:
        readings, claims, drops = (lane.take(number) for lane in self._lanes)
        for name, rows in (("its_claims", claims), ("its_drops", drops)):
            of: Mapping[tuple[str, str], list[Row]] = defaultdict(list)
            for row in rows:
                of[row["chunk_id"], row["extractor"]].append(row)
            for reading in readings:
                reading[name] = of[reading["chunk_id"], reading["extractor"]]
        return readings


def _are_as_hashed(number: int, events: list[Row], readings: list[Row]) -> None:
    """Raises `Damage` unless every row is what its bytes say, the bytes what was hashed, and the digests hold."""
    for kind, columns, rows in (("access event", _EVENT, events), ("extraction", _EXTRACTION, readings)):
        for row in rows:
            payload = bytes(row["payload"])
            if merkle.leaf_hash(payload) != bytes(row["hash"]):
                raise Damage("content", number, f"the bytes of an {kind} under seal {number} are not what was hashed")
            if canonical_bytes({column: row[column] for column in columns}) != payload:
                raise Damage("content", number, f"an {kind} under seal {number} is not what its bytes say")
    for reading in readings:
        claims, drops = reading["its_claims"], reading["its_drops"]
        where = f"passage {reading['chunk_id']} by {reading['extractor']} under seal {number}"
        if (len(claims), len(drops)) < (reading["claims"], reading["drops"]):
            raise Damage("missing", number, f"a claim or drop from {where} is missing")
        if reading["purged"]:
            if not all(_is_blank(row) for row in (*claims, *drops)):
                raise Damage("content", number, f"the claims and drops from {where} are not what a purge leaves")
        elif content_of(claims, drops).hex() != reading["content"]:
            raise Damage("content", number, f"the claims and drops from {where} are not what was kept")


def _is_blank(row: Row) -> bool:
    """Does a claim or drop say nothing any more? Whether there was a purge is for the chain to say."""
    words = ("subject", "object", "phrase", "wording", "value_raw", "quote", "time_words", "detail", "example")
    return all((row.get(column) or PURGED) == PURGED for column in words)


def _is_signed(seal: Seal, against: Seal | None) -> None:
    if against is not None and seal.number == against.number and seal.hash != against.hash:
        raise Damage("checkpoint", seal.number, f"the seals up to {seal.number} are not those that were signed")
