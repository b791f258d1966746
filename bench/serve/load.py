"""Requests at their intended instants, whatever becomes of those before: ``python -m bench.serve.load``, a process of
its own. Reads what to send as JSON from standard input; writes ``[[status, seconds], ...]`` to standard output.

A request is timed from the instant that it was meant to be sent at, so that a server which stalls is charged for all
who had to wait meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from typing import Any

import httpx

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


async def run(plan: dict[str, Any]) -> list[tuple[int, float]]:
    """One list of (status, seconds); status 0 is a request that failed on the wire, 1 an answer that is an error."""
    loop, rng = asyncio.get_running_loop(), random.Random(plan["seed"])
    headers = {**HEADERS, "Authorization": f"Bearer {plan['token']}"}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=200)
    async with httpx.AsyncClient(headers=headers, timeout=60, limits=limits) as client:

        async def one(at: float, body: dict[str, Any]) -> tuple[int, float]:
            await asyncio.sleep(max(at - loop.time(), 0))
            try:
                answer = await client.post(plan["url"], json=body)
                told = answer.json()
                fine = answer.status_code == 200 and "error" not in told and not told["result"].get("isError")
                status = 200 if fine else (answer.status_code if answer.status_code != 200 else 1)
            except (httpx.HTTPError, ValueError):
                status = 0
            return status, loop.time() - at

        begin = loop.time() + 0.5
        count = int(plan["rps"] * plan["seconds"])
        meant = [(begin + n / plan["rps"], asked(rng, n, plan)) for n in range(count)]
        return list(await asyncio.gather(*(one(at, body) for at, body in meant)))


def asked(rng: random.Random, number: int, plan: dict[str, Any]) -> dict[str, Any]:
    """Of ten calls four ask for facts now and two for facts of a past moment, two search, one finds, one looks back."""
    name, kind = rng.choice(plan["names"]), number % 10
    if kind < 4:
        tool, arguments = "entity_facts", {"entity_id": name}
    elif kind < 6:
        moment = {"at": f"20{rng.randrange(15, 25)}-06", "as_of": f"seq:{plan['seq']}"}
        tool, arguments = "entity_facts", {"entity_id": name, **moment}
    elif kind < 8:
        tool, arguments = "search_chunks", {"query": f"{rng.choice(plan['queries'])} {rng.randrange(2, 90)}"}
    elif kind == 8:
        tool, arguments = "find_entities", {"name": name.split()[0]}
    else:
        tool, arguments = "timeline", {"entity": name}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


if __name__ == "__main__":
    json.dump(asyncio.run(run(json.load(sys.stdin))), sys.stdout)
