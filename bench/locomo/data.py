"""LoCoMo's conversations as documents: a session is a text file, a turn one line ``speaker (date): text``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
FILE = "locomo-1-5.json"


@dataclass(frozen=True)
class Question:
    """A question with the turns that answer it as (session from 1, turn from 0); (-1, -1) is one that is not there."""

    text: str
    category: int
    evidence: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Conversation:
    """Sessions by number, each a list of turns as they are indexed, and the questions."""

    name: str
    sessions: dict[int, list[str]]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> list[tuple[int, int]]:
        return [(number, at) for number, turns in self.sessions.items() for at in range(len(turns))]

    def text(self, turn: tuple[int, int]) -> str:
        return self.sessions[turn[0]][turn[1]]

    def filename(self, number: int) -> str:
        return f"session {number:02}.txt"


def load(folder: Path) -> list[Conversation]:
    """Raises FileNotFoundError where the folder does not hold the data."""
    path = folder / FILE if folder.is_dir() else folder
    return [_conversation(raw) for raw in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(raw: dict[str, Any]) -> Conversation:
    told = raw["conversation"]
    numbers = sorted(int(m[1]) for key in told if (m := re.fullmatch(r"session_(\d+)", key)))
    sessions, place = {}, {}
    for number in numbers:
        day = told[f"session_{number}_date_time"].split(" on ")[1]
        turns = told[f"session_{number}"]
        sessions[number] = [f"{t['speaker']} ({day}): {' '.join(t['text'].split())}" for t in turns]
        place.update({turn["dia_id"]: (number, at) for at, turn in enumerate(turns)})
    return Conversation(str(raw["sample_id"]), sessions, tuple(_questions(raw["qa"], place)))


def _questions(listed: list[dict[str, Any]], place: dict[str, tuple[int, int]]) -> Iterator[Question]:
    for asked in listed:
        if asked["category"] in CATEGORIES and asked.get("evidence"):
            named = [
                re.sub(r":0+", ":", turn) for words in asked["evidence"] for turn in re.findall(r"D\d+:\d+", words)
            ]
            evidence = tuple(sorted({place.get(turn, (-1, -1)) for turn in named}))
            yield Question(asked["question"], asked["category"], evidence)
