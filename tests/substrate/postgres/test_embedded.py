"""The embedded Postgres against what happens to servers: kills, races, used pids, bad settings, closed homes.

Every test runs real servers below its own temporary directory. As root that directory lies under a 0700
parent, so the ordinary tests already run over data that the server's account cannot reach by path.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from substrate.errors import DatabaseUnavailable
from substrate.postgres import bin_dir, dump_binary, ensure, status, stop
from tests.waiting import until

REPOSITORY = Path(__file__).parents[3]
AS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not AS_ROOT, reason="switches accounts")

# The account is left after the imports: the interpreter itself may lie in a home closed to it.
ENSURE = """
import os, sys
from pathlib import Path
import psycopg
from substrate.postgres import ensure
if uid := int(sys.argv[2]):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
print(ensure(Path(sys.argv[1])))
"""


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Path]:
    """Where nothing is yet."""
    where = tmp_path / "pg"
    yield where
    stop(where)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stopped server with its databases: making one takes most of the time of a test."""
    where = tmp_path_factory.mktemp("made") / "pg"
    ensure(where)
    stop(where)
    return where


@pytest.fixture
def root(bare: Path, made: Path) -> Path:
    """A stopped server of this test's own."""
    subprocess.run(["cp", "-a", made, bare], check=True)
    return bare


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory that every account can enter, which pytest's own is not."""
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    yield base
    shutil.rmtree(base)


def ask(url: str, statement: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
    return row[0] if row else None


def tell(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def server_pid(root: Path) -> int:
    pid = status(root).pid
    assert pid is not None
    return pid


def processes_of(root: Path) -> list[int]:
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and os.readlink(process / "cwd") == str(root / "data"):
                found.append(int(process.name))
    return found


def in_a_process(root: Path, *, uid: int = 0, wheel_in: Path | None = None) -> subprocess.Popen[str]:
    path = [str(REPOSITORY), *([str(wheel_in)] if wheel_in else []), *sys.path]
    return subprocess.Popen(
        [sys.executable, "-c", ENSURE, str(root), str(uid)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env={"PYTHONPATH": os.pathsep.join(path)},
    )


def put_wheel(directory: Path) -> Path:
    package = bin_dir().parents[1]
    shutil.copytree(package, directory / package.name)
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, directory / libraries.name)
    return directory


def test_first_start_brings_databases_and_extensions(bare: Path) -> None:
    assert status(bare).state == "absent"
    assert not bare.exists()
    url = ensure(bare)
    assert url.startswith("postgresql://postgres@/twoclocks?host=/")
    assert ask(url, "select current_database()") == "twoclocks"
    assert ask(url.replace("/twoclocks?", "/twoclocks_dagster?"), "select 1") == 1
    for extension in ("vector", "pg_trgm", "btree_gist"):
        tell(url, f"create extension {extension}")
    assert ask(url, "select cardinality(show_trgm('中文搜索引擎')) > 1") is True
    assert ask(url, "select datlocprovider::text || datlocale from pg_database where datname = 'twoclocks'") == (
        "bC.UTF-8"
    )
    for setting, value in {
        "max_connections": "200",
        "fsync": "on",
        "listen_addresses": "",
        "server_encoding": "UTF8",
        "shared_buffers": "128MB",
    }.items():
        assert ask(url, f"show {setting}") == value, setting


def test_a_second_call_attaches_to_the_running_server(root: Path) -> None:
    url = ensure(root)
    pid = server_pid(root)
    assert ensure(root) == url
    assert server_pid(root) == pid
    tell(url.replace("/twoclocks?", "/postgres?"), "drop database twoclocks_dagster")
    assert ensure(root) == url
    assert ask(url.replace("/twoclocks?", "/twoclocks_dagster?"), "select 1") == 1


def test_the_socket_is_closed_to_others_and_no_port_is_open(root: Path) -> None:
    url = ensure(root)
    directory = Path(str(psycopg.conninfo.conninfo_to_dict(url)["host"]))
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert directory.stat().st_uid == (root / "data").stat().st_uid
    assert stat.S_IMODE((root / "data").stat().st_mode) == 0o700
    held = {os.readlink(entry) for entry in Path(f"/proc/{server_pid(root)}/fd").iterdir()}
    assert any(name.startswith("socket:") for name in held)
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        inodes = {line.split()[9] for line in Path(table).read_text().splitlines()[1:]}
        assert not {f"socket:[{inode}]" for inode in inodes} & held
    if AS_ROOT:
        with pytest.raises(subprocess.CalledProcessError):
            subprocess.run(["/bin/sh", "-c", 'cd "$1"', "sh", directory], user=1, check=True, stderr=subprocess.DEVNULL)


def test_rows_outlive_the_killing_of_the_server(root: Path) -> None:
    url = ensure(root)
    tell(url, "create table kept (n int)")
    for n in range(1, 4):
        tell(url, f"insert into kept values ({n})")
        # A client that computes keeps a process of the dead server alive for a moment.
        busy = psycopg.connect(url)
        pid = server_pid(root)
        os.kill(pid, signal.SIGKILL)
        assert ensure(root) == url
        busy.close()
        assert server_pid(root) != pid
        assert ask(url, "select count(*) from kept") == n


@contextmanager
def orphan_that_computes(root: Path, url: str) -> Iterator[None]:
    active = "select count(*) from pg_stat_activity where application_name = 'busy' and state = 'active'"
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(tell, f"{url}&application_name=busy", "do $$ begin loop null; end loop; end $$")
        until(lambda: ask(url, active))
        os.kill(server_pid(root), signal.SIGKILL)
        until(lambda: status(root).state == "orphaned")
        try:
            yield
        finally:
            for pid in processes_of(root) if status(root).state == "orphaned" else []:
                os.kill(pid, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            busy.result()


@pytest.mark.slow
def test_a_busy_orphan_is_waited_for_and_then_ended(root: Path) -> None:
    url = ensure(root)
    with orphan_that_computes(root, url):
        with pytest.raises(DatabaseUnavailable, match="processes of a killed server"):
            ensure(root, timeout_s=0.3)
        assert ensure(root) == url
    assert ask(url, "select 1") == 1


def test_stop_ends_what_a_killed_server_left(root: Path) -> None:
    with orphan_that_computes(root, ensure(root)):
        assert stop(root) is True
    assert processes_of(root) == []
    assert status(root).state == "stopped"


def test_a_pid_file_naming_another_program_is_seen_through(root: Path) -> None:
    url = ensure(root)
    pid_file = root / "data" / "postmaster.pid"
    host = Path(str(psycopg.conninfo.conninfo_to_dict(url)["host"]))
    socket_lock = host / ".s.PGSQL.5432.lock"
    lines, lock_lines = pid_file.read_text().splitlines(), socket_lock.read_text().splitlines()
    stop(root)
    # Under the server's own account: of another one's pid Postgres itself knows that it is stale.
    account = (root / "data").stat().st_uid if AS_ROOT else None
    with subprocess.Popen(["sleep", "600"], cwd="/", user=account) as other:
        try:
            host.mkdir(mode=0o700, exist_ok=True)
            if account is not None:
                os.chown(host, account, -1)
            pid_file.write_text("\n".join([str(other.pid), *lines[1:]]) + "\n")
            socket_lock.write_text("\n".join([str(other.pid), *lock_lines[1:]]) + "\n")
            assert status(root).state == "stopped"
            assert ask(ensure(root), "select 1") == 1
            assert stop(root) is True
            assert other.poll() is None
        finally:
            other.kill()


def test_a_shell_in_the_data_directory_is_neither_server_nor_victim(root: Path) -> None:
    url = ensure(root)
    with subprocess.Popen(["sleep", "600"], cwd=root / "data") as bystander:
        try:
            os.kill(server_pid(root), signal.SIGKILL)
            assert ask(ensure(root), "select 1") == 1
            assert stop(root) is True
            assert status(root).state == "stopped"
            assert bystander.poll() is None
        finally:
            bystander.kill()
    assert ensure(root) == url


def test_eight_racing_starters_get_one_server(bare: Path) -> None:
    starters = [in_a_process(bare) for _ in range(8)]
    answers = [starter.communicate(timeout=200) for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * 8, answers
    assert len({out for out, _ in answers}) == 1
    assert ask(answers[0][0].strip(), "select 1") == 1
    assert (bare / "log" / "server.log").read_text().count("starting PostgreSQL") == 1


def test_stop_stops_its_own_server_alone(tmp_path: Path, root: Path) -> None:
    other = tmp_path / "other"
    ensure(root)
    url = ensure(other)
    try:
        host = Path(str(psycopg.conninfo.conninfo_to_dict(url)["host"]))
        assert stop(root) is True
        assert stop(root) is False
        assert processes_of(root) == []
        assert ask(url, "select 1") == 1
        assert stop(other) is True
        assert host == other / "run" or not host.exists()
    finally:
        stop(other)


def test_a_copied_root_is_a_server_of_its_own(tmp_path: Path, root: Path) -> None:
    url = ensure(root)
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", root, copy], check=True)
    try:
        assert status(copy).state == "stopped"
        other = ensure(copy)
        assert other != url
        tell(other, "create table only_in_the_copy ()")
        assert ask(url, "select to_regclass('only_in_the_copy')::text") is None
    finally:
        stop(copy)


def test_a_bad_setting_fails_at_once_with_the_servers_reason(root: Path) -> None:
    settings = root / "data" / "postgresql.conf"
    good = settings.read_text()
    settings.write_text(good + "shared_buffers = 'plenty'\n")
    with pytest.raises(DatabaseUnavailable, match='invalid value for parameter "shared_buffers"') as caught:
        ensure(root, timeout_s=3_600)
    assert "FATAL" in str(caught.value.facts["reason"])
    assert "FATAL" in str(caught.value.facts["log_tail"])
    settings.write_text(good)
    assert ask(ensure(root), "select 1") == 1


def test_a_recovery_longer_than_the_timeout_is_waited_for(root: Path) -> None:
    url = ensure(root)
    tell(url, "create table kept as select 1 as n")
    os.kill(server_pid(root), signal.SIGKILL)
    until(lambda: not processes_of(root))
    (root / "data" / "recovery.signal").touch()
    with (root / "data" / "postgresql.conf").open("a") as settings:
        settings.write("restore_command = 'test ! -e asked && touch asked && sleep 3; false'\n")
    # Its starter is ended, so that only the recovery is left to wait for and not the start of programs.
    with in_a_process(root) as starter:
        until((root / "data" / "asked").exists)
        starter.kill()
    assert ensure(root, timeout_s=1) == url
    assert ask(url, "select n from kept") == 1


def test_what_is_no_cluster_is_left_alone(bare: Path) -> None:
    (bare / "data").mkdir(parents=True)
    (bare / "data" / "thesis.txt").write_text("years of work")
    if AS_ROOT:
        with pytest.raises(DatabaseUnavailable, match="belongs to root"):
            ensure(bare)
        shutil.chown(bare / "data", "nobody")
    with pytest.raises(DatabaseUnavailable, match="neither empty nor a Postgres cluster"):
        ensure(bare)
    assert (bare / "data" / "thesis.txt").read_text() == "years of work"


def test_an_interrupted_first_start_is_begun_again(bare: Path) -> None:
    (bare / "data.new").mkdir(parents=True)
    (bare / "data.new" / "PG_VERSION").write_text("18\n")
    assert ask(ensure(bare), "select 1") == 1
    assert not (bare / "data.new").exists()


def test_a_deep_root_gets_a_short_socket_that_nobody_else_prepared(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    deep = closed / ("long" * 25) / "with, comma and 'quote'"
    before = [(p, p.stat().st_mode, p.stat().st_uid) for p in (closed, *closed.parents)]
    url = ensure(deep)
    try:
        assert ask(url, "select 1") == 1
        host = Path(str(psycopg.conninfo.conninfo_to_dict(url)["host"]))
        assert host.parent == Path(tempfile.gettempdir()).resolve()
        stop(deep)
        assert not host.exists()
        host.symlink_to(tmp_path)
        with pytest.raises(DatabaseUnavailable, match="cannot be used"):
            ensure(deep)
        host.unlink()
    finally:
        stop(deep)
    assert [(p, p.stat().st_mode, p.stat().st_uid) for p in (closed, *closed.parents)] == before


def test_the_dump_program_matches_the_server(root: Path) -> None:
    url = ensure(root)
    tell(url, "create table dumped (n int)")
    done = subprocess.run([dump_binary(root), url], capture_output=True, text=True, check=True)
    assert "CREATE TABLE public.dumped" in done.stdout
    assert (bin_dir() / "psql").exists()
    stop(root)
    (root / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(DatabaseUnavailable, match="release 16"):
        dump_binary(root)
    with pytest.raises(DatabaseUnavailable, match="incompatible with server"):
        ensure(root)


@only_root
def test_an_ordinary_user_runs_a_server_of_his_own(open_place: Path) -> None:
    home = open_place / "home"
    home.mkdir(mode=0o700)
    os.chown(home, 65534, 65534)
    wheel = put_wheel(open_place)
    starter = in_a_process(home / "pg", uid=65534, wheel_in=wheel)
    out, err = starter.communicate(timeout=200)
    try:
        assert starter.returncode == 0, err
        assert ask(out.strip(), "select 1") == 1
        assert Path("/proc", str(server_pid(home / "pg"))).stat().st_uid == 65534
        # Root meets the cluster of a user: it attaches, and starts it again as that user.
        assert ensure(home / "pg") == out.strip()
        assert stop(home / "pg") is True
        assert ensure(home / "pg") == out.strip()
        assert Path("/proc", str(server_pid(home / "pg"))).stat().st_uid == 65534
        stranger = in_a_process(home / "pg", uid=1, wheel_in=wheel)
        assert "DatabaseUnavailable" in stranger.communicate(timeout=200)[1]
    finally:
        stop(home / "pg")


@only_root
def test_a_uid_without_passwd_entry_is_told_so(open_place: Path) -> None:
    open_place.chmod(0o777)
    starter = in_a_process(open_place / "pg", uid=54321)
    assert "uid 54321 has no passwd entry" in starter.communicate(timeout=200)[1]
    assert not (open_place / "pg").exists()


@only_root
@pytest.mark.parametrize("data_is_open", [True, False])
def test_programs_in_a_closed_home_are_copied(open_place: Path, tmp_path: Path, data_is_open: bool) -> None:
    """A virtualenv below 0700 as root: the account may not run the programs where they are."""
    closed = open_place / "closed"
    closed.mkdir(mode=0o700)
    put_wheel(closed)
    root = (open_place if data_is_open else closed) / "pg"
    starter = in_a_process(root, wheel_in=closed)
    out, err = starter.communicate(timeout=200)
    copies: set[Path] = set()
    try:
        assert starter.returncode == 0, err
        assert ask(out.strip(), "select 1") == 1
        program = Path(os.readlink(f"/proc/{server_pid(root)}/exe"))
        copies.add(program.parents[3])
        assert closed not in program.parents
        assert (root in program.parents) is data_is_open
        assert (f"host={root}/run&" in out) is data_is_open
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    finally:
        stop(root)
        for copy in copies:
            shutil.rmtree(copy)
            with suppress(OSError):
                copy.parent.rmdir()
