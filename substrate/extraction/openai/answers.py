"""What a chat endpoint answered, whatever shape it gave it: text, whether it was cut, and what it cost."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

from substrate.extraction.openai.replies import read_reply

EMPTY = "the reply is empty"
_NAMES = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))


@dataclass(frozen=True, slots=True)
class Answer:
    """``refusal`` is why there is no text; ``usage`` is 0 for what the server does not count."""

    text: str
    cut: bool
    refusal: str
    usage: dict[str, int]
    broken: bool = False
    """The stream ended without its last word: another try may bring it whole."""
    reason: str = ""
    """The server's ``finish_reason``; empty if it gave none."""

    @property
    def readable(self) -> bool:
        """Whether there is anything in it that another try would not bring better."""
        if not self.text.strip():
            # A limit or a filter says why there is nothing, and would say it again.
            return self.reason not in ("", "stop") or not self.refusal.startswith(EMPTY)
        return self.cut or read_reply(self.text).found


def read_answer(answer: Any) -> Answer | None:
    """The answer of a decoded body, or of an event stream that nobody asked for; None if it is neither."""
    if isinstance(answer, str):
        return _streamed(answer)
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    message = message if isinstance(message, dict) else {}
    reason, refused = (str(said or "") for said in (choices[0].get("finish_reason"), message.get("refusal")))
    return _answer(_joined(message.get("content")), reason, refused, answer.get("usage"))


def _answer(text: str, reason: str, refused: str, usage: Any) -> Answer:
    if not text.strip() and not refused:
        refused = f"{EMPTY} (finish_reason {reason or 'none'})"
    return Answer(text, reason == "length", "" if text.strip() else refused, _counts(usage), reason=reason)


def _counts(usage: Any) -> dict[str, int]:
    """Tokens by kind. Servers name them as either of OpenAI's interfaces does, or give a total alone."""
    prompt, completion = (max(_count(usage, name) for name in names) for names in _NAMES)
    total = _count(usage, "total_tokens")
    if total > prompt + completion and not (prompt and completion):
        prompt, completion = (prompt, total - prompt) if prompt else (total - completion, completion)
    return {"prompt_tokens": prompt, "completion_tokens": completion}


def _joined(content: Any) -> str:
    """Some servers give the content in parts."""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else None for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _count(usage: Any, kind: str) -> int:
    found = usage.get(kind) if isinstance(usage, dict) else None
    # The table's column is 32 bits wide, and servers have been seen to count in floats.
    return min(max(int(found), 0), 2**31 - 1) if isinstance(found, int | float) and math.isfinite(found) else 0


def _streamed(body: str) -> Answer | None:
    """Server-sent events; a stream that ends without its last word was cut."""
    lines = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
    if not lines:
        return None
    texts: list[str] = []
    reason, usage = "", None
    for line in lines:
        event = _event(line)
        usage = event.get("usage") or usage
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        delta = choice.get("delta")
        texts.append(_joined(delta.get("content") if isinstance(delta, dict) else None))
        reason = choice.get("finish_reason") or reason
    if reason or lines[-1] == "[DONE]":
        return _answer("".join(texts), reason, "", usage)
    return replace(_answer("".join(texts), "length", "", usage), broken=True)


def _event(line: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
