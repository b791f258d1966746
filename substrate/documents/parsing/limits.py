"""How much one document may cost, and the one way a parser refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from substrate.errors import DocumentRejected

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document may cost before it is refused with the limit named.

    A worker that has read one document of each format of ours holds 67 MB, 87 MB of address space; once it has
    loaded unstructured, 213 MB and 328 MB. Pandoc, a process of its own under the same limits, was measured at 260 MB
    a megabyte of text (EPUB: 500), so a book of over 2 MB of text is refused as ``out_of_memory``. The archive
    figures are those of published zip guards.
    """

    max_bytes: int = 64 * MEBIBYTE
    address_space: int = 1024 * MEBIBYTE
    """Bytes of virtual memory of the worker child (RLIMIT_AS), and as much again for pandoc."""
    cpu_seconds: int = 60
    wall_seconds: float = 90.0
    zip_entries: int = 2_000
    zip_bytes: int = 200 * MEBIBYTE
    """Sum of all entries after decompression, counted while streaming."""
    zip_ratio: int = 100
    """Applies to entries that decompress to more than 1 MiB."""
    pdf_pages: int = 5_000
    table_cells: int = 2_000_000
    in_process_bytes: int = MEBIBYTE // 4
    """Text formats up to this size are read in the caller's process: the worst Markdown found takes 7 s."""


DEFAULT = Limits()


def reject(filename: str, code: str, why: str) -> NoReturn:
    """Raise `DocumentRejected` with the file named; ``why`` says what is wrong and what to do."""
    raise DocumentRejected(f"{filename}: {why}", code=code, filename=filename)
