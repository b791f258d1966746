"""Guards for office files, which are zip archives of XML: run before any office reader sees the bytes."""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.parsers import expat

from substrate.documents.parsing.limits import MEBIBYTE, Limits, reject

_PIECE = 1 << 16
_XML_NAMES = (".xml", ".rels", ".vml")
_PAGE_NAMES = (*_XML_NAMES, ".xhtml", ".html", ".htm", ".opf", ".ncx", ".svg", ".smil")


class _PrologEnds(Exception):
    """The root element begins; no DOCTYPE can follow."""


class _Doctype(Exception):
    """A DOCTYPE was declared, or an entity where a DOCTYPE is usual."""


def open_archive(content: bytes, filename: str) -> zipfile.ZipFile:
    """Open the zip directory; a file that starts like a zip but has no directory was cut short."""
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, OSError):
        reject(filename, "truncated", "the file is cut short or damaged; copy or download it again")


def guard(content: bytes, filename: str, limits: Limits, *, doctypes: bool = False) -> None:
    """Decompress every entry once, keeping nothing, and refuse bombs, odd names and XML with a DOCTYPE.

    Pages of books and manifests of old text documents begin with a DOCTYPE: where ``doctypes`` are usual it is
    the declaration of an entity that is refused.
    """
    with open_archive(content, filename) as archive:
        entries = archive.infolist()
        if len(entries) > limits.zip_entries:
            reject(filename, "bomb", f"holds {len(entries)} parts; at most {limits.zip_entries} are allowed")
        total = 0
        for entry in entries:
            _check_name(entry.filename, filename)
            total += _stream(archive, entry, filename, limits, limits.zip_bytes - total, doctypes)


def _check_name(name: str, filename: str) -> None:
    path = name.replace("\\", "/")
    if path.startswith("/") or ".." in path.split("/") or ":" in path.split("/")[0]:
        reject(filename, "bomb", f"holds a part with the unsafe name {name!r}; save it anew from its program")


def _stream(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, filename: str, limits: Limits, left: int, doctypes: bool
) -> int:
    """Size of one entry as really decompressed; the directory's own figure is not believed."""
    if entry.flag_bits & 0x1:
        reject(filename, "encrypted", "is protected by a password; remove the password and send it again")
    watched = entry.filename.lower().endswith(_PAGE_NAMES if doctypes else _XML_NAMES)
    size, watch = 0, _DoctypeWatch(doctypes) if watched else None
    try:
        with archive.open(entry) as stream:
            while piece := stream.read(_PIECE):
                size += len(piece)
                if size > left:
                    reject(filename, "bomb", f"unpacks to more than {limits.zip_bytes // MEBIBYTE} MiB")
                if size > MEBIBYTE and size > limits.zip_ratio * max(entry.compress_size, 1):
                    reject(filename, "bomb", f"{entry.filename} unpacks to over {limits.zip_ratio}x its size")
                if watch is not None:
                    watch.feed(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        reject(filename, "truncated", f"part {entry.filename} is damaged; copy or download the file again")
    except _Doctype:
        what = "an entity of its own, which we do not expand" if doctypes else "a DOCTYPE, which office files never do"
        reject(filename, "doctype", f"part {entry.filename} declares {what}")
    return size


class _DoctypeWatch:
    """Reads an XML prolog, in whatever encoding, up to the root element."""

    def __init__(self, entities_only: bool) -> None:
        self._done = False
        self._sign = b"<!ENTITY" if entities_only else b"<!DOCTYPE"
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._end
        if entities_only:
            self._parser.EntityDeclHandler = self._found
        else:
            self._parser.StartDoctypeDeclHandler = self._found

    def feed(self, piece: bytes) -> None:
        """Raise `_Doctype` as soon as one is declared."""
        if self._done:
            return
        try:
            self._parser.Parse(piece, False)
        except _PrologEnds:
            self._done = True
        except (expat.ExpatError, LookupError, ValueError):
            # What expat cannot read, the office reader may: refuse what still spells the declaration.
            self._done = True
            if self._sign in piece.replace(b"\0", b""):
                raise _Doctype from None

    def _end(self, _name: str, _attributes: dict[str, str]) -> None:
        raise _PrologEnds

    def _found(self, *_declaration: object) -> None:
        raise _Doctype
