"""People who sign in by an identity provider: one row for each sign-in that has begun, and who a subject is to us."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from substrate import sql
from substrate.access.people import create_person
from substrate.access.token_shape import digest
from substrate.db import WriteConnection
from substrate.errors import Forbidden

MINUTES = 10
"""How long a person may take at the provider."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in that has begun: what the provider's answer is judged by, and where the person goes then."""

    nonce: str
    verifier: str
    next: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the provider says it is. The address is verified."""

    issuer: str
    subject: str
    email: str
    name: str


def begin(conn: WriteConnection, state: str, browser: str, begun: Begun) -> None:
    """Keep what a sign-in is judged by; state and the browser's cookie as hashes alone. What is too old goes."""
    bound = {"state": digest(state), "browser": digest(browser), "minutes": MINUTES}
    more = {"nonce": begun.nonce, "verifier": begun.verifier, "next": begun.next}
    conn.execute(sql.query("signin_begin"), bound | more)


def take(conn: WriteConnection, state: str, browser: str) -> Begun:
    """What was kept for a state, which is good once and in the browser that began it. Raises `Forbidden`."""
    row = conn.execute(sql.query("signin_take"), {"state": digest(state), "browser": digest(browser)}).fetchone()
    if row is None:
        raise Forbidden("this sign-in was used, is too old or began in another browser; begin again", field="state")
    return Begun(row["nonce"], row["verifier"], row["next"])


def person_of(conn: WriteConnection, identity: Identity, domains: Collection[str]) -> UUID:
    """The person of an identity: the one who signed in with it before, else who was added by the address.

    Somebody new is made where the address's domain is one of `domains`; nobody else is let in (`Forbidden`), and
    neither is who came before and whose domain is allowed no longer.
    """
    known = {"issuer": identity.issuer, "subject": identity.subject, "email": identity.email}
    row = conn.execute(sql.query("signin_person"), known).fetchone()
    allowed = identity.email.rpartition("@")[2].lower() in domains
    if domains and not allowed:
        raise Forbidden("people of this e-mail domain do not sign in here", field="email")
    if row is None and not allowed:
        raise Forbidden("nobody here has this e-mail address; an admin of a base adds people by it", field="email")
    person_id: UUID = row["id"] if row is not None else create_person(conn, identity.name, identity.email)
    conn.execute(sql.query("signin_know"), {**known, "person_id": person_id})
    return person_id
