"""A planned change of one file: shown as a diff without secrets, or written whole, the old text kept beside it."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from substrate.errors import InvalidInput

_TOKEN = re.compile(r"tc_[a-z]+_[A-Za-z0-9]{40,}")
_OTHERS = re.compile(r"""(?i)(Bearer |(?:key|token|secret|password)["']?\s*[:=]\s*["'])(?!tc_)[^\s"']+""")


@dataclass(frozen=True, slots=True)
class Change:
    """A file's text before and after; None: there is no such file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The lines that change, as ``diff -U0`` would show them, secrets masked; lines of others are not shown."""
        old, new = (masked(text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path), n=0)
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def masked(text: str) -> str:
    """The text with our tokens reduced to the eleven characters that lists show, and others' secrets to nothing."""
    return _OTHERS.sub(r"\1…", _TOKEN.sub(lambda found: found.group()[:11] + "…", text))


def read(path: Path) -> str | None:
    """The text of a file as it stands, line ends included; None where there is none. Raises `InvalidInput`."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: byte {error.start} is not UTF-8", field="file") from error
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}", field="file") from error


def write(change: Change, *, keep: bool = True) -> Path | None:
    """Write the change and return where the old text is kept, if there was any and `keep` says so.

    The file is replaced in one step, behind a symbolic link where it is one. With a token inside it is only its owner's
    to read. Raises `InvalidInput` where the file changed since it was read, or cannot be written.
    """
    real = change.path.resolve()
    if read(real) != change.before:
        raise InvalidInput(f"{change.path} was changed meanwhile; run the command again", field="file")
    try:
        kept = _keep(real, change.before, datetime.now(UTC)) if keep and change.before is not None else None
        if change.after is None:
            real.unlink(missing_ok=True)
        else:
            _replace(real, change.after, _mode(real, change.after))
    except OSError as error:
        raise InvalidInput(f"{change.path}: {error.strerror}", field="file") from error
    return kept


def _mode(real: Path, text: str) -> int:
    if _TOKEN.search(text):
        return 0o600
    return real.stat().st_mode & 0o777 if real.exists() else 0o644


def _keep(real: Path, text: str, now: datetime) -> Path:
    backup = real.with_name(f"{real.name}.before-twoclocks-{now:%Y%m%dT%H%M%S%f}Z")
    _replace(backup, text, 0o600 if _TOKEN.search(text) else real.stat().st_mode & 0o777)
    return backup


def _replace(real: Path, text: str, mode: int) -> None:
    real.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("wb", dir=real.parent, prefix=f".{real.name}.", delete=False) as scratch:
        try:
            scratch.write(text.encode("utf-8"))
            scratch.flush()
            os.fsync(scratch.fileno())
            Path(scratch.name).chmod(mode)
            Path(scratch.name).replace(real)
        except BaseException:
            Path(scratch.name).unlink(missing_ok=True)
            raise
