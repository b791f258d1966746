"""Forms of charters, letters, tables and minutes, written before the rules for them: how many are read right.

``unseen_english.txt`` and ``unseen_chinese.txt`` hold passages with every claim they make; ``unseen_decoys.txt`` holds
sentences that state nothing, each under a plain twin. Run as a module it prints the two shares and what went wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.claims import Claim, Passage
from tests.substrate.extraction.spelling import ANCHOR, spelled

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Case:
    """A passage, what it must yield and what it may yield; a decoy must yield nothing stated."""

    text: str
    title: str = ""
    expected: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    decoy: bool = False

    @property
    def passage(self) -> Passage:
        return Passage(self.text, title=self.title, document_date=ANCHOR, document_date_precision="day")


@dataclass(slots=True)
class Score:
    """Counts over all cases; ``wrong`` and ``missed`` name each claim with its passage."""

    right: int = 0
    found: int = 0
    expected: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.found

    @property
    def recall(self) -> float:
        return self.right / self.expected


def forms(name: str) -> list[Case]:
    """Cases of one file of passages."""
    cases: list[Case] = []
    title, text, expected, allowed = "", "", [], []
    lines = (_HERE / name).read_text("utf-8").splitlines()
    for line in [*lines, "> "]:
        if line.startswith(("> ", "@ ")):
            if text:
                cases.append(Case(text, title, frozenset(expected), frozenset(allowed)))
                title, text, expected, allowed = "", "", [], []
            if line.startswith("@ "):
                title = line[2:]
            else:
                text = line[2:].replace("\\n", "\n")
        elif line.strip() and not line.startswith("#"):
            (allowed if line.startswith("~ ") else expected).append(_tidy(line.removeprefix("~ ")))
    return cases


def decoys() -> list[tuple[str, Case]]:
    """(plain twin, decoy) pairs."""
    found, plain = [], ""
    for line in (_HERE / "unseen_decoys.txt").read_text("utf-8").splitlines():
        if line.startswith("+ "):
            plain = line[2:]
        elif line.startswith("- "):
            found.append((plain, Case(line[2:], decoy=True)))
    return found


def _tidy(line: str) -> str:
    fields = [f.strip() for f in line.split("|")]
    while not fields[-1]:
        fields.pop()
    return " | ".join(fields)


def score(extractor: BuiltinExtractor, cases: list[Case]) -> Score:
    """What `extractor` makes of `cases`; claims with a mood count only where the case lists them."""
    total = Score()
    for case, extraction in zip(cases, extractor.extract([c.passage for c in cases]), strict=True):
        found = {spelled(c) for c in extraction.claims if _counts(c, case)} - case.allowed
        total.right += len(found & case.expected)
        total.found += len(found)
        total.expected += len(case.expected)
        total.wrong += [f"{case.text!r}: {f}" for f in sorted(found - case.expected)]
        total.missed += [f"{case.text!r}: {f}" for f in sorted(case.expected - found)]
    return total


def _counts(claim: Claim, case: Case) -> bool:
    if case.decoy:
        return claim.mood is None and not claim.denies
    return claim.mood is None or spelled(claim) in case.expected


def everything() -> list[Case]:
    files = ("unseen_english.txt", "unseen_chinese.txt", "unseen_later.txt", "unseen_third.txt", "unseen_fourth.txt")
    return [case for name in files for case in forms(name)] + [c for _, c in decoys()]


if __name__ == "__main__":
    import sys

    from substrate.settings import Settings

    result = score(BuiltinExtractor(Settings()), forms(sys.argv[1]) if sys.argv[1:] else everything())
    lines = [f"precision {result.precision:.3f}  recall {result.recall:.3f}"]
    lines += [f"WRONG  {w}" for w in result.wrong] + [f"MISSED {m}" for m in result.missed]
    sys.stdout.write("\n".join(lines) + "\n")
