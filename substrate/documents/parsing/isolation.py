"""Parsing where a document can kill only the child that reads it."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from types import TracebackType
from typing import Self

from substrate.documents.blocks import ParsedDocument
from substrate.documents.parsing import wire
from substrate.documents.parsing.limits import DEFAULT, MEBIBYTE, Limits, reject
from substrate.documents.parsing.parse import is_light, parse
from substrate.errors import DocumentRejected
from substrate.settings import native_thread_environment

# The parent's path, not its environment: a document must not be parsed beside keys and passwords.
_START = "import sys; sys.path[:] = {path!r}; from substrate.documents.parsing.worker import serve; serve({fd})"
_KILLED_FOR_TIME = (signal.SIGXCPU,)
_DIED_OF_MEMORY = (signal.SIGKILL, signal.SIGABRT)


class ParserPool:
    """A fixed number of worker children, each started at its first document and replaced when it fails.

    Safe to share between threads; a call waits for a free worker. Small text documents are read in this
    process. Use as a context manager, or call `close`::

        with ParserPool() as pool:
            document = pool.parse(content, "report.pdf")
    """

    def __init__(self, workers: int = 1, limits: Limits = DEFAULT) -> None:
        self._limits = limits
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        self._count = workers
        for _ in range(workers):
            self._idle.put(None)

    def parse(self, content: bytes, filename: str, media_type: str | None = None) -> ParsedDocument:
        """Parse under the pool's limits.

        Raises `DocumentRejected`: the codes of `parse`, and ``timeout``, ``out_of_memory``, ``crash``.
        """
        if is_light(content, filename, media_type, self._limits):
            return parse(content, filename, media_type=media_type, limits=self._limits)
        with self._worker() as worker:
            return worker.parse(content, filename, media_type)

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        worker = self._idle.get()
        try:
            if worker is not None and not worker.alive:
                worker.stop()
                worker = None
            worker = worker or _Worker(self._limits)
            yield worker
        finally:
            if worker is not None and not worker.alive:
                worker.stop()
                worker = None
            self._idle.put(worker)

    def close(self) -> None:
        """End the workers, waiting for those that are busy."""
        for _ in range(self._count):
            worker = self._idle.get()
            if worker is not None:
                worker.stop()
        for _ in range(self._count):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def parse_isolated(
    content: bytes, filename: str, *, media_type: str | None = None, limits: Limits = DEFAULT
) -> ParsedDocument:
    """Parse one document in a child of its own, whatever its format. Starting the child costs up to 0.6 s."""
    worker = _Worker(limits)
    try:
        return worker.parse(content, filename, media_type)
    finally:
        worker.stop()


class _Worker:
    """One child and the socket to it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # Pandoc reads files: what a killed child leaves behind goes with its directory.
        self._scratch = tempfile.TemporaryDirectory(prefix="twoclocks-")
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-c", _START.format(path=sys.path, fd=theirs.fileno())],
                env={**native_thread_environment(1), "PYTHONUTF8": "1", "TMPDIR": self._scratch.name},
                cwd=self._scratch.name,
                process_group=0,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    @property
    def alive(self) -> bool:
        """Whether it can take another document."""
        return self._child.poll() is None and self._channel.fileno() >= 0

    def parse(self, content: bytes, filename: str, media_type: str | None) -> ParsedDocument:
        """One round trip; a child that fails in any way is ended, so that it never meets another document."""
        if len(content) > self._limits.max_bytes:
            reject(filename, "too_large", f"is over {self._limits.max_bytes // MEBIBYTE} MiB; split it")
        asked = {"filename": filename, "media_type": media_type, "limits": asdict(self._limits)}
        try:
            self._channel.settimeout(self._limits.wall_seconds)
            wire.send(self._channel, json.dumps(asked).encode(), content)
            outcome, answer = self._reply()
        except TimeoutError:
            self.stop()
            reject(filename, "timeout", f"took over {self._limits.wall_seconds:g} s to read; split it")
        except (EOFError, ConnectionError, json.JSONDecodeError):
            self.stop(grace=5)
            self._explain(filename)
        except BaseException:
            self.stop()
            raise
        if outcome == b"ok":
            return wire.unpack(answer)
        refusal = json.loads(answer)
        if refusal["code"] == "out_of_memory":
            self.stop()
        raise DocumentRejected(refusal["message"], code=refusal["code"], filename=filename)

    def _reply(self) -> tuple[bytes, bytes]:
        """Both parts before the deadline, which one late byte after the other cannot push back."""
        deadline = time.monotonic() + self._limits.wall_seconds
        parts = []
        for _ in range(2):
            self._channel.settimeout(max(deadline - time.monotonic(), 0.001))
            parts.append(wire.receive(self._channel))
        return parts[0], parts[1]

    def _explain(self, filename: str) -> None:
        status = -(self._child.returncode or 0)
        if status in _KILLED_FOR_TIME:
            reject(filename, "timeout", f"took over {self._limits.cpu_seconds} s of processor time; split it")
        if status in _DIED_OF_MEMORY:
            reject(filename, "out_of_memory", "needs more memory than one document may use; split it")
        reject(filename, "crash", "made its reader fail; open it in its program and save it anew")

    def stop(self, grace: float = 0.0) -> None:
        """End the child and what it started, after giving it ``grace`` seconds to die of what it is dying of."""
        self._channel.close()
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline and not self._is_dead():
            time.sleep(0.01)
        if self._child.returncode is None:
            # Before it is reaped: until then no other group can have its number.
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._scratch.cleanup()

    def _is_dead(self) -> bool:
        """Whether it has ended, without reaping it."""
        if self._child.returncode is not None:
            return True
        return os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
