"""People, their roles and tokens, and what a token may do.

A base that a token cannot see does not exist for it.
"""

from substrate.access.people import (
    Role,
    adopt_bases,
    create_person,
    list_members,
    person_named,
    remove_member,
    set_member,
)
from substrate.access.principals import (
    Access,
    Principal,
    admit,
    authenticate,
    may_write,
    note_use,
    record_access,
    visible_bases,
)
from substrate.access.tokens import IssuedToken, Scope, issue_token, list_tokens, revoke_token
from substrate.access.verdicts import must_not_be_own

__all__ = [
    "Access",
    "IssuedToken",
    "Principal",
    "Role",
    "Scope",
    "admit",
    "adopt_bases",
    "authenticate",
    "create_person",
    "issue_token",
    "list_members",
    "list_tokens",
    "may_write",
    "must_not_be_own",
    "note_use",
    "person_named",
    "record_access",
    "remove_member",
    "revoke_token",
    "set_member",
    "visible_bases",
]
