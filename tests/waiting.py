"""Waiting for a state: a test asks for what it waits for, and no length of sleep stands for it."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Ask again and again. The deadline is so far off that only what never comes meets it: then `AssertionError`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not so within {seconds:g} s: {condition}"
        time.sleep(0.02)
