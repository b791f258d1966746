"""``make bench-tenancy``: every route and tool, asked for what is another base's; last line ``tenancy: calls= leaks=``.

It is the differential test of the suite, run alone: calls come from the application's own description of itself, by
callers of every kind (own base with foreign ids, foreign base, both, revoked while they are served, nobody), and every
answer and header is looked through for the word that only the other base holds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console

from bench.database import ROOT, commit

TEST = "tests/api/test_no_base_answers_for_another.py"
LEAST = 1_000


def main() -> int:
    """Runs the test and writes what it counted."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            TEST,
            "-q",
            "-p",
            "no:cacheprovider",
            "--show-capture=no",
            "-o",
            "junit_family=xunit1",
        ]
        done = subprocess.run([*command, f"--junitxml={report}"], cwd=ROOT)
        counted = {p.get("name"): int(p.get("value") or 0) for p in ElementTree.parse(report).iter("property")}
    calls, leaks = counted.get("calls", 0), counted.get("leaks", -1)
    line = f"tenancy: calls={calls} leaks={leaks}"
    (ROOT / "bench" / "results" / "tenancy.md").write_text(
        f"""# bench-tenancy

- Commit: {commit()}
- Test: `{TEST}`, which {"passed" if done.returncode == 0 else "failed"}
- Target: no leak in at least {LEAST} calls

```
{line}
```
""",
        encoding="utf-8",
    )
    Console().print(line, highlight=False, soft_wrap=True)
    return 0 if done.returncode == 0 and leaks == 0 and calls >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
