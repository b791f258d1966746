"""Who is who: a partition of profiles that is a function of the set of them, whatever order they came in. Pure.

What is sure is joined first, then what is likely, then namesakes that nothing tells apart; within each, the stronger
verdict first, and of two as strong the one whose profiles' digests come first. No join puts two barred profiles into
one cluster. A profile that would go as well with one as with another of two that are barred from one another goes with
neither: it stands alone, and a person is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from substrate.identity.evidence import NOTHING, Profile, Strength, Verdict

Pair = tuple[Profile, Profile]
Judge = Callable[[Profile, Profile], Verdict]
MARGIN = 0.05
"""How much stronger one of two verdicts must be for the other not to matter."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two profiles that nothing decides."""

    pair: Pair
    score: float
    reasons: tuple[str, ...]


@dataclass(slots=True)
class Partition:
    """Clusters, each in the order of digests, and what is in doubt between two of them."""

    clusters: list[tuple[Profile, ...]] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def compared(profiles: Sequence[Profile], across: Collection[str] | None = None) -> Iterable[Pair]:
    """Pairs that share a key, each once; the others are not looked at.

    `across`: digests of some of them, and a pair is of one of these and one of the others.
    """
    by_key: dict[str, list[int]] = defaultdict(list)
    for i, profile in enumerate(profiles):
        for key in profile.keys:
            by_key[key].append(i)
    pairs = {pair for at in by_key.values() if len(at) > 1 for pair in combinations(at, 2)}
    found = ((profiles[i], profiles[j]) for i, j in sorted(pairs))
    return found if across is None else ((a, b) for a, b in found if (a.digest in across) != (b.digest in across))


def partition(profiles: Iterable[Profile], judge: Judge) -> Partition:
    """The clusters of these profiles."""
    ordered = sorted(profiles, key=lambda p: p.digest)
    return _Partitioning(ordered, judge).run()


class _Partitioning:
    def __init__(self, profiles: Sequence[Profile], judge: Judge) -> None:
        self.profiles, self.judge = profiles, judge
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        self.root: dict[str, str] = {p.digest: p.digest for p in profiles}
        self.members: dict[str, list[Profile]] = {p.digest: [p] for p in profiles}
        self.pairs = [(a, b) for a, b in compared(profiles) if self._verdict(a, b) is not NOTHING]
        self.torn: list[Doubt] = []

    def run(self) -> Partition:
        for strength in ("sure", "likely", "plain"):
            self._join(strength)
        clusters = sorted(
            (tuple(sorted(m, key=lambda p: p.digest)) for m in self.members.values()), key=lambda c: c[0].digest
        )
        return Partition(clusters, self._doubts())

    def _verdict(self, one: Profile, other: Profile) -> Verdict:
        key = (one.digest, other.digest) if one.digest < other.digest else (other.digest, one.digest)
        if key not in self.verdicts:
            self.verdicts[key] = self.judge(one, other)
        return self.verdicts[key]

    def _barred(self, one: Iterable[Profile], other: Sequence[Profile], soft: bool) -> bool:
        return any((bar := self._verdict(a, b).bar) == "hard" or (soft and bar) for a in one for b in other)

    def _join(self, strength: Strength) -> None:
        soft = strength == "plain"
        edges = [(a, b) for a, b in self.pairs if self._verdict(a, b).strength == strength]
        edges = [(a, b) for a, b in edges if self.root[a.digest] != self.root[b.digest]]
        edges = self._untorn(edges, soft)
        edges.sort(key=lambda e: (-self._verdict(*e).score, *sorted((e[0].digest, e[1].digest))))
        for a, b in edges:
            one, other = self.root[a.digest], self.root[b.digest]
            if one == other:
                continue
            if not self._barred(self.members[one], self.members[other], soft):
                self._unite(one, other)
            elif not soft:
                self.torn.append(Doubt((a, b), self._verdict(a, b).score / 2, self._verdict(a, b).reasons))

    def _untorn(self, edges: Sequence[Pair], soft: bool) -> list[Pair]:
        """Edges but for those of a cluster that would go as well with either of two barred from one another."""
        reach: dict[str, dict[str, float]] = defaultdict(dict)
        for a, b in edges:
            score = self._verdict(a, b).score
            for x, y in ((a, b), (b, a)):
                mine, theirs = self.root[x.digest], self.root[y.digest]
                reach[mine][theirs] = max(score, reach[mine].get(theirs, 0.0))
        lost = {c: self._rivals(near, soft) for c, near in reach.items()}
        kept = []
        for a, b in edges:
            one, other = self.root[a.digest], self.root[b.digest]
            if other in lost[one] or one in lost[other]:
                reasons = (*self._verdict(a, b).reasons, "several bear the name")
                self.torn.append(Doubt((a, b), 0.5, reasons))
            else:
                kept.append((a, b))
        return kept

    def _rivals(self, near: Mapping[str, float], soft: bool) -> set[str]:
        """Of the clusters one reaches: those barred from another that it reaches about as well or better."""
        rivals = set()
        for x, y in combinations(sorted(near), 2):
            if self._barred(self.members[x], self.members[y], soft):
                if near[x] < near[y] + MARGIN:
                    rivals.add(x)
                if near[y] < near[x] + MARGIN:
                    rivals.add(y)
        return rivals

    def _unite(self, one: str, other: str) -> None:
        keep, gone = sorted((one, other))
        self.members[keep] += self.members.pop(gone)
        for profile in self.members[keep]:
            self.root[profile.digest] = keep

    def _doubts(self) -> list[Doubt]:
        """The strongest doubt between two clusters, where there is one."""
        told = [
            Doubt((a, b), v.score, v.reasons)
            for a, b in self.pairs
            if (v := self._verdict(a, b)).strength == "doubtful"
        ]
        best: dict[tuple[str, str], Doubt] = {}
        for doubt in [*self.torn, *told]:
            a, b = doubt.pair
            one, other = sorted((self.root[a.digest], self.root[b.digest]))
            held = best.get((one, other))
            if one != other and (held is None or _rank(doubt) < _rank(held)):
                best[one, other] = doubt
        return sorted(best.values(), key=_rank)


def _rank(doubt: Doubt) -> tuple[float, str, str]:
    return (-doubt.score, *sorted(p.digest for p in doubt.pair))  # type: ignore[return-value]
