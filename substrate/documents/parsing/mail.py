"""One e-mail message: its header lines and its text; attachments are named and not opened."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import cast

from substrate.documents.blocks import Block, DocumentDate
from substrate.documents.parsing.decode import decode
from substrate.documents.parsing.limits import Limits, reject
from substrate.documents.parsing.markup import read_html
from substrate.documents.parsing.plain import read_text
from substrate.documents.parsing.text import clean, one_line

_HEADERS = ("From", "To", "Cc", "Date")


def read_mail(content: bytes, filename: str, limits: Limits) -> tuple[str, DocumentDate | None, list[Block]]:
    """Subject, date of sending, blocks."""
    message = message_from_bytes(content, policy=policy.default)
    if not message.keys():
        reject(filename, "wrong_extension", "its content is not EML; rename or export it again")
    subject = one_line(str(message.get("Subject", "")))
    blocks = [Block("heading", subject, level=1)] if subject else []
    for name in _HEADERS:
        if value := one_line(str(message.get(name, ""))):
            blocks.append(Block("paragraph", f"{name}: {value}", anchor={"header": name}))
    blocks.extend(_body(message, filename, limits))
    for part in message.iter_attachments():
        if attached := part.get_filename():
            blocks.append(Block("paragraph", f"Attachment: {attached}", anchor={"attachment": attached}))
    return subject, _sent(message), blocks


def _sent(message: EmailMessage) -> DocumentDate | None:
    header = message.get("Date")
    moment = getattr(header, "datetime", None)
    if moment is None:
        return None
    at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)
    return DocumentDate(at, "second", "content", f"Date: {one_line(str(header))}")


def _body(message: EmailMessage, filename: str, limits: Limits) -> Iterator[Block]:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return
    payload = cast(bytes, part.get_payload(decode=True) or b"")
    if not payload.strip():
        return
    text = decode(payload, filename, declared=part.get_content_charset())
    if part.get_content_subtype() == "html":
        yield from read_html(text, filename, limits)[1]
    else:
        yield from read_text(clean(text))
