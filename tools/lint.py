"""House lints: rules of this house that no general tool knows. Exits 1 with ``file:line: rule`` for each breach.

They read what is shipped: the packages `substrate`, `orchestration` and `api`. Tests, demo, benchmarks and tools are
not read; they may look at the database in their own words.

- ``environment``: only ``substrate/settings.py`` reads the environment; a setting read elsewhere is one that
  ``Settings`` does not show and tests do not see.
- ``sql``: SQL lives in ``substrate/sql/*.sql`` and ``migrations``; a statement spelled in Python escapes the axis
  modules. Seen are string literals, and the literal beginnings of f-strings, that open as a statement over tables
  (``select … from``, ``with … as (``, ``insert``, ``update``, ``delete``, ``copy``), outside the modules of
  `SQL_WRITERS`. Not seen are strings put together from pieces, and statements over no table, such as ``set``.
  Escape with ``# lint: sql <reason>`` on the line.
- ``axis``: record and valid time are compared in the axis modules alone, in ``.sql`` files through their marks; a
  forgotten half of the predicate leaks rows and nothing fails. ``-- lint: axis`` with a reason in a query's comment
  excuses it. In Python, ordering or arithmetic on the columns of either clock (`CLOCKS`, as attribute, subscript or
  name) belongs to `PERIOD_MODULES`; escape with ``# lint: axis <reason>`` on the line.
- ``size``: a function of more than 60 lines, a module of more than 500.
- ``asset``: a Dagster asset or check body of more than 15 statements.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("substrate", "orchestration", "api")
ENVIRONMENT_READER = "substrate/settings.py"
SQL_WRITERS = {
    "substrate/migrate.py",
    "substrate/db.py",
    "substrate/ledger/_rows.py",
    "substrate/axes/valid_time.py",
    "substrate/axes/transaction_time.py",
}
_STATEMENT = re.compile(
    r"^\s*(select\s.+\sfrom\s|with\s+(recursive\s+)?\w+\s+as\s+((not\s+)?materialized\s+)?\(|insert\s+into\s"
    r"|update\s+\w+\s+set\s|delete\s+from\s|copy\s+\w+.*(from|to)\s+std)",
    re.I | re.S,
)
_CLOCK = r"\b(\w+\.)?(invalidated_seq|recorded_seq|holds_from|holds_to)"
_AXIS = re.compile(rf"{_CLOCK}\s*(<=|>=|<(?!>)|>)|(<=|>=|(?<!<)>|<)\s*{_CLOCK}", re.I)
CLOCKS = {
    "recorded_seq", "invalidated_seq", "valid_from", "valid_to", "holds_from", "holds_to", "stated_from", "stated_to",
    "attested_from", "attested_to",
}  # fmt: skip
PERIOD_MODULES = {
    "substrate/axes/valid_time.py",
    "substrate/axes/transaction_time.py",
    "substrate/ledger/timelines.py",
    "substrate/ledger/periods.py",
    "substrate/ledger/outranking.py",
    "substrate/ledger/conflict_rules.py",
    "substrate/ledger/spans.py",
    "substrate/extraction/builtin/intervals.py",
}
_ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
MAX_FUNCTION, MAX_MODULE, MAX_ASSET = 60, 500, 15
Breach = tuple[str, int, str]


def main() -> int:
    breaches = [b for path in sources() for b in check_python(path.relative_to(ROOT).as_posix(), path.read_text())]
    for path in sorted((ROOT / "substrate" / "sql").glob("*.sql")):
        breaches += check_sql(path.relative_to(ROOT).as_posix(), path.read_text())
    for where, line, what in breaches:
        print(f"{where}:{line}: {what}")
    return 1 if breaches else 0


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def check_python(where: str, text: str) -> list[Breach]:
    """Every breach in one module."""
    lines = text.splitlines()
    found: list[Breach] = []
    if len(lines) > MAX_MODULE:
        found.append((where, len(lines), f"size: {len(lines)} lines, at most {MAX_MODULE}"))
    for node in ast.walk(ast.parse(text)):
        found += [(where, line, what) for line, what in _node(where, node, lines)]
    return found


def _node(where: str, node: ast.AST, lines: list[str]) -> Iterator[tuple[int, str]]:
    if where != ENVIRONMENT_READER and _reads_environment(node):
        yield node.lineno, "environment: only substrate/settings.py reads the environment"  # type: ignore[attr-defined]
    if where not in SQL_WRITERS and _is_sql(node) and "# lint: sql" not in lines[node.lineno - 1]:  # type: ignore[attr-defined]
        yield node.lineno, "sql: statements live in substrate/sql"  # type: ignore[attr-defined]
    if where not in PERIOD_MODULES and _weighs_time(node) and "# lint: axis" not in lines[node.lineno - 1]:  # type: ignore[attr-defined]
        yield node.lineno, "axis: order and count time in the modules of periods"  # type: ignore[attr-defined]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        size = (node.end_lineno or node.lineno) - node.lineno + 1
        if size > MAX_FUNCTION:
            yield node.lineno, f"size: {node.name} has {size} lines, at most {MAX_FUNCTION}"
        if _is_asset(node) and (count := _statements(node)) > MAX_ASSET:
            yield node.lineno, f"asset: {node.name} has {count} statements, at most {MAX_ASSET}"


def _reads_environment(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb") and _is_os(node.value)


def _is_sql(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_STATEMENT.match(node.value))


def _weighs_time(node: ast.AST) -> bool:
    """Does it order, add to or take from a column of one of the clocks?"""
    if isinstance(node, ast.Compare) and any(isinstance(op, _ORDERING) for op in node.ops):
        return any(map(_is_clock, (node.left, *node.comparators)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _is_clock(node.left) or _is_clock(node.right)
    return False


def _is_clock(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value in CLOCKS
    named = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
    return named in CLOCKS


def _is_os(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "os"


def _is_asset(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(re.search(r"\basset(_check)?\b", ast.unparse(d).split("(")[0]) for d in node.decorator_list)


def _statements(node: ast.AST) -> int:
    return sum(isinstance(n, ast.stmt) for n in ast.walk(node)) - 1


def check_sql(where: str, text: str) -> list[Breach]:
    """Comparisons of record or valid time outside the marks, in queries whose comment does not say why."""
    found: list[Breach] = []
    excused = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("-- name:"):
            excused = False
        excused = excused or "-- lint: axis" in line
        if _AXIS.search(line.split("--")[0]) and not excused:
            found.append((where, number, "axis: compare time through [[held]], [[recorded]] or [[holds]]"))
    return found


if __name__ == "__main__":
    sys.exit(main())
