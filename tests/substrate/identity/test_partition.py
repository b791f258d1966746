"""Who is who is a function of the set of profiles: whatever their order, and never against what bars two of them."""

from __future__ import annotations

import random
from itertools import combinations, product
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from substrate.identity.clusters import partition
from substrate.identity.evidence import Profile, judge
from substrate.identity.names import read_name

GIVEN, FAMILY = ("John", "Jane", "J.", "Jon", "Bill", "William"), ("Smith", "Smyth", "Tanaka")
NAMES = [f"{g} {f}" for g, f in product(GIVEN, FAMILY)] + ["Acme", "Acme Ltd", "Acme Logistics", "李娜", "Li Na", "NRS"]
FEATURES = [
    "f:works for>acme",
    "f:works for>brill",
    "f:leads>orion",
    "f:owns>acme logistics",
    "i:email:j@acme.example",
    "i:orcid:0000-0002-1825-0097",
    "i:orcid:0000-0001-5109-3700",
    "e:acme||",
    "e:brill||",
    "e:brill|2020-01-01|",
    "e:acme|2015-01-01|",
    "d:medicine",
    "d:sport",
    "a:Jane Tanaka",
    "a:NRS",
    "x:john smyth",
]
KINDS = [None, "person", "organization", "project"]


def profile(name: str, kind: str | None, *features: str, entities: frozenset[UUID] = frozenset()) -> Profile:
    signature = "|".join([kind or "", *sorted(features)])
    return Profile(read_name(name).core, signature, name, kind, frozenset(features), entities)


PROFILES = st.builds(
    lambda name, kind, features: profile(name, kind, *features),
    st.sampled_from(NAMES),
    st.sampled_from(KINDS),
    st.sets(st.sampled_from(FEATURES), max_size=3),
)


def clusters(profiles, told_apart=()):
    found = partition(profiles, lambda a, b: judge(a, b, told_apart))
    return {frozenset(p.digest for p in c) for c in found.clusters}, {
        frozenset(p.digest for p in d.pair) for d in found.doubts
    }


@tries(max_examples=150)
@given(st.lists(PROFILES, max_size=9, unique_by=lambda p: p.digest), st.randoms(use_true_random=False))
def test_the_order_of_profiles_does_not_matter(profiles, rng):
    shuffled = rng.sample(profiles, len(profiles))
    assert clusters(profiles) == clusters(shuffled)


@tries(max_examples=150)
@given(st.lists(PROFILES, max_size=8, unique_by=lambda p: p.digest))
def test_no_cluster_holds_two_that_are_barred_and_every_profile_is_in_one(profiles):
    found = partition(profiles, judge)
    assert sorted(p.digest for c in found.clusters for p in c) == sorted(p.digest for p in profiles)
    for cluster in found.clusters:
        assert all(judge(a, b).bar != "hard" for a, b in combinations(cluster, 2))


@tries(max_examples=150)
@given(PROFILES, PROFILES)
def test_a_verdict_is_the_same_in_either_order(one, other):
    assert judge(one, other) == judge(other, one)


def test_namesakes_are_one_until_something_tells_them_apart():
    bare, medic, player = (
        profile("John Smith", "person"),
        profile("John Smith", "person", "e:mercy hospital||", "d:medicine"),
        profile("John Smith", "person", "e:rovers||", "d:sport"),
    )
    assert len(clusters([bare, medic])[0]) == 1
    apart, doubts = clusters([bare, medic, player])
    assert len(apart) == 3, "the bare one goes as well with either and so with neither"
    assert doubts == {frozenset((bare.digest, medic.digest)), frozenset((bare.digest, player.digest))}
    both = profile("John Smith", "person", "e:mercy hospital||", "e:rovers||", "f:works for>rovers", "d:sport")
    player = profile("John Smith", "person", "e:rovers||", "f:works for>rovers", "d:sport")
    assert len(clusters([player, both])[0]) == 1, "a fact in common joins them whatever else they do"


def test_one_job_after_the_other_is_one_person():
    early, late = (
        profile("Ana Ruiz", "person", "e:acme|2015-01-01|"),
        profile("Ana Ruiz", "person", "e:brill|2020-01-01|"),
    )
    assert len(clusters([early, late])[0]) == 1
    undated = profile("Ana Ruiz", "person", "e:brill||")
    assert len(clusters([early, undated])[0]) == 2


def test_an_initial_that_fits_two_people_joins_neither():
    works = "f:works for>acme"
    john, jane, initial = (profile(n, "person", works) for n in ("John Smith", "Jane Smith", "J. Smith"))
    assert len(clusters([john, initial])[0]) == 1
    assert len(clusters([john, jane, initial])[0]) == 3


def test_a_subsidiary_is_not_its_parent_and_a_legal_form_is_no_name():
    parent, child = profile("Acme", "organization", "f:owns>acme logistics"), profile("Acme Logistics", "organization")
    lawful = profile("Acme GmbH", "organization")
    assert len(clusters([parent, child, lawful])[0]) == 2


def test_an_identifier_decides_alone_and_another_one_keeps_apart():
    mail, other_mail = "i:email:j@acme.example", "i:email:k@acme.example"
    assert len(clusters([profile("Sofia L.", None, mail), profile("Sofia Lind", "person", mail)])[0]) == 1
    assert len(clusters([profile("Sofia L.", None, mail), profile("Sofia Lind", "person", other_mail)])[0]) == 2
    orcids = [profile("Leo Winter", "person", f"i:orcid:{o}", "f:works for>acme") for o in ("1", "2")]
    assert len(clusters(orcids)[0]) == 2


def test_what_a_person_told_apart_stays_apart():
    one, other = uuid4(), uuid4()
    mail = "i:email:j@acme.example"
    profiles = [
        profile("Ana Ruiz", "person", mail, entities=frozenset({one})),
        profile("Ana Ruiz", None, mail, entities=frozenset({other})),
    ]
    assert len(clusters(profiles)[0]) == 1
    assert len(clusters(profiles, {frozenset((one, other))})[0]) == 2


def test_a_chain_of_typing_errors_is_one_name_and_a_text_that_uses_both_tells_them_apart():
    leads = "f:leads>apogee"
    chain = [profile(n, "person", leads) for n in ("Katherine Johnsson", "Katherine Johnson", "Katherine Jonhson")]
    assert len(clusters(chain)[0]) == 1
    two = [profile("Irene Castle", "person", leads, "x:irene castel"), profile("Irene Castel", "person", leads)]
    assert len(clusters(two)[0]) == 2


def test_shuffled_for_good_measure():
    rng = random.Random(7)
    pool = [profile(n, k, *rng.sample(FEATURES, 2)) for n, k in product(NAMES, KINDS)]
    pool = list({p.digest: p for p in pool}.values())
    first = clusters(pool)
    for _ in range(5):
        assert clusters(rng.sample(pool, len(pool))) == first
