"""What a server takes: the strictest reply format it does not refuse, found once per process."""

from __future__ import annotations

import threading
from typing import Any

from substrate.extraction.openai.prompt import schema

LEVELS = 4
"""A JSON schema, then "a JSON object" with the schema beside it, then "some JSON object", then nothing but the prompt's
own words. The second is how servers over llama.cpp's bindings take a schema."""


class Dialect:
    """Shared by the threads of one extractor. ``settled`` once the server has taken a request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._level = 0
        self._temperature = True
        self._settled = False

    @property
    def settled(self) -> bool:
        return self._settled

    def levels(self) -> range:
        """What to try, strictest first; one level only, once it is known."""
        with self._lock:
            return range(self._level, self._level + 1 if self._settled else LEVELS)

    def settle(self, level: int) -> None:
        """The server took a request of this level."""
        with self._lock:
            if not self._settled:
                self._level, self._settled = level, True

    def forgo_temperature(self, refusal: str) -> bool:
        """Whether the refusal is about the temperature and the request may be sent again without one."""
        with self._lock:
            if "temperature" not in refusal.lower() or not self._temperature:
                return False
            self._temperature = False
            return True

    def options(self, level: int) -> dict[str, Any]:
        """Arguments of a request beside model and messages."""
        options: dict[str, Any] = {"temperature": 0} if self._temperature else {}
        if level == 0:
            named = {"name": "statements", "strict": True, "schema": schema()}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        elif level == 1:
            options["response_format"] = {"type": "json_object", "schema": schema()}
        elif level == 2:
            options["response_format"] = {"type": "json_object"}
        return options
