"""Who may do what in a base is said by its admins and owners, and a base is never without an owner."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from substrate import access
from substrate.db import EVERY_BASE


@pytest.fixture
def staff(server, database):
    """An owner and an admin of the base with a writing token each, besides Ada the editor and Eve the viewer."""
    made = {}
    with database.write(EVERY_BASE) as conn:
        for name, role in (("Olga", "owner"), ("Adam", "admin")):
            person = access.create_person(conn, name, f"{name.lower()}@example.org")
            access.set_member(conn, server.kb, person, role)
            secret = access.issue_token(conn, person, "desk", scope="write").secret
            made[name.lower()] = (person, server.client(secret))
        for name in ("Ada", "Eve"):
            made[name.lower()] = (access.person_named(conn, name), None)
    yield made
    for _, client in made.values():
        if client is not None:
            client.close()


def _path(server, person=None) -> str:
    return f"/api/v1/kbs/{server.kb}/members" + ("" if person is None else f"/{person}")


def _roles(server, client) -> dict[str, str]:
    return {m["name"]: m["role"] for m in client.get(_path(server)).json()["members"]}


def test_an_admin_gives_and_takes_every_role_but_that_of_an_owner(server, staff):
    olga, owner = staff["olga"]
    eve, _ = staff["eve"]
    adam, admin = staff["adam"]
    with server.client(server.tokens.viewer) as reader:
        assert reader.get(f"/api/v1/kbs/{server.kb}").json()["may_write"] is False
        assert admin.put(_path(server, eve), json={"role": "editor"}).status_code == 200
        assert reader.get(f"/api/v1/kbs/{server.kb}").json()["may_write"] is True
        assert admin.put(_path(server, eve), json={"role": "owner"}).status_code == 403
        for method, body in (("PUT", {"role": "viewer"}), ("DELETE", None)):
            assert admin.request(method, _path(server, olga), json=body).status_code == 403
        assert admin.delete(_path(server, eve)).status_code == 200
        assert reader.get(f"/api/v1/kbs/{server.kb}").status_code == 404
    assert admin.put(_path(server, eve), json={"role": "viewer"}).status_code == 404
    assert admin.delete(_path(server, eve)).status_code == 404
    assert owner.put(_path(server, adam), json={"role": "owner"}).status_code == 200
    assert _roles(server, owner) == {"Ada": "editor", "Adam": "owner", "Olga": "owner"}


def test_a_person_is_added_by_the_address_they_will_sign_in_with(server, staff):
    _, admin = staff["adam"]
    made = admin.post(_path(server), json={"email": "nina@example.org", "role": "viewer"})
    again = admin.post(_path(server), json={"email": "NINA@example.org", "role": "editor"})
    assert (made.status_code, again.status_code) == (201, 201)
    assert made.json()["person_id"] == again.json()["person_id"]
    assert _roles(server, admin)["nina@example.org"] == "editor"
    for bad in ({"email": "nobody", "role": "viewer"}, {"email": "a@b.example", "role": "king"}, {"role": "viewer"}):
        assert admin.post(_path(server), json=bad).status_code == 422
    assert admin.post(_path(server), json={"email": "o@example.org", "role": "owner"}).status_code == 403
    assert admin.put(_path(server, access.PUBLIC), json={"role": "viewer"}).status_code == 404


def test_the_last_owner_cannot_leave_and_others_can(server, staff):
    olga, owner = staff["olga"]
    adam, admin = staff["adam"]
    for method, body in (("DELETE", None), ("PUT", {"role": "viewer"})):
        answer = owner.request(method, _path(server, olga), json=body)
        assert (answer.status_code, answer.json()["field"]) == (409, "person_id")
    ada, _ = staff["ada"]
    with server.client(server.tokens.read) as reads, server.client(server.tokens.write) as writes:
        assert reads.delete(_path(server, ada)).status_code == 403
        assert writes.delete(_path(server, adam)).status_code == 403
        assert writes.delete(_path(server, ada)).status_code == 200
        assert writes.get(f"/api/v1/kbs/{server.kb}").status_code == 404
    assert owner.put(_path(server, adam), json={"role": "owner"}).status_code == 200
    assert owner.delete(_path(server, olga)).status_code == 200
    assert owner.get(_path(server)).status_code == 404
    assert admin.delete(_path(server, adam)).status_code == 409


def test_of_two_owners_who_leave_at_once_one_stays(server, staff):
    olga, owner = staff["olga"]
    adam, admin = staff["adam"]
    assert owner.put(_path(server, adam), json={"role": "owner"}).status_code == 200
    with ThreadPoolExecutor(2) as pool:
        going = [pool.submit(c.delete, _path(server, p)) for c, p in ((owner, olga), (admin, adam))]
        assert sorted(g.result().status_code for g in going) == [200, 409]
    stays = [c for c in (owner, admin) if c.get(_path(server)).status_code == 200]
    assert len(stays) == 1
    assert _roles(server, stays[0]).get("Olga", _roles(server, stays[0]).get("Adam")) == "owner"
