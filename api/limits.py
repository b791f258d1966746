"""How often one may call: per token, and per address for who shows no valid one.

The count is kept in the database, so that it holds over all processes that serve together. A process takes a few calls
at once and spends them by itself, more the quicker they go, and gives back what is left after a second: the limit is
exact over all processes, and a busy caller costs the database a statement for dozens of calls.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

from substrate import sql
from substrate.access.token_shape import digest
from substrate.db import NO_BASE, Database
from substrate.errors import TooManyCalls
from substrate.settings import Settings

LEASE_S = 1.0
"""How long what was taken may be spent."""
MOST_LEASED = 50
_KEPT = 10_000
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many calls in a minute, a sixth of them at once, and so many in a day, UTC; 0 is no limit."""

    per_minute: int
    per_day: int

    @property
    def burst(self) -> int:
        return max(self.per_minute // 6, 1)

    @property
    def none(self) -> bool:
        """Nothing is limited."""
        return not self.per_minute and not self.per_day


@dataclass(slots=True)
class _Lease:
    left: int = 0
    size: int = 0
    at: float = -math.inf
    refused_until: float = -math.inf
    ready_at: float = -math.inf


class Limits:
    """Judges each call; its methods may be called from any thread."""

    def __init__(self, db: Database, settings: Settings) -> None:
        self._db = db
        self._known = Allowance(settings.calls_per_minute, settings.calls_per_day)
        self._unknown = Allowance(settings.anonymous_calls_per_minute, settings.anonymous_calls_per_day)
        self._provision = Allowance(settings.provisions_per_minute, settings.provisions_per_day)
        self._lock = threading.Lock()
        self._leases: OrderedDict[str, _Lease] = OrderedDict()

    def token_calls(self, presented: str) -> None:
        """A token that was found valid calls. Raises `TooManyCalls`."""
        self._take(f"token:{digest(presented)[:16].hex()}", self._known)

    def address_calls(self, address: str | None) -> None:
        """Somebody without a valid token calls from `address`. Raises `TooManyCalls`."""
        self._take(f"address:{network_of(address)}", self._unknown)

    def provisions(self, address: str | None) -> None:
        """Somebody at `address` asks for a token of their own. Raises `TooManyCalls`."""
        self._take(f"provision:{network_of(address)}", self._provision)

    def _take(self, bucket: str, allowance: Allowance) -> None:
        if allowance.none:
            return
        now = time.monotonic()
        with self._lock:
            lease = self._lease(bucket)
            if lease.refused_until > now:
                raise refusal(allowance, lease.ready_at - now)
            if lease.left > 0 and now - lease.at < LEASE_S:
                lease.left -= 1
                return
            back, lease.left = lease.left, 0
            lease.size = _next_size(lease, allowance, now)
            wanted = lease.size
        granted, wait_s = self._ask(bucket, allowance, wanted, back)
        with self._lock:
            if granted:
                lease.left, lease.at = lease.left + granted - 1, now
                return
            lease.ready_at, lease.refused_until = now + wait_s, now + min(wait_s, LEASE_S)
        raise refusal(allowance, wait_s)

    def _lease(self, bucket: str) -> _Lease:
        lease = self._leases.setdefault(bucket, _Lease())
        self._leases.move_to_end(bucket)
        if len(self._leases) > _KEPT:
            self._leases.popitem(last=False)
        return lease

    def _ask(self, bucket: str, allowance: Allowance, wanted: int, back: int) -> tuple[int, float]:
        bound = {
            "bucket": bucket,
            "per_second": allowance.per_minute / 60 if allowance.per_minute else None,
            "burst": allowance.burst if allowance.per_minute else None,
            "daily": allowance.per_day or None,
            "wanted": wanted,
            "back": back,
        }
        with self._db.write(NO_BASE) as conn:
            row = conn.execute(sql.query("limits_take"), bound).fetchone()
        assert row is not None  # noqa: S101 - the function returns one row
        return row["granted"], row["wait_s"]


def _next_size(lease: _Lease, allowance: Allowance, now: float) -> int:
    """Twice what was spent within its time, else one: who calls seldom keeps nothing from other processes."""
    if now - lease.at >= LEASE_S:
        return 1
    limits = [MOST_LEASED]
    if allowance.per_minute:
        limits.append(allowance.burst // 8)
    if allowance.per_day:
        limits.append(allowance.per_day // 100)
    return max(min(lease.size * 2, *limits), 1)


def refusal(allowance: Allowance, wait_s: float) -> TooManyCalls:
    """What a caller above the limit is told."""
    by_day = bool(allowance.per_day) and (not allowance.per_minute or wait_s > 60)
    most, window = (allowance.per_day, _DAY_S) if by_day else (allowance.per_minute, 60)
    seconds = max(math.ceil(wait_s), 1)
    said = f"at most {most} calls in {'a day' if by_day else 'a minute'} are allowed; again in {seconds} s"
    return TooManyCalls(said, wait_s=wait_s, most=most, window_s=window)


def network_of(address: str | None) -> str:
    """An address as it is counted: IPv6 by its /64, which one customer holds; what is no address counts as one."""
    try:
        parsed = ip_address((address or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ip_network((parsed, 64), strict=False))
    return str(parsed)
