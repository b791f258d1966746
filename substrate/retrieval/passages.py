"""What is indexed of a passage beside its own words: where it stands, who says it, and when.

On dialogue, dense recall fell from .445 to .304 when the speaker's name was left out of the embedded text. The same
words are the lexical index's `title` field. None of it is ever shown as the passage's text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}$")


def context_words(filename: str, heading_path: Sequence[str], author: str = "") -> str:
    """File name without extension, headings from the outermost, author: one line."""
    name = _EXTENSION.sub("", filename).replace("_", " ").replace("-", " ").strip()
    return " › ".join(part for part in (name, *heading_path, author) if part)


def passage_text(
    text: str,
    *,
    filename: str,
    heading_path: Sequence[str],
    author: str = "",
    doc_time: datetime | None = None,
) -> str:
    """What an embedder is given for a chunk: its context and the document's own date, then its text.

    The stage that embeds and the search that embeds what is newer must both use this, or their vectors differ.
    """
    context = context_words(filename, heading_path, author)
    if doc_time is not None:
        context = f"{context} ({doc_time:%Y-%m-%d})"
    return f"{context}\n{text}"
