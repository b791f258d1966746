"""Entities joined, parted and moved as documents come and go: on both clocks, and never against a person's word."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from substrate import sql
from substrate.db import EVERY_BASE
from substrate.documents.intake import delete
from substrate.documents.purge import purge
from substrate.errors import Conflict, NotFound
from substrate.identity import review
from substrate.ledger import open_door
from substrate.ledger.corrections import confirm_fact
from substrate.ledger.merges import merge, parted, revert_merge
from substrate.reads import resolve
from tests.substrate.ontology.lines import BY, new_lines

MEDIC = ("David Kim | works for | Mercy Hospital", "David Kim | treats | patients of the hospital")
PLAYER = ("David Kim | plays for | Seattle Sounders", "David Kim | scored in | the football match")
BARE = ("David Kim | leads | Orion",)
NAMED = ("Nordlink | known as | =Baltic Cable",)
OLD, NEW = ("Baltic Cable | acquired | Wire Works",), ("Nordlink | headquartered in | Riga",)
WORLD = {"medic": MEDIC, "player": PLAYER, "bare": BARE, "named": NAMED, "old": OLD, "new": NEW}


@pytest.fixture
def lines(database, settings):
    return new_lines(database, settings)


def clusters(lines):
    """Which names of which documents are one thing."""
    with lines.database.read(lines.kb_id) as connection:
        rows = connection.execute(sql.query("identity_where_names_stand"), {"kb_id": lines.kb_id}).fetchall()
    found: dict[object, set[tuple[str, str]]] = {}
    for row in rows:
        found.setdefault(row["entity_id"], set()).add((row["external_id"], row["norm"]))
    return {frozenset(c) for c in found.values()}


def one(lines, *wheres):
    """Are these names of these documents one thing?"""
    return any(set(wheres) <= cluster for cluster in clusters(lines))


def entity(lines, document, norm):
    with lines.database.read(lines.kb_id) as connection:
        rows = connection.execute(sql.query("identity_where_names_stand"), {"kb_id": lines.kb_id}).fetchall()
    return next(r["entity_id"] for r in rows if (r["external_id"], r["norm"]) == (document, norm))


def door(lines, actor="person:Ada"):
    class Opened:
        def __enter__(self):
            self.writing = lines.database.write(lines.kb_id)
            connection = self.writing.__enter__()
            self.door = open_door(connection, lines.kb_id, actor=actor, via="rest", action="tried")
            return self.door.__enter__()

        def __exit__(self, *error):
            return self.door.__exit__(*error) or self.writing.__exit__(*error)

    return Opened()


def candidates(lines):
    with lines.database.read(lines.kb_id) as connection:
        return review.list_doubts(connection, lines.kb_id, resolve(connection, lines.kb_id))["candidates"]


def test_a_second_bearer_of_a_name_parts_it_and_what_either_did_moves_with_it(lines):
    lines.tell("bare", *BARE)
    lines.tell("medic", *MEDIC)
    assert one(lines, ("bare", "david kim"), ("medic", "david kim"))
    before = lines.seq()
    at = """select count(distinct subject_id) from facts where kb_id = %s and predicate_key is distinct from 'known_as'
            and recorded_seq <= %s and (invalidated_seq is null or invalidated_seq > %s)"""
    assert lines.one(at, before, before) == 1
    lines.tell("player", *PLAYER)
    assert not one(lines, ("bare", "david kim"), ("medic", "david kim"))
    assert not one(lines, ("medic", "david kim"), ("player", "david kim"))
    assert lines.one(at, lines.seq(), lines.seq()) == 3, "facts follow the names that tell them"
    assert lines.one(at, before, before) == 1, "as of before there was one"
    assert lines.sound()
    shown = candidates(lines)
    assert len(shown) == 2 and all("several bear the name" in c["reasons"] for c in shown)
    assert all(c["one"]["sentences"] and c["other"]["sentences"] for c in shown)


def test_a_name_that_is_told_of_later_joins_two_entities_and_parts_them_when_the_document_goes(lines):
    lines.tell("old", *OLD)
    lines.tell("new", *NEW)
    assert not one(lines, ("old", "baltic cable"), ("new", "nordlink"))
    lines.tell("named", *NAMED)
    assert one(lines, ("old", "baltic cable"), ("new", "nordlink"), ("named", "nordlink"))
    assert lines.one("select count(*) from merges where kb_id = %s") == 1
    actor = "select t.actor from merges m join ledger_transaction t on t.kb_id = m.kb_id and t.seq = m.recorded_seq"
    assert lines.one(f"{actor} where m.kb_id = %s") == "pipeline"
    delete(lines.database, lines.kb_id, external_id="named", **BY)
    lines.run()
    assert not one(lines, ("old", "baltic cable"), ("new", "nordlink"))
    assert lines.one("select count(*) from reverts where kb_id = %s and merge_id is not null") == 1
    lines.tell("again", *NAMED)
    assert one(lines, ("old", "baltic cable"), ("new", "nordlink")), "its own revert does not bind the pipeline"
    assert lines.sound()


def test_a_person_who_parts_two_is_not_overridden_by_any_document(lines):
    for name in ("old", "new", "named"):
        lines.tell(name, *WORLD[name])
    with door(lines) as opened:
        merge_id = opened.connection.execute("select id from merges where kb_id = %s", (lines.kb_id,)).fetchone()["id"]
        revert_merge(opened, merge_id, "two companies")
    lines.tell("more", *NAMED, "Nordlink | acquired | Wire Works")
    ids = entity(lines, "old", "baltic cable"), entity(lines, "new", "nordlink")
    assert ids[0] != ids[1]
    with door(lines) as opened:
        assert parted(opened, *ids)
        with pytest.raises(Conflict, match="told these two apart"):
            merge(opened, *ids, automatic=True)
    assert lines.sound()


def test_a_pair_in_doubt_is_decided_by_a_person_either_way_and_taken_back(lines):
    lines.tell("a", "Ana Ruiz | works for | Acme", "Ana Ruiz | leads | Orion")
    lines.tell("b", "Ana Ruiz | works for | Brill", "Ana Ruiz | leads | Vega")
    (shown,) = candidates(lines)
    assert shown["reasons"] == ["same name", "different employers"]
    before = lines.seq()
    with door(lines) as opened:
        distinction = review.not_same(opened, shown["id"], "mother and daughter")
    assert candidates(lines) == []
    with lines.database.read(lines.kb_id) as connection:
        then = review.list_doubts(connection, lines.kb_id, resolve(connection, lines.kb_id, as_of=f"seq:{before}"))
    assert [c["id"] for c in then["candidates"]] == [shown["id"]], "as of before it was in doubt"
    lines.tell("c", "Ana Ruiz | works for | Acme", "Ana Ruiz | works for | Brill", "Ana Ruiz | leads | Vega")
    assert not one(lines, ("a", "ana ruiz"), ("b", "ana ruiz")), "a document that joins them does not"
    with door(lines) as opened, pytest.raises(Conflict, match="in doubt no more"):
        review.same(opened, shown["id"])
    with door(lines) as opened:
        review.take_back(opened, distinction)
    lines.run()
    assert one(lines, ("a", "ana ruiz"), ("b", "ana ruiz"), ("c", "ana ruiz"))
    with door(lines) as opened, pytest.raises(Conflict, match="taken back"):
        review.take_back(opened, distinction)
    assert lines.sound()


def test_a_person_says_that_two_are_one_and_documents_do_not_part_them(lines):
    lines.tell("a", "Ana Ruiz | works for | Acme", "Ana Ruiz | leads | Orion")
    lines.tell("b", "Ana Ruiz | works for | Brill", "Ana Ruiz | leads | Vega")
    (shown,) = candidates(lines)
    with door(lines) as opened:
        merge_id = review.same(opened, shown["id"], "I asked her")
    assert one(lines, ("a", "ana ruiz"), ("b", "ana ruiz"))
    lines.tell("c", "Ana Ruiz | works for | Cobalt", "Ana Ruiz | leads | Lyra")
    assert one(lines, ("a", "ana ruiz"), ("b", "ana ruiz"))
    assert candidates(lines), "the third is in doubt"
    with door(lines) as opened:
        revert_merge(opened, merge_id)
    lines.run()
    assert not one(lines, ("a", "ana ruiz"), ("b", "ana ruiz"))
    assert lines.sound()


def test_two_entities_may_be_told_apart_without_any_doubt(lines):
    lines.tell("a", "Ana Ruiz | leads | Orion")
    with door(lines) as opened, pytest.raises(NotFound, match="other"):
        review.distinguish(opened, entity(lines, "a", "ana ruiz"), opened.kb_id)
    ids = entity(lines, "a", "ana ruiz"), entity(lines, "a", "orion")
    with door(lines) as opened:
        review.distinguish(opened, *ids)
    with door(lines) as opened, pytest.raises(Conflict, match="before"):
        review.distinguish(opened, *reversed(ids))
    with lines.database.read(lines.kb_id) as connection:
        listed = review.list_distinctions(connection, lines.kb_id, resolve(connection, lines.kb_id))["distinctions"]
    assert [(d["by"], {d["one"]["name"], d["other"]["name"]}) for d in listed] == [
        ("person:Ada", {"Ana Ruiz", "Orion"})
    ]


def test_what_a_person_judged_of_a_name_keeps_it_where_it_stands(lines):
    lines.tell("bare", *BARE)
    lines.tell("medic", *MEDIC)
    stood = entity(lines, "bare", "david kim")
    with door(lines) as opened:
        row = opened.connection.execute(
            "select id from facts where kb_id = %s and phrase = 'leads' and invalidated_seq is null", (lines.kb_id,)
        ).fetchone()
        confirm_fact(opened, row["id"], "checked")
    lines.tell("player", *PLAYER)
    assert entity(lines, "bare", "david kim") == stood
    assert lines.sound()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_the_order_of_documents_does_not_matter(database, settings, seed):
    rng = random.Random(seed)
    found = []
    for i, order in enumerate(rng.sample(list(permutations(WORLD)), 2)):
        base = new_lines(database, settings, f"order-{seed}-{i}")
        for name in order:
            base.tell(name, *WORLD[name])
        found.append((clusters(base), sorted(fact[1:3] for fact in base.held())))
        assert base.sound()
    assert found[0] == found[1]


def test_a_purged_document_leaves_no_name_behind(lines):
    lines.tell("old", *OLD)
    lines.tell("new", *NEW)
    document = lines.one("select id from documents where kb_id = %s and external_id = 'old'")
    delete(lines.database, lines.kb_id, external_id="old", **BY)
    purge(lines.database, lines.kb_id, document, "asked to", **BY)
    for table in ("identity_profiles", "identity_keys"):
        assert lines.one(f"select count(*) from {table} where kb_id = %s and {table}::text ilike %s", "%baltic%") == 0
        assert lines.one(f"select count(*) from {table} where kb_id = %s and {table}::text ilike %s", "%nordlink%") > 0


def test_another_base_is_another_world(lines, database, settings):
    lines.tell("old", *OLD)
    other = new_lines(database, settings, "other")
    other.tell("old", *OLD)
    with database.read(EVERY_BASE) as connection:
        rows = connection.execute("select count(distinct entity_id) as n from identity_profiles").fetchone()
    assert rows["n"] == 4


def test_a_thing_that_a_text_does_not_name_is_another_in_every_document(lines):
    lines.tell("one", "contract | signed with | =Brill || project>project | unnamed")
    lines.tell("two", "contract | signed with | =Acme || project>project | unnamed")
    assert clusters(lines) == {frozenset({("one", "contract")}), frozenset({("two", "contract")})}
    lines.tell("three", "contract | signed with | =Cole")
    assert not one(lines, ("one", "contract"), ("three", "contract")), "nor is it what another text names so"
    lines.tell("four", "contract | signed with | =Dale")
    assert one(lines, ("three", "contract"), ("four", "contract")), "a name in lower case is a name"
    assert lines.sound()
