"""The annotated sentences as records; a slip in a file raises ValueError naming its item."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.claims.relations import RELATIONS

HERE = Path(__file__).resolve().parent
PARTS = ("open", "held")
KINDS = ("minutes", "email", "contract", "press", "hr", "ticket", "finance", "wiki", "sales", "product")
MODES = ("hedged", "negated", "planned", "conditional", "rumour", "question")


@dataclass(frozen=True)
class Wanted:
    """An entry of gold or also; each end and the relation in every wording that is equally good.

    ``start`` and ``end`` are ISO dates of any precision, "" where none is stated; ``end`` may be ``past``.
    """

    subjects: tuple[str, ...]
    relations: tuple[str, ...]
    objects: tuple[str, ...]
    start: str = ""
    end: str = ""


@dataclass(frozen=True)
class Item:
    key: str
    kind: str
    date: dt.date
    text: str
    gold: tuple[Wanted, ...] = ()
    also: tuple[Wanted, ...] = ()


@dataclass(frozen=True)
class Pair:
    """``modal`` says as no statement what ``plain`` states."""

    mode: str
    modal: Item
    plain: Item


@dataclass(frozen=True)
class Part:
    items: tuple[Item, ...]
    pairs: tuple[Pair, ...]


def load(name: str) -> Part:
    """`name` is one of `PARTS`. Raises ValueError where the file is not as its header says."""
    raw = yaml.load((HERE / f"{name}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    keys = [row["id"] for row in (*raw["items"], *raw["pairs"])]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise ValueError(f"{name}.yaml: twice: {sorted(twice)}")
    return Part(tuple(_item(row) for row in raw["items"]), tuple(_pair(row) for row in raw["pairs"]))


def _item(row: Mapping[str, Any], field: str = "text", *, wants: bool = True) -> Item:
    key = row["id"]
    if row["kind"] not in KINDS or not isinstance(row["date"], dt.date) or not str(row[field]).strip():
        raise ValueError(f"{key}: kind, date or {field} is not as it should be")
    gold, also = (_all_wanted(key, row.get(name) or ()) if wants else () for name in ("gold", "also"))
    return Item(key, row["kind"], row["date"], row[field].strip() + "\n", gold, also)


def _pair(row: Mapping[str, Any]) -> Pair:
    if row["mode"] not in MODES or not row["gold"]:
        raise ValueError(f"{row['id']}: no such mode, or no gold for the twin")
    return Pair(row["mode"], _item(row, "modal", wants=False), _item(row, "plain"))


def _all_wanted(key: str, entries: Sequence[object]) -> tuple[Wanted, ...]:
    return tuple(_wanted(key, str(entry)) for entry in entries)


def _wanted(key: str, entry: str) -> Wanted:
    parts = [part.strip() for part in entry.split(" | ")]
    if len(parts) not in (3, 4) or not all(parts):
        raise ValueError(f"{key}: not subject | relation | object: {entry}")
    subjects, relations, objects = (tuple(part.split(" / ")) for part in parts[:3])
    unknown = set(relations) - {*RELATIONS, "any"}
    times = dict(time.split("=", 1) for time in parts[3].split()) if len(parts) == 4 else {}
    if unknown or set(times) - {"from", "to"}:
        raise ValueError(f"{key}: no such relation or time: {entry}")
    return Wanted(subjects, relations, objects, times.get("from", ""), times.get("to", ""))
