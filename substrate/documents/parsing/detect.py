"""What a file is: its content decides, its name only where content cannot; a contradiction is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from substrate.documents.parsing.archive import open_archive
from substrate.documents.parsing.limits import reject

OOXML = "application/vnd.openxmlformats-officedocument."
MEDIA_TYPES: Mapping[str, str] = {
    "pdf": "application/pdf",
    "docx": OOXML + "wordprocessingml.document",
    "pptx": OOXML + "presentationml.presentation",
    "xlsx": OOXML + "spreadsheetml.sheet",
    "xls": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "markdown": "text/markdown",
    "html": "text/html",
    "text": "text/plain",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "eml": "message/rfc822",
    "odt": "application/vnd.oasis.opendocument.text",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "rst": "text/x-rst",
    "org": "text/org",
    "xml": "application/xml",
}
_OTHER_NAMES = {"text/rtf": "rtf", "text/xml": "xml", "text/prs.fallenstein.rst": "rst", "text/x-org": "org"}
_EXTENSIONS: Mapping[str, str] = {
    **{kind: kind for kind in MEDIA_TYPES if kind not in ("markdown", "text")},
    **dict.fromkeys(("docm", "dotx"), "docx"),
    **dict.fromkeys(("pptm", "ppsx"), "pptx"),
    **dict.fromkeys(("xlsm", "xltx"), "xlsx"),
    **dict.fromkeys(("md", "markdown", "mdown", "mkd"), "markdown"),
    **dict.fromkeys(("htm", "xhtml"), "html"),
    **dict.fromkeys(("txt", "text", "log"), "text"),
    **dict.fromkeys(("rst", "rest"), "rst"),
    "ott": "odt",
    "tab": "tsv",
    "ndjson": "jsonl",
}
BINARY = frozenset({"pdf", "docx", "pptx", "xlsx", "xls", "ods", "odt", "epub", "rtf"})
ZIPPED = frozenset({"docx", "pptx", "xlsx", "ods", "odt", "epub"})
_REFUSED_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"RIFF", "an image, sound or film file"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"SQLite format 3", "a database"),
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MIMETYPES = (
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/epub+zip", "epub"),
)
_WANTED = (
    "send PDF, DOCX, PPTX, XLSX, XLS, ODT, ODS, RTF, EPUB, CSV, TSV, Markdown, reStructuredText, Org, HTML, XML, JSON, "
    "EML or plain text"
)


def detect(content: bytes, filename: str, media_type: str | None = None) -> str:
    """The kind of file, a key of `MEDIA_TYPES`.

    Raises `DocumentRejected` with ``empty``, ``unsupported``, ``encrypted``, ``truncated`` or
    ``wrong_extension``.
    """
    if not content.strip(b"\0 \t\r\n\f\v"):
        reject(filename, "empty", "the file is empty; check the upload and send it again")
    claimed = _claimed(filename, media_type)
    found = _by_magic(content, filename)
    if found is not None:
        if claimed is not None and claimed != found:
            _mismatch(filename, claimed, found.upper())
        return found
    if claimed in BINARY:
        _mismatch(filename, claimed, "none")
    return claimed or _by_look(content)


def _mismatch(filename: str, claimed: str, found: str) -> None:
    is_what = "is not" if found == "none" else f"is {found}, not"
    reject(filename, "wrong_extension", f"its content {is_what} {claimed.upper()}; rename or export it again")


def _claimed(filename: str, media_type: str | None) -> str | None:
    by_name = _EXTENSIONS.get(PurePosixPath(filename.lower()).suffix.lstrip("."))
    if by_name is not None or media_type is None:
        return by_name
    bare = media_type.split(";")[0].strip().lower()
    return next((kind for kind, name in MEDIA_TYPES.items() if name == bare), _OTHER_NAMES.get(bare))


def has_binary_magic(content: bytes) -> bool:
    """Whether the first bytes are those of a PDF, a zip archive or an OLE container."""
    return b"%PDF-" in content[:1024] or content.startswith((*_ZIP, _OLE))


def _by_magic(content: bytes, filename: str) -> str | None:
    if b"%PDF-" in content[:1024]:
        return "pdf"
    if content.startswith(_ZIP):
        return _by_members(content, filename)
    if content.startswith(_OLE):
        return _by_streams(content, filename)
    if content.startswith(b"{\\rtf"):
        return "rtf"
    for magic, name in _REFUSED_MAGIC:
        if content.startswith(magic):
            reject(filename, "unsupported", f"is {name}, which holds no text we read; {_WANTED}")
    return None


def _by_members(content: bytes, filename: str) -> str:
    with open_archive(content, filename) as archive:
        names = set(archive.namelist())
        for member, kind in (
            ("word/document.xml", "docx"),
            ("ppt/presentation.xml", "pptx"),
            ("xl/workbook.xml", "xlsx"),
        ):
            if member in names:
                return kind
        if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
            stated = archive.read("mimetype").decode("ascii", "replace").strip()
            for name, kind in _MIMETYPES:
                if stated.startswith(name):
                    return kind
    return reject(filename, "unsupported", f"is an archive of a kind we do not read; {_WANTED}")


def _by_streams(content: bytes, filename: str) -> str:
    """OLE containers: the directory spells stream names in UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in content:
        reject(filename, "encrypted", "is protected by a password; remove the password and send it again")
    if any(name.encode("utf-16-le") in content for name in ("Workbook", "Book\0")):
        return "xls"
    return reject(filename, "unsupported", "is an old binary Office file; save it as DOCX, PPTX or XLSX")


def _by_look(content: bytes) -> str:
    start = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "html"
    if start.startswith(b"<?xml"):
        return "html" if b"<html" in start else "xml"
    return "text"
