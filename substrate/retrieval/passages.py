"""What is indexed of a passage beside its own words: where it stands, who says it, and when.

On dialogue, dense recall fell from .445 to .304 when the speaker's name was left out of the embedded text. The same
words are the lexical index's `title` field. None of it is ever shown as the passage's text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from substrate.retrieval.embedders import Embedder

RECIPE = 2
"""Raised whenever `passage_text` changes: vectors of another recipe are made anew."""
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}$")


def vector_key(embedder: Embedder) -> str:
    """What vectors are cached under: the model, and how the text it is given is put together."""
    return f"{embedder.name}+text{RECIPE}"


def context_words(filename: str, heading_path: Sequence[str], author: str = "", title: str = "") -> str:
    """File name without extension, title, headings from the outermost, author: one line.

    A title that says what the file name or the first heading says is left out.
    """
    name = _EXTENSION.sub("", filename).replace("_", " ").replace("-", " ").strip()
    said = {words.strip().casefold() for words in (name, *heading_path[:1])}
    own = "" if title.strip().casefold() in said else title.strip()
    return " › ".join(part for part in (name, own, *heading_path, author) if part)


def passage_text(
    text: str,
    *,
    filename: str,
    heading_path: Sequence[str],
    author: str = "",
    title: str = "",
    doc_time: datetime | None = None,
) -> str:
    """What an embedder is given for a chunk: its context and the document's own date, then its text.

    The stage that embeds and the search that embeds what is newer must both use this, or their vectors differ.
    """
    context = context_words(filename, heading_path, author, title)
    if doc_time is not None:
        context = f"{context} ({doc_time:%Y-%m-%d})"
    return f"{context}\n{text}"
