"""What `twoclocks up` keeps running: Postgres, the API, Dagster's code server, web server and daemon.

Everything lies below the data directory: process records in ``run``, logs in ``log``, Dagster's home in ``dagster``.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.cli import processes
from api.cli.dagster_home import WORKSPACE, prepare
from api.cli.processes import Process
from substrate import access
from substrate.db import EVERY_BASE, Database
from substrate.errors import Conflict, Unauthenticated, Unavailable
from substrate.settings import Settings, child_environment

_SOURCE = Path(__file__).resolve().parents[2]
_LONGEST_SOCKET = 100
_PAUSE_S = 0.3


@dataclass(frozen=True, slots=True)
class Places:
    """Where the parts lie below one data directory."""

    root: Path

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def logs(self) -> Path:
        return self.root / "log"

    @property
    def home(self) -> Path:
        return self.root / "dagster"

    @property
    def token(self) -> Path:
        return self.run / "client-token"

    @property
    def socket(self) -> Path:
        """The code server's; a path too long for a socket address moves to the directory for temporary files."""
        wanted = self.run / "code.sock"
        if len(str(wanted)) <= _LONGEST_SOCKET:
            return wanted
        name = hashlib.sha256(str(self.root).encode()).hexdigest()[:12]
        directory = Path(tempfile.gettempdir()) / f"twoclocks-{name}"
        directory.mkdir(mode=0o700, exist_ok=True)
        return directory / "code.sock"


def places(settings: Settings) -> Places:
    """The places of these settings, with ``run`` made and closed to others."""
    found = Places(settings.data_dir.resolve())
    found.run.mkdir(parents=True, exist_ok=True)
    found.run.chmod(0o700)
    return found


@contextmanager
def alone(where: Places) -> Iterator[None]:
    """Two who start or stop at once do so one after the other."""
    with (where.run / "services.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True, slots=True)
class Service:
    """A process to run, the port it must find free, and how to tell that it serves."""

    name: str
    command: tuple[str, ...]
    port: int | None
    healthy: Callable[[], bool]


def services(settings: Settings, where: Places) -> list[Service]:
    """All of them, in the order in which they start."""
    python, workspace = sys.executable, str(where.home / WORKSPACE)
    ui = f"http://127.0.0.1:{settings.dagster_port}"
    api = f"http://{_reachable(settings.api_host)}:{settings.api_port}/api/v1/health"
    return [
        Service("api", (python, "-m", "api.serve"), settings.api_port, lambda: _answers(api)),
        Service(
            "dagster-code",
            (python, "-m", "dagster", "api", "grpc", "-m", "orchestration.definitions", "--socket", str(where.socket)),
            None,
            where.socket.exists,
        ),
        Service(
            "dagster-ui",
            (python, "-m", "dagster_webserver", "-w", workspace, "-h", "127.0.0.1", "-p", str(settings.dagster_port)),
            settings.dagster_port,
            lambda: _answers(f"{ui}/server_info"),
        ),
        Service(
            "dagster-daemon",
            (python, "-m", "dagster._daemon", "run", "-w", workspace),
            None,
            lambda: _dagster_is_whole(ui),
        ),
    ]


def start(settings: Settings, where: Places, tell: Callable[[str], None], *, timeout_s: float = 180.0) -> list[str]:
    """Start what does not run yet and wait until all of it is healthy; returns the names of what was started.

    Raises `Conflict` for a port that somebody else holds and `Unavailable`, with the log's end, for what dies or stays
    silent; what this call started is stopped again then.
    """
    running = {p.name: p for p in processes.recorded(where.run) if p.alive()}
    wanted = services(settings, where)
    missing = [s for s in wanted if s.name not in running]
    environment = child_environment(settings, PYTHONPATH=str(_SOURCE), PYTHONUNBUFFERED="1")
    if any(s.name.startswith("dagster") for s in missing):
        tell("Dagster's home")
        environment |= prepare(environment, _SOURCE, where.socket)
    for service in missing:
        _must_be_free(settings, service)
    if "dagster-code" not in running:
        where.socket.unlink(missing_ok=True)
    started: list[Process] = []
    try:
        for service in missing:
            started.append(processes.start(where.run, where.logs, service.name, service.command, environment, _SOURCE))
        everything = {**running, **{p.name: p for p in started}}
        for service in wanted:
            tell(service.name)
            _wait(service, everything[service.name], time.monotonic() + timeout_s)
    except BaseException:
        processes.stop(where.run, started)
        raise
    return [p.name for p in started]


def stop(settings: Settings, where: Places) -> list[str]:
    """Stop what `start` started, and the embedded Postgres of this data directory; names of what ran."""
    stopped = processes.stop(where.run, processes.recorded(where.run))
    where.socket.unlink(missing_ok=True)
    if settings.database_url is None and settings.embedded_dir.exists():
        from substrate import postgres

        if postgres.stop(settings.embedded_dir):
            stopped.append("postgres")
    return stopped


def states(settings: Settings, where: Places) -> dict[str, str]:
    """Each service with ``running``, ``not answering`` or ``stopped``."""
    alive = {p.name for p in processes.recorded(where.run) if p.alive()}
    found = {}
    for service in services(settings, where):
        if service.name not in alive:
            found[service.name] = "stopped"
        else:
            found[service.name] = "running" if service.healthy() else "not answering"
    if settings.database_url is None:
        from substrate import postgres

        found["postgres"] = postgres.status(settings.embedded_dir).state
    return found


def client_token(db: Database, where: Places) -> str:
    """The write token of the person at this machine; kept in a file that only they can read, renewed when refused."""
    from api.cli.session import owner

    with db.write(EVERY_BASE) as conn:
        who = owner(conn)
        access.adopt_bases(conn, who)
        if where.token.exists():
            kept = where.token.read_text(encoding="utf-8").strip()
            try:
                access.authenticate(conn, kept)
            except Unauthenticated:
                pass
            else:
                return kept
        made = access.issue_token(conn, who, "twoclocks up", scope="write")
    where.token.touch(mode=0o600, exist_ok=True)
    where.token.chmod(0o600)
    where.token.write_text(made.secret + "\n", encoding="utf-8")
    return made.secret


def client_config(settings: Settings, bases: Mapping[str, str], token: str) -> dict[str, Any]:
    """What an MCP client reads: one entry per base (slug → id)."""
    root = f"http://{_reachable(settings.api_host)}:{settings.api_port}/api/v1/kbs"
    return {
        "mcpServers": {
            f"twoclocks-{slug}": {
                "type": "http",
                "url": f"{root}/{kb_id}/mcp",
                "headers": {"Authorization": f"Bearer {token}"},
            }
            for slug, kb_id in bases.items()
        }
    }


def _must_be_free(settings: Settings, service: Service) -> None:
    if service.port is None:
        return
    host = settings.api_host if service.name == "api" else "127.0.0.1"
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, service.port))
        except OSError as error:
            variable = "TWOCLOCKS_API_PORT" if service.name == "api" else "TWOCLOCKS_DAGSTER_PORT"
            message = f"port {service.port} for {service.name} is taken or not ours; set {variable}"
            raise Conflict(message, field=variable) from error


def _wait(service: Service, process: Process, deadline: float) -> None:
    while not service.healthy():
        gone, late = not process.alive(), time.monotonic() > deadline
        if gone or late:
            what = "ended" if gone else "does not answer"
            raise Unavailable(f"{service.name} {what}; its log {process.log} ends:\n{processes.tail(process.log)}")
        time.sleep(_PAUSE_S)


def _reachable(host: str) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"[{host}]" if ":" in host else host


def _answers(url: str, body: bytes | None = None) -> bool:
    return _ask(url, body) is not None


def _ask(url: str, body: bytes | None = None) -> Any:
    """The JSON a local server answers with; None while it does not."""
    headers = {"Content-Type": "application/json"} if body else {}
    request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310 - our own http address
    # No proxy: these are addresses of this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=5) as answer:
            return json.load(answer)
    except (OSError, ValueError, urllib.error.URLError):
        return None


_DAGSTER_HEALTH = (
    "{ instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } "
    "workspaceOrError { ... on Workspace { locationEntries { name locationOrLoadError { __typename } } } } }"
)


def _dagster_is_whole(ui: str) -> bool:
    """Every required daemon beats and the code location is loaded."""
    answer = _ask(f"{ui}/graphql", json.dumps({"query": _DAGSTER_HEALTH}).encode())
    try:
        daemons = answer["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
        entries = answer["data"]["workspaceOrError"]["locationEntries"]
        loaded = [e["locationOrLoadError"]["__typename"] == "RepositoryLocation" for e in entries]
    except (KeyError, TypeError):
        return False
    return all(d["healthy"] for d in daemons if d["required"]) and bool(loaded) and all(loaded)
