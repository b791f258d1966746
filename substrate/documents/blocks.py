"""What a parser yields and what the chunker yields: plain frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

BlockKind = Literal["heading", "paragraph", "list_item", "table", "code", "message"]


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a document in reading order.

    ``text`` is what a reader sees. For a table it is one line per row with cells joined by ``" | "``,
    the header row first when there is one, and ``rows`` holds the same cells.
    ``anchor`` says where the block lies in the original: ``{"page": 3}``, ``{"sheet": "Pay", "row": 7}``,
    ``{"line": 12}``; rows of a table are numbered from the anchor.
    """

    kind: BlockKind
    text: str
    level: int = 0
    """Heading depth from 1; 0 for anything else."""
    rows: tuple[tuple[str, ...], ...] = ()
    header: tuple[str, ...] = ()
    caption: str = ""
    anchor: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentDate:
    """The date a document states about itself, with the words that state it."""

    at: datetime
    """UTC, truncated to `precision`."""
    precision: Literal["year", "month", "day", "hour", "minute", "second"]
    source: Literal["push", "front_matter", "content"]
    words: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document's blocks, its title if it has one, and the date it states about itself if any."""

    media_type: str
    title: str
    blocks: tuple[Block, ...]
    date: DocumentDate | None = None


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it has an id.

    ``text`` is verbatim what the document shows (a table chunk repeats caption and header).
    ``heading_path`` is the chain of headings above it, outermost first.
    ``body_start``/``body_end`` are character offsets into the document's concatenated chunk texts.
    """

    position: int
    text: str
    heading_path: tuple[str, ...]
    kind: Literal["text", "table"]
    anchor: Mapping[str, object]
    body_start: int
    body_end: int
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """For a table chunk: its cells, so that no reader need parse ``text`` again."""
