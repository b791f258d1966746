"""Background processes that are known again: by pid *and* start time, since a pid alone is soon another's.

A record per process lies in a directory. Stopping signals the process group of a process whose identity still
matches, and nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class Process:
    """A process that we started, as the head of a group of its own."""

    name: str
    pid: int
    started: str
    """The kernel's start time with the boot it belongs to; None of them is ever reused together."""
    log: str

    def alive(self) -> bool:
        """Whether exactly this process still runs."""
        return identity(self.pid) == self.started


def identity(pid: int) -> str | None:
    """What tells a process from a later one of the same pid; None when there is none, or only its remains."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return _identity_by_ps(pid) if not Path("/proc/self/stat").exists() else None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else f"{boot}:{fields[19]}"


def _identity_by_ps(pid: int) -> str | None:
    asked = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or None


def start(
    directory: Path, logs: Path, name: str, command: Sequence[str], environment: Mapping[str, str], cwd: Path
) -> Process:
    """Start a process in a session of its own, its output in a log, and write down who it is."""
    logs.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = logs / f"{name}.log"
    with log.open("ab") as out:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=cwd, start_new_session=True
        )
    process = Process(name, child.pid, identity(child.pid) or "gone", str(log))
    child.returncode = 0  # it outlives us and nobody here waits for it, so Popen must not warn of that
    record = directory / f"{name}.process"
    fresh = record.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(process)), encoding="utf-8")
    fresh.replace(record)
    return process


def recorded(directory: Path) -> list[Process]:
    """Processes that were started and not stopped by us, dead or alive, by name."""
    found = []
    for path in sorted(directory.glob("*.process")):
        with suppress(ValueError, TypeError):
            found.append(Process(**json.loads(path.read_text(encoding="utf-8"))))
    return found


def stop(directory: Path, processes: Sequence[Process], *, timeout_s: float = 20.0) -> list[str]:
    """Ask these groups to end, end them if they do not, and forget them. Returns the names of those that ran."""
    running = [p for p in processes if p.alive()]
    for process in running:
        _signal(process, signal.SIGTERM)
    deadline = time.monotonic() + timeout_s
    while any(p.alive() for p in running) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
    for process in running:
        # What the head left behind in its group (a run's own process) must not outlive it.
        with suppress(ProcessLookupError, PermissionError):
            if process.alive() or _group_has_members(process):
                os.killpg(process.pid, signal.SIGKILL)
    for process in processes:
        (directory / f"{process.name}.process").unlink(missing_ok=True)
    return [p.name for p in running]


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _group_has_members(process: Process) -> bool:
    """While a member lives the kernel gives the group's number to nobody else, so that it is still ours."""
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def tail(log: str, lines: int = 15) -> str:
    """The end of a log."""
    with suppress(OSError):
        return "\n".join(Path(log).read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    return ""
