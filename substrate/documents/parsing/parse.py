"""From bytes to blocks: what is it, which reader reads it, what does it say of its own date."""

from __future__ import annotations

import re
from collections.abc import Iterable

from substrate.documents.blocks import Block, DocumentDate, ParsedDocument
from substrate.documents.parsing.archive import guard
from substrate.documents.parsing.dates import date_in_content
from substrate.documents.parsing.decode import decode
from substrate.documents.parsing.detect import BINARY, MEDIA_TYPES, ZIPPED, detect, has_binary_magic
from substrate.documents.parsing.limits import DEFAULT, MEBIBYTE, Limits, reject
from substrate.documents.parsing.pandoc import PANDOC, read_with_pandoc
from substrate.documents.parsing.tables import adopt_captions
from substrate.documents.parsing.text import clean
from substrate.errors import DocumentRejected

_HTML_BLOCK = re.compile(rb"^ {0,3}(?:> ?|[-*+] )*<[A-Za-z!?/]", re.MULTILINE)
Read = tuple[str, DocumentDate | None, Iterable[Block]]


def parse(content: bytes, filename: str, *, media_type: str | None = None, limits: Limits = DEFAULT) -> ParsedDocument:
    """Read one document. No network or clock is touched, and no file but by pandoc in a directory of its own.

    Formats that pandoc reads belong in a worker, as `ParserPool` sees to: here they would load spaCy.

    Raises `DocumentRejected`; its ``code`` is one of ``empty``, ``too_large``, ``unsupported``,
    ``wrong_extension``, ``encrypted``, ``truncated``, ``bomb``, ``doctype``, ``nul_bytes``, ``encoding``,
    ``malformed``, ``no_text``, ``out_of_memory``, ``timeout``. ``media_type`` counts only where the name has
    no extension we know.
    """
    if len(content) > limits.max_bytes:
        size = f"{len(content) / MEBIBYTE:.0f} MiB, the limit is {limits.max_bytes // MEBIBYTE} MiB"
        reject(filename, "too_large", f"is {size}; split it")
    kind = detect(content, filename, media_type)
    if kind in ZIPPED:
        guard(content, filename, limits, doctypes=kind in ("epub", "odt"))
    try:
        title, date, found = _read(kind, content, filename, limits)
        blocks = _tidy(found)
    except DocumentRejected:
        raise
    except MemoryError:
        reject(filename, "out_of_memory", "needs more memory than one document may use; split it")
    except Exception as error:
        # The libraries raise anything at all on damaged files; the type names what they stumbled over.
        why = f"cannot be read as {kind.upper()} ({type(error).__name__}: {str(error)[:200]}); save it anew"
        raise DocumentRejected(f"{filename}: {why}", code="malformed", filename=filename) from error
    if not any(block.text.strip() for block in blocks):
        reject(filename, "no_text", "holds no text that a reader would see")
    title = title or next((b.text for b in blocks if b.kind == "heading" and b.text and b.level == 1), "")
    return ParsedDocument(MEDIA_TYPES[kind], title, blocks, date or date_in_content(blocks))


def is_light(content: bytes, filename: str, media_type: str | None, limits: Limits) -> bool:
    """Whether the document is small text that our own linear code reads: no child process needed."""
    # Magic numbers alone: a hostile archive's directory is opened in the worker only.
    if len(content) > limits.in_process_bytes or has_binary_magic(content):
        return False
    kind = detect(content, filename, media_type)
    if kind in ("html", "eml", "xml") or kind in PANDOC:
        return False
    return not (kind == "markdown" and _HTML_BLOCK.search(content))


def _tidy(found: Iterable[Block]) -> tuple[Block, ...]:
    blocks = (block for block in found if block.text or block.kind == "heading")
    return adopt_captions(blocks)


def _read(kind: str, content: bytes, filename: str, limits: Limits) -> Read:
    if kind in PANDOC:
        return read_with_pandoc(kind, content, filename, limits)
    if kind in BINARY:
        return "", None, _read_binary(kind, content, filename, limits)
    if kind == "eml":
        from substrate.documents.parsing.mail import read_mail

        return read_mail(content, filename, limits)
    if kind == "xml":
        from substrate.documents.parsing.xmltext import read_xml

        return "", None, read_xml(content, filename, limits)
    return _read_text(kind, content, filename, limits)


def _read_binary(kind: str, content: bytes, filename: str, limits: Limits) -> Iterable[Block]:
    if kind == "pdf":
        from substrate.documents.parsing.pdf import read_pdf

        return read_pdf(content, filename, limits)
    if kind == "docx":
        from substrate.documents.parsing.word import read_docx

        return read_docx(content, filename)
    if kind == "pptx":
        from substrate.documents.parsing.slides import read_pptx

        return read_pptx(content, filename)
    from substrate.documents.parsing import sheets

    read = {"xlsx": sheets.read_xlsx, "xls": sheets.read_xls, "ods": sheets.read_ods}[kind]
    return read(content, filename, limits)


def _read_text(kind: str, content: bytes, filename: str, limits: Limits) -> Read:
    from substrate.documents.parsing import plain
    from substrate.documents.parsing.markdown import front_matter, read_markdown
    from substrate.documents.parsing.markup import declared_encoding, read_html

    declared = declared_encoding(content) if kind == "html" else None
    text = clean(decode(content, filename, declared=declared))
    if kind == "html":
        title, blocks = read_html(text, filename, limits)
        return title, None, blocks
    if kind == "markdown":
        title, date, rest, lines = front_matter(text)
        return title, date, read_markdown(rest, filename, limits, lines)
    if kind in ("csv", "tsv"):
        return "", None, plain.read_delimited(text, filename, limits, "\t" if kind == "tsv" else None)
    if kind in ("json", "jsonl"):
        return "", None, plain.read_json(text, filename, lines=kind == "jsonl")
    return "", None, plain.read_text(text)
