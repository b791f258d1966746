"""The one write door. Every change of what the base holds goes through `open_door` and a verb of this package."""

from substrate.ledger.door import Door, open_door

__all__ = ["Door", "open_door"]
