"""What the ledger should answer, in as few lines as the rules allow: whole days, no precision, no batches, no diff.

Everything is computed anew for each question from the list of what was said, so nothing can go stale.
"""

from tests.properties.ledger_play import UNIQUE

ALWAYS = 9999


class Model:
    def __init__(self):
        self.log = []  # (seq, "say" | "drop" | "merge" | "refuse", what)

    def canonical(self, seq):
        to = {}
        for pair in (x for s, what, x in self.log if what == "merge" and s <= seq):
            kept, gone = (to.get(n, n) for n in pair)
            to = {n: kept if c == gone else c for n, c in to.items()} | {gone: kept}
        return to

    def live(self, seq):
        """(triple, statement) on canonical names; what is refused is judged as each number passes."""
        said, refused, to = {}, [], {}
        for s, what, x in (e for e in self.log if e[0] <= seq):
            to = self.canonical(s)
            said, refused = said | (x if what == "say" else {}), refused + [x] * (what == "refuse")
            out, gone = {_of(t, to) for t in refused}, x if what == "drop" else ()
            said = {k: v for k, v in said.items() if _of(v.triple, to) not in out and v.doc not in gone}
        return [(_of(v.triple, to), v) for v in said.values()]

    def held(self, seq):
        """triple → [from, to) of each stretch"""
        live = self.live(seq)
        counted = [
            (t, s) for t, s in live if not s.denies and not any(kills(t, s, u, c) for u, c in live if c is not s)
        ]
        return {t: stretches(t, counted) for t, _ in counted}


def _of(triple, to):
    return tuple(to.get(x, x) for x in triple)


def rivals(t, u):
    shared = (t[i] == u[i] for unique, i in zip(UNIQUE.get(t[1], (False, False)), (0, 2), strict=True) if unique)
    return t != u and t[1] == u[1] and any(shared)


def kills(t, s, u, c):
    """Does `c`, said of `u`, take `s`, said of `t`, away: by a denial, or by a correction of the same day or thing?"""
    at, by = (s.attested, c.attested) if None not in (s.attested, c.attested) else (0, 0)
    if c.denies:
        return at <= by and t == u and (None in (c.start, s.start) or c.start == s.start)
    if not c.corrects or at > by or None in (c.start, s.start) or (s.corrects and at == by):
        return False
    return (s.start != c.start and (s.end or ALWAYS) > c.start) if t == u else rivals(t, u) and s.start == c.start


def opening(s):
    return s.start if s.start is not None or s.end is not None else s.attested


def held_until(s, before):
    """The last day before `before` that a rival's statement takes, and one more."""
    if s.end is not None and s.end < before:
        return s.end
    start = opening(s)
    return start + 1 if start is not None and start + 1 < before else -ALWAYS


def stretches(t, counted):
    """`to` is what a text says, else where a rival or the next stretch begins."""
    own = [s for u, s in counted if u == t]
    cuts = sorted({opening(s) for u, s in counted if rivals(t, u)} - {None})
    if t[1] == "acquired":
        return [(s.start, max(s.end or 0, s.start + 1)) for s in own if s.start is not None]  # a union, so no folding
    found = []  # [from, stated end or ALWAYS, soft, last day placed]
    placed = [(s.end, 0, s) if opening(s) is None else (opening(s), 2 - (s.start is not None), s) for s in own]
    for day, kind, s in sorted((p for p in placed if p[0] is not None and t[1] != "same_as"), key=lambda p: p[:2]):
        cut = found and found[-1][1] == ALWAYS and any(found[-1][0] < c <= day for c in cuts)
        new = kind and found and ((found[-1][2] and kind == 1) or day >= found[-1][1] or cut)
        into = [f for f in found if kind or f[0] < day][-1:] * (not new)
        if not into:
            into = [[day if kind else -ALWAYS, ALWAYS, kind == 2, day]]
            found.insert(len(found) if kind else 0, into[0])
        f = into[-1]
        f[3] = max(f[3], day) if kind else f[3]
        f[1] = s.end if s.end is not None and (f[1] == ALWAYS or s.end > f[1]) else f[1]
    for i, (a, b, _, last) in enumerate(found):
        ahead = min([c for c in cuts if c > a > -ALWAYS] + [f[0] for f in found[i + 1 : i + 2]], default=ALWAYS)
        found[i] = (a, ahead if b == ALWAYS or (ahead == b - 1 and last < ahead and a > -ALWAYS) else b)
    if found and found[0][0] == -ALWAYS and found[0][1] != ALWAYS:
        before = [held_until(s, found[0][1]) for u, s in counted if rivals(t, u)]
        found[0] = (max(before, default=-ALWAYS), found[0][1])
    return found or [(-ALWAYS, ALWAYS)]
