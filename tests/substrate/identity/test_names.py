"""Names taken apart and related, and identifiers in one spelling."""

from __future__ import annotations

import pytest

from substrate.identity.identifiers import Identifier, beside, read_identifier, ticket
from substrate.identity.names import clash, keys, read_name, relation

RELATED = """
same    | Halden Shipping Ltd | Halden Shipping
same    | Halden Shipping, Inc. | Halden Shipping GmbH
same    | Müller AG | Muller
same    | Smith & Sons | Smith and Sons
same    | Dr. Amara Nwosu | Amara Nwosu
same    | Nwosu, Amara | Amara Nwosu
same    | The Reef Office | Reef Office
same    | 华星科技有限公司 | 华星科技
same    | Banco do Sertão S.A. | Banco do Sertao
script  | 王小明 | Wang Xiaoming
script  | 李娜 | Na Li
script  | Сергей Иванов | Sergei Ivanov
script  | Наталья Орлова | Natalya Orlova
script  | Νίκος Αλεξίου | Nikos Alexiou
script  | Mueller Maschinenbau | Müller Maschinenbau
variant | Sergei Ivanov | Sergey Ivanov
variant | J. Smith | John Smith
variant | J. R. Smith | John Robert Smith
variant | Bill Tanaka | William Tanaka
variant | Maria C. Ruiz | Maria del Carmen Ruiz
variant | NRS | National Rail Survey
typo    | Margret Thornbury | Margaret Thornbury
variant | Pemberton Analitycs | Pemberton Analytics
typo    | Pembertn Analytics | Pemberton Analytics
none    | Marta Lindgren | Marta Lindberg
none    | Robert Ames | Roberta Ames
none    | Mario Rossi | Maria Rossi
none    | Alexander Frost | Alexandra Frost
none    | Li Na | Lin Na
none    | Building 7 | Building 9
none    | Version 2.1 | Version 2.2
none    | PAY-101 | PAY-102
none    | Acme | Acme Logistics
none    | University of Sarn | University of Sarn Press
none    | 天河集团 | 天河物流
none    | John Smith | Jane Smith
none    | Thomas A. Beck | Thomas B. Beck
"""
TABLE = [tuple(p.strip() for p in line.split("|")) for line in RELATED.strip().splitlines()]


@pytest.mark.parametrize(("wanted", "one", "other"), TABLE)
def test_two_names_are_related_so_in_either_order_and_are_compared(wanted, one, other):
    a, b = read_name(one), read_name(other)
    found = {relation(a, b, people=True) or "none", relation(b, a, people=True) or "none"}
    assert found == {wanted}
    if wanted != "none":
        assert set(keys(a)) & set(keys(b)), "what is related shares a key, or it would never be looked at"


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("John Smith", "Jane Smith", True),
        ("Ramona Castellanos", "Ricardo Castellanos", True),
        ("Thomas A. Beck", "Thomas B. Beck", True),
        ("J. Smith", "Jane Smith", False),
        ("Bill Tanaka", "William Tanaka", False),
        ("Hannah Brandt", "Hannah Vogel", False),
        ("Margret Thornbury", "Margaret Thornbury", False),
    ],
)
def test_no_one_person_bears_both_names(one, other, wanted):
    assert clash(read_name(one), read_name(other)) is wanted
    assert clash(read_name(other), read_name(one)) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Ada.Lovelace@Example.org", ("email", "ada.lovelace@example.org")),
        ("ada+news@example.org", ("email", "ada@example.org")),
        ("info@example.org", ("mailbox", "info@example.org")),
        ("https://www.example.org/", ("site", "example.org")),
        ("https://example.org/people/ada", None),
        ("https://github.com", None),
        ("https://github.com/ada", ("site", "github.com/ada")),
        ("0000-0002-1825-0097", ("orcid", "0000-0002-1825-0097")),
        ("https://orcid.org/0000-0002-9079-593x", ("orcid", "0000-0002-9079-593X")),
        ("0000-0002-1825-0098", None),
        ("529900T8BM49AURSDO55", ("lei", "529900T8BM49AURSDO55")),
        ("529900T8BM49AURSDO56", None),
        ("just words", None),
    ],
)
def test_an_identifier_has_one_spelling_and_its_check_digits_are_right(text, wanted):
    assert read_identifier(text) == (None if wanted is None else Identifier(*wanted))


def test_an_identifier_belongs_to_the_name_right_before_it():
    text = "Ana Ruiz (ana@acme.example, www.ruiz.example) met Bo Lund. bo@lund.example wrote to Ana Ruiz."
    assert list(beside(text, "Ana Ruiz")) == [
        Identifier("email", "ana@acme.example"),
        Identifier("site", "ruiz.example"),
    ]
    assert list(beside(text, "Bo Lund")) == []
    assert list(beside("Bo Lund, e-mail: bo@lund.example", "Bo Lund")) == [Identifier("email", "bo@lund.example")]
    assert ticket("OPS-412") == Identifier("ticket", "OPS-412") and ticket("Ops 412") is None
