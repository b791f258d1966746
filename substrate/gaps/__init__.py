"""Gaps: questions that found nothing, kept and counted without secrets, until a document answers them."""

from substrate.gaps.closing import close_answered
from substrate.gaps.keeping import VIAS, Kept, Via, dismiss, keep, reopen
from substrate.gaps.redaction import redacted

__all__ = ["VIAS", "Kept", "Via", "close_answered", "dismiss", "keep", "redacted", "reopen"]
