"""Random sightings, taken in batches of any size and order: the same clusters always, and those of the whole set.

The sightings are made up; taking, placing, settling, merging, parting and moving are the product's.
"""

from __future__ import annotations

from itertools import count
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st

from substrate import sql
from substrate.bases import create_base
from substrate.db import NO_BASE
from substrate.documents.intake import PushItem, push
from substrate.identity.families import load_families, take
from substrate.identity.placing import place
from substrate.identity.settling import settle
from substrate.identity.sightings import Sighting
from substrate.ledger import open_door
from substrate.ledger.drafts import normalise_name
from substrate.ledger.verify import verify

NAMES = ("John Smith", "J. Smith", "Jane Smith", "Jon Smith", "Acme", "Acme Ltd", "Acme Logistics", "李娜", "Li Na")
FEATURES = (
    "f:works for>acme",
    "f:works for>brill",
    "f:leads>orion",
    "i:email:j@acme.example",
    "i:orcid:0000-0002-1825-0097",
    "i:orcid:0000-0001-5109-3700",
    "e:acme||",
    "e:brill||",
    "d:medicine",
    "d:sport",
    "a:Jane Smith",
    "a:Acme",
)
SIGHTING = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from([None, "person", "organization"]),
    st.frozensets(st.sampled_from(FEATURES), max_size=3),
)
DOCUMENTS = 6
SLUGS = count()


@pytest.fixture
def new_base(database):
    def made() -> tuple[UUID, list[UUID]]:
        slug = f"order-{next(SLUGS)}"
        with database.write(NO_BASE) as connection:
            kb_id = create_base(connection, slug, slug)
        items = [PushItem(f"d{i}", f"d{i}.txt", b"words", None, "", "text/plain", "") for i in range(DOCUMENTS)]
        push(database, kb_id, items, actor="person:Ada", via="rest")
        with database.read(kb_id) as connection:
            rows = connection.execute("select id from documents where kb_id = %s order by external_id", (kb_id,))
            return kb_id, [row["id"] for row in rows.fetchall()]

    return made


def told(database, base, documents, order, cuts):
    """Documents taken in that order, a transaction for each piece, settled after each. Returns the clusters."""
    kb_id, ids = base
    pieces, at = [], 0
    for size in cuts:
        pieces.append(order[at : at + size])
        at += size
    for piece in (*pieces, order[at:]):
        if not piece:
            continue
        with database.write(kb_id) as connection:
            with open_door(connection, kb_id, actor="pipeline", via="pipeline", action="entities resolved") as door:
                found = [s for i in piece for s in sightings(ids[i], documents[i])]
                changed = take(connection, kb_id, found, {ids[i] for i in piece})
                place(door, load_families(connection, kb_id, changed))
        settle(database, kb_id)
    with database.read(kb_id) as connection:
        rows = connection.execute(sql.query("identity_where_names_stand"), {"kb_id": kb_id}).fetchall()
        whole = load_families(connection, kb_id, {row["norm"] for row in rows})
        assert verify(connection, kb_id).ok
    clusters: dict[UUID, set[tuple[str, str]]] = {}
    for row in rows:
        clusters.setdefault(row["entity_id"], set()).add((row["external_id"], row["norm"]))
    wanted = {frozenset((p.norm, p.signature) for p in cluster) for cluster in whole.partition.clusters}
    return {frozenset(c) for c in clusters.values()}, wanted


def sightings(document_id, names):
    found = {}
    for name, kind, features in names:
        norm = normalise_name(name)
        found[norm] = Sighting(document_id, norm, name, kind, set(features))
    return list(found.values())


@tries(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.lists(SIGHTING, min_size=1, max_size=3), min_size=DOCUMENTS, max_size=DOCUMENTS),
    st.permutations(range(DOCUMENTS)),
    st.lists(st.integers(1, 3), max_size=4),
)
def test_batches_in_any_order_give_the_clusters_of_the_whole(database, new_base, documents, order, cuts):
    at_once = told(database, new_base(), documents, list(range(DOCUMENTS)), [])
    piecemeal = told(database, new_base(), documents, list(order), cuts)
    assert piecemeal == at_once
