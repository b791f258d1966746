"""The chain and the seals of a base verified together, whole or from the last signed checkpoint on.

A trusted start needs a ground: what a checkpoint signed. What came before it was verified when it was signed, is
covered by the signature, and is walked again each night.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from substrate import sql
from substrate.audit.seals import LATE_S, Seal
from substrate.audit.verify import SealReport, verify_seals
from substrate.db import AnyConnection
from substrate.ledger.chain import DamageKind
from substrate.ledger.checkpoints import Checkpoint, latest_checkpoint, load_key
from substrate.ledger.verify import VerifyReport, verify
from substrate.settings import Settings


@dataclass(frozen=True, slots=True)
class Verified:
    """Both reports. What is said of the first damage is said of the chain's, if it has any."""

    ledger: VerifyReport
    seals: SealReport

    @property
    def ok(self) -> bool:
        return self.ledger.ok and self.seals.ok

    @property
    def exit_code(self) -> int:
        return self.ledger.exit_code or self.seals.exit_code

    @property
    def damage(self) -> DamageKind | None:
        return self.ledger.damage or self.seals.damage

    @property
    def problem(self) -> str:
        return self.ledger.problem or self.seals.problem


def verify_base(
    connection: AnyConnection,
    kb_id: UUID,
    *,
    since: int = 0,
    against: Checkpoint | None = None,
    max_age: timedelta | None = None,
    late_s: float = LATE_S,
) -> Verified:
    """`verify` and `verify_seals` on one snapshot, against one checkpoint.

    With a `since` the seals are trusted up to the one that the checkpoint names; without a checkpoint none is.
    """
    ledger = verify(connection, kb_id, since=since, against=against, max_age=max_age)
    signed = Seal(against.sealed, against.sealed_hash) if against and against.sealed else None
    trusted = signed.number if signed and since else 0
    return Verified(ledger, verify_seals(connection, kb_id, since=trusted, against=signed, late_s=late_s))


def verify_new(connection: AnyConnection, kb_id: UUID, settings: Settings) -> Verified:
    """What came since the last checkpoint that was signed here, and that it continues it; without one, everything.

    What waits for a seal may wait: that the sealer is behind is an alert of its own, and stops no pipeline.

    A base that has not come as far as its checkpoint is walked whole, and found out.
    """
    last = _last(kb_id, settings)
    head = connection.execute(sql.query("head_of_base"), {"kb_id": kb_id}).fetchone()
    reached = last is not None and head is not None and head["seq"] >= last.seq
    return verify_base(connection, kb_id, since=last.seq if last and reached else 0, against=last, late_s=math.inf)


def verify_signed(connection: AnyConnection, kb_id: UUID, settings: Settings) -> Verified:
    """Everything, from the first transaction and the first seal, against the last checkpoint that was signed here."""
    return verify_base(connection, kb_id, against=_last(kb_id, settings))


def _last(kb_id: UUID, settings: Settings) -> Checkpoint | None:
    key = load_key(settings.checkpoint_key).public_key()
    return latest_checkpoint(settings.checkpoints_dir, kb_id, key)
