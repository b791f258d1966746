"""A chat endpoint in a process of its own that answers after a fixed time and lets so many in at once.

``python -m bench.extraction.server SECONDS AT_ONCE`` prints its port and serves until its input ends. What comes beyond
the bound is refused with 429. ``GET /v1/counts`` tells how many it answered and refused.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from typing import Any

MOST = 6
_SENTENCE = re.compile(r"[^.\n]+\.")


def statements(asked: str) -> list[dict[str, Any]]:
    """A statement for each of the first sentences of the passage: its first words mention its last ones."""
    passage = asked.partition("<passage ")[2].partition(">\n")[2].rpartition("\n</passage")[0]
    found = []
    for quote in (match[0].strip() for match in _SENTENCE.finditer(passage)):
        words = quote.rstrip(".").split()
        if len(words) < 6:
            continue
        item: dict[str, Any] = dict.fromkeys(("subject_kind", "object_kind", "value", "unit", "mood"))
        item |= {"quote": quote, "subject": " ".join(words[:2]), "phrase": "mentions", "object": " ".join(words[-2:])}
        item |= {"times": [], "ended": False, "denies": False, "corrects": False, "qualifiers": []}
        found.append(item)
    return found[:MOST]


def completion(asked: str) -> dict[str, Any]:
    content = json.dumps({"statements": statements(asked)})
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": len(asked) // 4, "completion_tokens": len(content) // 4}
    return {"id": "b", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def serve(seconds: float, at_once: int) -> None:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    counts = {"inside": 0, "answered": 0, "refused": 0}

    async def chat(request: Request) -> JSONResponse:
        body = await request.json()
        if counts["inside"] >= at_once:
            counts["refused"] += 1
            return JSONResponse({"error": {"message": "too many at once"}}, 429, {"Retry-After": "0.1"})
        counts["inside"] += 1
        await asyncio.sleep(seconds)
        answer = completion(body["messages"][1]["content"])
        counts["inside"] -= 1
        counts["answered"] += 1
        return JSONResponse(answer)

    async def told(_: Request) -> JSONResponse:
        return JSONResponse(counts)

    routes = [Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/counts", told)]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=0, log_level="warning"))

    def tell() -> None:
        while not server.started:
            threading.Event().wait(0.02)
        print(server.servers[0].sockets[0].getsockname()[1], flush=True)
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=tell, daemon=True).start()
    server.run()


if __name__ == "__main__":
    serve(float(sys.argv[1]), int(sys.argv[2]))
