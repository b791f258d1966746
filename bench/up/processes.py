"""The processes of one data directory, and what they hold and spend, from /proc."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def mine(data_dir: Path) -> dict[int, str]:
    """pid → name of every process that serves `data_dir`: told so by its environment, or a descendant of one."""
    marks, parents, names = {}, {}, {}
    wanted = f"TWOCLOCKS_DATA_DIR={data_dir}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            pid = int(entry.name)
            stat = (entry / "stat").read_text()
            parents[pid] = int(stat.rsplit(")", 1)[1].split()[1])
            names[pid] = _name((entry / "cmdline").read_bytes())
            cwd = os.readlink(entry / "cwd")
            marks[pid] = wanted in (entry / "environ").read_bytes().split(b"\0") or cwd.startswith(str(data_dir))
        except (OSError, ValueError):
            continue
    return {pid: names[pid] for pid in names if _belongs(pid, marks, parents)}


def _belongs(pid: int, marks: dict[int, bool], parents: dict[int, int]) -> bool:
    while pid > 1:
        if marks.get(pid):
            return True
        pid = parents.get(pid, 0)
    return False


def _name(command: bytes) -> str:
    words = [w.decode(errors="replace") for w in command.split(b"\0") if w]
    text = " ".join(words)
    known = {
        "documents.parsing": "parser",
        "multiprocessing.spawn": "run",
        "execute_run": "run",
        "api.serve": "api",
        "dagster_webserver": "dagster-ui",
        "_daemon": "dagster-daemon",
        "code-server": "dagster-code",
        "api grpc": "dagster-code",
        "postgres": "postgres",
        "-m demo": "demo",
        "twoclocks": "command line",
    }
    return next((name for mark, name in known.items() if mark in text), Path(words[0]).name if words else "?")


def pss_mb(pid: int) -> float:
    """Proportional set size in MB; 0 for a process that is gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def cpu_seconds(data_dir: Path) -> float:
    """Processor time of everything that serves `data_dir`, exited children included where their parent lives."""
    total = 0
    for pid in mine(data_dir):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += sum(int(f) for f in fields[11:15])
        except OSError:
            continue
    return total / TICK


class Sampler(threading.Thread):
    """Sums PSS each second and keeps the highest sum with its parts. The bench's own process does not count."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(daemon=True)
        self.data_dir = data_dir
        self.stopping = threading.Event()
        self.peak_mb, self.samples = 0.0, 0
        self.peak_parts: dict[str, float] = {}

    def run(self) -> None:
        while not self.stopping.wait(1.0):
            parts: dict[str, float] = defaultdict(float)
            for pid, name in mine(self.data_dir).items():
                if pid != os.getpid():
                    parts[name] += pss_mb(pid)
            self.samples += 1
            if sum(parts.values()) > self.peak_mb:
                self.peak_mb, self.peak_parts = sum(parts.values()), dict(parts)
