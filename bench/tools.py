"""``make bench-tools``: how much of a conversation the list of tools takes; last line ``tools: tokens=``.

No tokenizer of a language model comes with this product, so that tokens are characters of the compact JSON divided by
four, which is what the makers of such models tell people to reckon with; the limit is 5,000.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from rich.console import Console

from api.mcp.endpoint import listed
from api.mcp.schemas import TOOLS, ToolSpec
from bench.database import ROOT, commit

LIMIT = 5_000


def main() -> int:
    """Prints the whole, and writes what each tool takes."""
    sizes = {tool.name: _characters([tool]) for tool in TOOLS}
    whole, reading = _characters(TOOLS), _characters([t for t in TOOLS if not t.writes])
    line = f"tools: tokens={whole // 4} characters={whole} tools={len(TOOLS)}"
    rows = "\n".join(f"| {name} | {size} | {size // 4} |" for name, size in sizes.items())
    (ROOT / "bench" / "results" / "tools.md").write_text(
        f"""# bench-tools

- Commit: {commit()}
- What is counted: the answer to tools/list for a token that writes, as compact JSON
- Tokens: characters divided by four; no tokenizer was used
- For a token that only reads: {reading // 4} tokens, {reading} characters
- Limit: {LIMIT} tokens

| tool | characters | tokens |
|---|---|---|
{rows}

```
{line}
```
""",
        encoding="utf-8",
    )
    Console().print(line, highlight=False, soft_wrap=True)
    return 0 if whole // 4 <= LIMIT else 1


def _characters(tools: Iterable[ToolSpec]) -> int:
    shown = [listed(t).model_dump(by_alias=True, exclude_none=True, mode="json") for t in tools]
    return len(json.dumps({"tools": shown}, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    sys.exit(main())
