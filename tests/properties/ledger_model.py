"""What the ledger should answer, in as few lines as the rules allow: days and months, no batches, no diff.

Everything is computed anew for each question from what was said, so nothing can go stale. A statement's start and end
are buckets: the first day of the unit that was said, and the first day after it. What never ends, ends in the widest.
"""

from dataclasses import replace

from tests.properties.ledger_play import ALWAYS, NEVER, rivals


class Model:
    def __init__(self):
        self.said, self.refused, self.names, self.live = {}, {}, {}, {}

    def tell(self, seq, say=(), drop=(), merge=(), refuse=(), lift=()):
        """Statements by key, documents, pairs (kept, absorbed), triples by refusal on the names they were said with."""
        for pair in merge:
            kept, gone = self.named(pair)
            self.names |= {n: kept for n in (gone, *self.names) if self.names.get(n, n) == gone}
        self.refused = {k: t for k, t in {**self.refused, **dict(refuse)}.items() if k not in lift}
        out, said = {self.named(t) for t in self.refused.values()}, {**self.said, **dict(say)}
        gone = {*dict(refuse).values(), *(t for t in dict(lift).values() if self.named(t) not in out)}
        self.said = {k: s for k, s in said.items() if s.doc not in drop and s.triple not in gone}
        self.live[seq] = [s.of(*self.named(s.triple)) for s in self.said.values() if self.named(s.triple) not in out]

    def named(self, names):
        return tuple(self.names.get(n, n) for n in names)

    def held(self, seq):
        """triple → [from, to) of each stretch"""
        live = self.live[seq]
        counted = [s for s in live if not s.denies and not any(kills(c, s) for c in live if c is not s)]
        counted = [refined(s, [u for u in counted if u.triple == s.triple]) for s in counted]
        return {s.triple: stretches(s.triple, counted) for s in counted}


def kills(c, s):
    """Does `c` take `s` away: by a denial, or by a correction of the same time or of the same thing?"""
    at, by = (s.attested, c.attested) if None not in (s.attested, c.attested) else (0, 0)
    meet = s.opens[0] < c.opens[1] and c.opens[0] < s.opens[1]
    if c.denies:
        return at <= by and s.triple == c.triple and meet
    if not c.corrects or at > by or None in (s.start, c.start) or (s.corrects and at == by):
        return False
    return (not meet and s.ends[1] > c.start) if s.triple == c.triple else meet and rivals(s.triple, c.triple)


def refined(s, own):
    """A month takes the first day said of it, but not across an end."""
    days = [u.start for u in own if u.start is not None and u.unit == "day" and u.start in range(*s.opens)]
    as_it_is = s.unit == "day" or not days or any(s.start < u.ends[1] <= min(days) for u in own)
    return s if as_it_is else replace(s, start=min(days), unit="day")


def ended(old, new):
    """The end that stands: the later of two apart, the finer inside one unit."""
    return new if new[0] >= old[1] or (old[0] < new[1] <= old[1] and new[1] - new[0] < old[1] - old[0]) else old


def place(s):
    """The day, whether it ends (0), starts (1) or is only met there (2), and the day after that."""
    if s.start is not None:
        return s.start, 1, s.opens[1]
    return (s.attested, 2, (s.attested or 0) + 1) if s.end is None else (s.end, 0, None)


def stretches(t, counted):
    """`to` is what a text says, else where a rival or the next stretch begins."""
    own = sorted((s for s in counted if s.triple == t), key=lambda s: (s.unit, s.end or 0, s.end_unit))
    against = [(s, *place(s)) for s in counted if rivals(t, s.triple) and place(s)[0] is not None]
    cuts = [day for _, day, kind, _ in against if kind]
    event, placed = t[1] == "acquired", [(s, *place(s)) for s in own if place(s)[0] is not None and t[1] != "same_as"]
    found = []  # [from, its kind, the day after, end, last day placed]
    for s, day, kind, after in sorted((p for p in placed if p[2] == 1 or not event), key=lambda p: p[1:3]):
        into = [f for f in found if kind or f[0] < day][-1:]
        a, opened, _, end, _ = into[0] if into and kind else (day, kind, None, (-ALWAYS, ALWAYS + 1), day)
        cut = (opened == 2 and kind == 1) or day >= end[1] or (end == NEVER and any(a < c <= day for c in cuts))
        if not into or (day != a if event else cut):
            into = [[day if kind else -ALWAYS, kind, after, NEVER, day]]
            found.insert(len(found) if kind else 0, into[0])
        into[0][3:] = ended(into[0][3], s.ends), max(into[0][4], day) if kind else into[0][4]
    for i, (a, _, after, (first, end), last) in enumerate(found):
        ahead = min([c for c in cuts if c > a] + [f[0] for f in found[i + 1 : i + 2]], default=ALWAYS)
        within = first <= ahead < end and last < ahead and a > -ALWAYS
        before = [next((d for d in (s.end, to) if d is not None and d < end), a) for s, _, _, to in against]
        a = a if a > -ALWAYS else max(before, default=a)
        found[i] = (a, (after if event else ahead) if end == ALWAYS else ahead if within and not event else end)
    return found or ([] if event else [(-ALWAYS, ALWAYS)])
