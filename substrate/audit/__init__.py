"""What happened beside the ledger's chain, sealed in batches: what was served to whom, and what extractors read."""

from substrate.audit.proofs import check_proof, prove
from substrate.audit.seals import LATE_S, Seal, Waiting, newest, seal_base, seal_bases, unsealed_bases, waiting
from substrate.audit.verify import SealReport, verify_seals

__all__ = [
    "LATE_S",
    "Seal",
    "SealReport",
    "Waiting",
    "check_proof",
    "newest",
    "prove",
    "seal_base",
    "seal_bases",
    "unsealed_bases",
    "verify_seals",
    "waiting",
]
