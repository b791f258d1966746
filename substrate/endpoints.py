"""OpenAI-compatible endpoints: base URLs as people type them, the client, and failures as sentences without secrets."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from substrate.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    import openai

OPENAI = "https://api.openai.com/v1"
_LONGEST_REASON = 300
_ECHO = 24
"""Letters in a row that a server's words may share with what it was sent; more is an echo."""
_METHODS = ("/embeddings", "/chat/completions", "/completions", "/models", "/responses")


def normalise_base_url(typed: str, field: str) -> str:
    """``localhost:11434`` → ``http://localhost:11434/v1``; a path that is given is kept, but for a method's.

    Without a scheme, a loopback or private address gets ``http``, anything else ``https``. Raises
    `InvalidInput` naming `field` for an address that is empty or carries a password, a query or a fragment.
    """
    text = typed.strip().strip("\"'")
    if not text:
        raise InvalidInput(f"{field}: the address is empty", field=field)
    if "://" not in text:
        text = f"{'http' if _is_near(text) else 'https'}://{text}"
    parts = _split(text, field)
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise InvalidInput(f"{field}: an http or https address is needed", field=field)
    if parts.username or parts.password:
        raise InvalidInput(f"{field}: put the key into its own setting, not into the address", field=field)
    if parts.query or parts.fragment:
        raise InvalidInput(f"{field}: the address may not carry a query or a fragment", field=field)
    path = parts.path.rstrip("/")
    for method in _METHODS:
        path = path.removesuffix(method)
    return f"{parts.scheme.lower()}://{parts.netloc}{path.rstrip('/') or '/v1'}"


def _split(text: str, field: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port  # judged only when it is asked for
    except ValueError as error:
        raise InvalidInput(f"{field}: not an address: {error}", field=field) from None
    return parts


def _is_near(address: str) -> bool:
    try:
        host = urlsplit(f"//{address}").hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal")) or "." not in host


def open_client(base_url: str, key: str | None, *, retries: int, seconds: float) -> openai.OpenAI:
    """A client for one endpoint; ``seconds`` bounds each try. Connections are opened by the first call."""
    import openai

    # The client insists on some key; a local server without one ignores it.
    client = openai.OpenAI(base_url=base_url, api_key=key or "none", max_retries=retries, timeout=seconds)
    # The client takes these from OpenAI's own variables and would send them to any endpoint.
    client.organization = client.project = None
    return client


def as_unavailable(
    error: openai.OpenAIError | ValueError, base_url: str, model: str, secret: str | None, sent: str = ""
) -> ModelUnavailable:
    """What the client gave up with, as an error that names the endpoint and the reason, never the key.

    Long runs of `sent`, the text of the request, are taken out of the server's words as well.
    """
    import openai

    status = getattr(error, "status_code", None)
    said = _without_echo(_said(error, secret), sent)[:_LONGEST_REASON]
    if isinstance(error, openai.APITimeoutError):
        reason = "did not answer in time"
    elif isinstance(error, openai.APIConnectionError):
        reason = f"cannot be reached ({_said(error.__cause__ or error, secret)[:_LONGEST_REASON]})"
    elif status in (401, 403):
        reason = f"refuses the key ({status}): {said}"
    elif status == 404:
        reason = f"knows no model {model!r} or no such path (404): {said}"
    elif status == 429:
        reason = f"still limits the rate after all retries (429): {said}"
    elif status is not None:
        reason = f"answered {status}: {said}"
    else:
        reason = f"gave an answer that cannot be read: {said}"
    return ModelUnavailable(f"{base_url} {reason}", status=status, model=model)


def _said(error: BaseException, secret: str | None) -> str:
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    text = str(message or error)
    if secret:
        text = text.replace(secret, "***")
    # Servers like to quote the key, in part or whole, in the words of their refusal.
    text = re.sub(r"\b(sk|key|Bearer)[-_ ][\w*.-]{4,}", r"\1-***", text)
    return " ".join(text.split())[: 10 * _LONGEST_REASON]


def _without_echo(said: str, sent: str) -> str:
    sent = " ".join(sent.split())
    kept, at = [], 0
    while at < len(said):
        end = at + _ECHO
        if end > len(said) or said[at:end] not in sent:
            kept.append(said[at])
            at += 1
            continue
        while end < len(said) and said[at : end + 1] in sent:
            end += 1
        kept.append("…")
        at = end
    return "".join(kept)
