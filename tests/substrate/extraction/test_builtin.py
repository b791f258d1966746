"""The built-in extractor against sentences written for it: what they state, and what they do not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from substrate.errors import ModelUnavailable
from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.claims import Claim, Passage
from substrate.settings import Settings
from tests.substrate.extraction.spelling import ANCHOR, spelled

_HERE = Path(__file__).parent


@cache
def extractor() -> BuiltinExtractor:
    return BuiltinExtractor(Settings())


def read(*texts: str, **passage: object) -> list[tuple[Claim, ...]]:
    passages = [Passage(t, document_date=ANCHOR, document_date_precision="day", **passage) for t in texts]  # type: ignore[arg-type]
    return [e.claims for e in extractor().extract(passages)]


def cases(name: str) -> list[tuple[str, frozenset[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in (_HERE / name).read_text("utf-8").splitlines():
        if line.startswith("> "):
            found.append((line[2:], []))
        elif line.strip() and not line.startswith("#"):
            fields = [f.strip() for f in line.split("|")]
            while not fields[-1]:
                fields.pop()
            found[-1][1].append(" | ".join(fields))
    return [(s, frozenset(c)) for s, c in found]


def twins() -> list[tuple[str, str]]:
    plain, found = "", []
    for line in (_HERE / "builtin_moods.txt").read_text("utf-8").splitlines():
        if line.startswith("+ "):
            plain = line[2:]
        elif line.startswith("- "):
            found.append((plain, line[2:]))
    return found


_FILES = ("builtin_english.txt", "builtin_chinese.txt", "builtin_changes.txt", "builtin_business.txt")


@pytest.mark.parametrize(("sentence", "expected"), [case for name in _FILES for case in cases(name)])
def test_a_sentence_yields_what_it_states_and_nothing_else(sentence: str, expected: frozenset[str]) -> None:
    assert {spelled(c) for c in read(sentence)[0]} == expected


@pytest.mark.parametrize(("plain", "other"), twins())
def test_what_is_not_stated_as_so_never_comes_without_its_mood(plain: str, other: str) -> None:
    stated, modal = read(plain, other)
    assert [c for c in stated if c.mood is None], "the twin's fact must be found, or the zero below means nothing"
    assert [spelled(c) for c in modal if c.mood is None and not c.denies] == []


def test_the_case_files_are_as_large_as_they_claim() -> None:
    assert len(cases("builtin_english.txt")) + len(cases("builtin_chinese.txt")) >= 150
    assert len(twins()) >= 50


_STRUCTURES: list[tuple[str, Passage, set[str]]] = [
    (
        "key-value lines under a title that names their subject, dated by the block",
        Passage(
            "# Project Lantern charter\n\nLead: Mara Voss\nStart: 2024-03-01\nBudget: 200,000 EUR\n",
            title="Project Lantern charter",
        ),
        {"Mara Voss | leads | Project Lantern | 2024-03-01", "Project Lantern | budget | 200000 EUR | 2024-03-01"},
    ),
    (
        "a heading path stands for a title",
        Passage("项目负责人：李四\n开始日期：2024-07-05", heading_path=("晨光项目章程",)),
        {"李四 | leads | 晨光项目 | 2024-07-05"},
    ),
    (
        "a block that names its own subject",
        Passage(
            "Name: Mara Voss\nTitle: Senior Analyst\nEmployer: Brightwater\nEffective: 2024-01-01\nManager: Tobin Hale"
        ),
        {
            "Mara Voss | job title | Senior Analyst | 2024-01-01",
            "Mara Voss | works for | Brightwater | 2024-01-01",
            "Tobin Hale | manages | Mara Voss | 2024-01-01",
        },
    ),
    (
        "a ticket's key opens its first line, and its log says what was changed into what",
        Passage(
            "PAY-431 Card form rejects valid IBANs\nStatus: In Progress\nAssignee: Mara Voss\n\n"
            "2025-05-28 Priority raised from Medium to High by Mara Voss\n"
        ),
        {
            "PAY-431 | status | In Progress",
            "PAY-431 | assigned to | Mara Voss",
            "PAY-431 | priority | High | 2025-05-28",
            "PAY-431 | priority | Medium |  | 2025-05-28",
        },
    ),
    (
        "a log edits what its own words name, and nothing where it names nothing",
        Passage(
            "# CHANGELOG\n\n## 2025-05-20\n\n- Renamed the module `billing` to Ledgerline.\n"
            "- Search service owner: Mara Voss -> Tobin Hale\n- Maintainer changed from Mara Voss to Tobin Hale.\n"
        ),
        {
            "billing | known as | Ledgerline | 2025-05-20",
            "Tobin Hale | owns | Search service",
            "Mara Voss | owns | Search service |  | ?",
        },
    ),
    (
        "a column of suppliers under a company's name supplies it, and the rest of the row is theirs",
        Passage(
            "# Northgate Foods: suppliers\n\n| Supplier | Country | Price (EUR/t) |\n|---|---|---|\n"
            "| Ardent Grain | Poland | 310 |\n"
        ),
        {
            "Ardent Grain | supplies | Northgate Foods",
            "Ardent Grain | located in | Poland",
            "Ardent Grain | price | 310 EUR/t",
        },
    ),
    (
        "a heading that names a person is who she is, whatever acronyms and demonyms stand between",
        Passage(
            "# Dr. Mara Voss\n\nMara Voss is a Nigerian-British chemist. She studied at Kingsmead College and left ETH "
            "in 2011. From 2012 to 2016 she worked at Novarum."
        ),
        {
            "Mara Voss | job title | chemist",
            "Mara Voss | studied at | Kingsmead College |  | ?",
            "Mara Voss | works for | ETH |  | 2012",
            "Mara Voss | works for | Novarum | 2012 | 2017",
        },
    ),
    (
        "items of a list in short form; a bracket that dates nothing says nothing",
        Passage(
            "## Renewals\n\n1. Oakley & Reed, GBP 18,000, 30 June 2025\n\n## Actions\n\n"
            "- Badge printers: ordered, EUR 3,200\n- Domain move: completed by Mara Voss on 25 July 2025\n"
            "- Insurance: owner is Tobin Hale\n\n## Leavers\n\n- Tobin Hale, Tax (last day 11 July 2025)\n"
            "- Mara Voss, Paris (visiting 3 May 2025)\n"
        ),
        {
            "Oakley & Reed | price | 18000 GBP",
            "Oakley & Reed | renewal date | 30 June 2025 | 2025-06-30 | 2025-07-01 | =",
            "Badge printers | status | ordered",
            "Badge printers | price | 3200 EUR",
            "Domain move | status | completed | 2025-07-25",
            "Mara Voss | completed | Domain move | 2025-07-25 | 2025-07-26 | =",
            "Tobin Hale | owns | Insurance",
            "Tobin Hale | member of | Tax |  | 2025-07-12",
            "Tobin Hale | ended on | 11 July 2025 | 2025-07-11 | 2025-07-12 | =",
        },
    ),
    (
        "a signature says who signed; a name alone under thanks says nothing",
        Passage("See you soon.\n--\nTobin Hale\nHead of Sales | Altamar Ltd\n+31 20 555 0142\n"),
        {
            "Tobin Hale | job title | Head of Sales",
            "Tobin Hale | works for | Altamar Ltd",
            "Tobin Hale | phone | +31 20 555 0142",
        },
    ),
    ("no role below a name, no signature", Passage("See you soon.\nRegards\nTobin Hale\n+31 20 555 0142\n"), set()),
    (
        "labels in one line are of what opens it",
        Passage("NET-330 | Priority: High | Assigned to: Tobin Hale\n"),
        {"NET-330 | priority | High", "NET-330 | assigned to | Tobin Hale"},
    ),
    (
        "the first label names what a block is about, if things are so called",
        Passage("Service: invoice-render\nOwner: Tobin Hale\nTier: 2\n"),
        {"Tobin Hale | owns | invoice-render", "invoice-render | tier | 2"},
    ),
    ("a block whose first label names no thing", Passage("Mood: fine\nOwner: Tobin Hale\nTier: 2\n"), set()),
    (
        "a table of tasks",
        Passage("| Task | Responsible | Deadline |\n|---|---|---|\n| Stock count | Tobin Hale | 30.04.2026 |\n"),
        {"Tobin Hale | responsible for | Stock count", "Stock count | deadline | 30.04.2026"},
    ),
    (
        "it is what the sentence before is about",
        Passage("The mail relay is hosted in Porto. It costs 300 EUR."),
        {"mail relay | located in | Porto", "mail relay | price | 300 EUR"},
    ),
    ("it is nobody", Passage("Tobin Hale met Ines Roca in Porto. It costs 300 EUR."), set()),
    (
        "a heading with a coined name and what it is, over two columns",
        Passage("## Vireo S2 soundbar\n\n| Property | Value |\n|---|---|\n| Weight | 2.9 kg |\n| Colour | red |\n"),
        {"Vireo S2 soundbar | weight | 2.9 kg", "Vireo S2 soundbar | colour | red"},
    ),
    (
        "a contact is reached at the address beside the name",
        Passage("Customer: Bracken Hotels\nContract value: EUR 96,000\nContact: Imke Roca, imke@bracken.example\n"),
        {
            "Bracken Hotels | contract value | 96000 EUR",
            "Bracken Hotels | contact person | Imke Roca",
            "Imke Roca | email | imke@bracken.example",
        },
    ),
    (
        "she for whom somebody stands in is who the sentence before is about",
        Passage("Mara Voss is on parental leave. Tobin Hale is standing in for her."),
        {"Mara Voss | status | on parental leave", "Tobin Hale | stands in for | Mara Voss"},
    ),
    (
        "a credit line says who does what where; the same with a verb is prose",
        Passage("Media contact\n\nMara Voss, Head of Communications, Altis Energy\nvoss@altis.example\n"),
        {
            "Mara Voss | job title | Head of Communications",
            "Mara Voss | works for | Altis Energy",
            "Mara Voss | email | voss@altis.example",
        },
    ),
    (
        "a label behind prose is of what the prose is about",
        Passage("Ferrybox is the queue of the Porto plant. Maintainer: Mara Voss. Current version: 5.2.1."),
        {"Mara Voss | maintains | Ferrybox", "Ferrybox | current version | 5.2.1"},
    ),
    (
        "a log says which version came in place of which",
        Passage("# Changelog\n\n- Bumped OpenSSL from 3.0.13 to 3.0.15\n- Bumped into an old friend\n"),
        {"OpenSSL | version | 3.0.15", "OpenSSL | version | 3.0.13 |  | ?"},
    ),
    (
        "the workshop, if none was named; the company never",
        Passage("The workshop takes place on 3 June 2025. The company employs 30 people."),
        {"workshop | takes place on | 3 June 2025 | 2025-06-03 | 2025-06-04 | ="},
    ),
    (
        "its director, where the sentence opens so, is of what the sentence before is about",
        Passage("Sandoval Foods uses Ferrybox. Its IT director, Mara Voss, met Tobin Hale."),
        {
            "Sandoval Foods | uses | Ferrybox",
            "Mara Voss | job title | IT director",
            "Mara Voss | works for | Sandoval Foods",
        },
    ),
    (
        "an address at the end of a credit line is the person's",
        Passage("Mara Voss, Head of Communications, Altis Energy voss@altis.example\n"),
        {
            "Mara Voss | job title | Head of Communications",
            "Mara Voss | works for | Altis Energy",
            "Mara Voss | email | voss@altis.example",
        },
    ),
    (
        "who contributed what a bracket says, and not who is mentioned in it",
        Passage("# Changelog\n\n- Export to Parquet (contributed by Mara Voss)\n- Import (see Tobin Hale)\n"),
        {"Mara Voss | contributed | Export to Parquet"},
    ),
    (
        "a second name begins a second record",
        Passage("Employee: Mara Voss\nSalary: 100 EUR\nFrom: 2024-01-01\nEmployee: Tobin Hale\nSalary: 200 EUR"),
        {"Mara Voss | salary | 100 EUR | 2024-01-01", "Tobin Hale | salary | 200 EUR"},
    ),
    (
        "a title that names nothing gives no subject",
        Passage("# Weekly report\n\nStatus: green\nLead: Mara Voss"),
        set(),
    ),
    (
        "bullets under a heading of roles",
        Passage("## Team leads\n\n- Project Lantern: Mara Voss\n- Project Ember: Tobin Hale (since 2024-02-01)\n"),
        {"Mara Voss | leads | Project Lantern", "Tobin Hale | leads | Project Ember | 2024-02-01"},
    ),
    (
        "a memo's address lines are no facts",
        Passage("To: Mara Voss\nFrom: Tobin Hale\nDate: 2024-02-01\n\nMara Voss leads Project Lantern."),
        {"Mara Voss | leads | Project Lantern"},
    ),
    (
        "a table with units in the header and dates by row; empty cells say nothing",
        Passage(
            "Employee | Title | Salary (CNY) | From | To\nMara Voss | Analyst | 28,000 | 2023-01-01 | "
            "2023-12-31\nTobin Hale | Clerk |  | 2022-05-01 | ",
            header=("Employee", "Title", "Salary (CNY)", "From", "To"),
            rows=(
                ("Mara Voss", "Analyst", "28,000", "2023-01-01", "2023-12-31"),
                ("Tobin Hale", "Clerk", "", "2022-05-01", ""),
            ),
        ),
        {
            "Mara Voss | job title | Analyst | 2023-01-01 | 2024-01-01",
            "Mara Voss | salary | 28000 CNY | 2023-01-01 | 2024-01-01",
            "Tobin Hale | job title | Clerk | 2022-05-01",
        },
    ),
    (
        "a column of leads turns the relation around",
        Passage(
            "Project | Lead | Since\nLantern | Mara Voss | 2023-04-01",
            header=("Project", "Lead", "Since"),
            rows=(("Lantern", "Mara Voss", "2023-04-01"),),
        ),
        {"Mara Voss | leads | Lantern | 2023-04-01"},
    ),
    (
        "a Chinese table",
        Passage(
            "姓名 | 职位 | 月薪（元） | 生效日期\n王五 | 工程师 | 28000 | 2023-06-01",
            header=("姓名", "职位", "月薪（元）", "生效日期"),
            rows=(("王五", "工程师", "28000", "2023-06-01"),),
        ),
        {"王五 | job title | 工程师 | 2023-06-01", "王五 | salary | 28000 CNY | 2023-06-01"},
    ),
    (
        "a table written with pipes",
        Passage("| Project | Owner |\n|---|---|\n| Lantern | Mara Voss |\n"),
        {"Mara Voss | owns | Lantern"},
    ),
    (
        "a change log line is dated by its date",
        Passage("# Change log\n\n- 2024-07-05: Mara Voss took over Project Lantern from Tobin Hale.\n"),
        {
            "Mara Voss | leads | Project Lantern | 2024-07-05",
            "Tobin Hale | leads | Project Lantern | | 2024-07-05".replace("| |", "|  |"),
        },
    ),
    (
        "one person before her, one company before it",
        Passage("Mara Voss joined Brightwater in 2021. She leads Project Lantern since 2022."),
        {"Mara Voss | works for | Brightwater | 2021", "Mara Voss | leads | Project Lantern | 2022"},
    ),
    (
        "two persons before her: nobody can tell",
        Passage("Mara Voss met Ines Roca. She leads Project Lantern."),
        set(),
    ),
    (
        "a known speaker says I",
        Passage("I work for Brightwater.", speaker="Mara Voss"),
        {"Mara Voss | works for | Brightwater"},
    ),
    ("an unknown speaker says I", Passage("I work for Brightwater."), set()),
]


@pytest.mark.parametrize(("why", "passage", "expected"), _STRUCTURES, ids=[s[0] for s in _STRUCTURES])
def test_structure_is_read_as_a_reader_would(why: str, passage: Passage, expected: set[str]) -> None:
    assert {spelled(c) for c in extractor().extract([passage])[0].claims if c.mood is None} == expected


def test_what_cannot_be_attached_is_counted() -> None:
    found = extractor().extract(
        [Passage("Mara Voss met Ines Roca. She leads Project Lantern."), Passage("I work for Brightwater.")]
    )
    assert [[(d.code, d.example) for d in e.drops if d.code == "pronoun_subject"] for e in found] == [
        [("pronoun_subject", "She leads Project Lantern.")],
        [("pronoun_subject", "I work for Brightwater.")],
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Ilse Marsh left on 3 May 2021.", "no_object"),
        ("陆远于2021年5月3日离职。", "no_object"),
        ("陆远在北辰公司任职。陆远加入远洋集团。陆远于2021年5月3日离职。", "no_object"),
        ("Ilse Marsh leads Project Kestrel.\nOmar Reyes took over on 3 May 2021.", "no_object"),
        ("Ilse Marsh leads Project Kestrel.\nOmar Reyes took over the same day.", "no_frame"),
        ("Dana Whitlow of Brightwater Ltd. led Project Kestrel until Omar Reyes took over on 3 May 2021.", "no_object"),
        ("秦岚接替陆远打扫星河项目。", "no_frame"),
        ("免去李建国远山集团总经理职务。", "no_frame"),
        ("如果免去陆远的星河项目负责人职务，由秦岚接任。", "no_frame"),
        ("Quillon was named Corvane on 3 May 2021.", "no_frame"),
    ],
)
def test_a_sentence_with_names_is_never_lost_without_a_drop(text: str, code: str) -> None:
    (found,) = extractor().extract([Passage(text)])
    assert [d.code for d in found.drops] == [code]


def test_a_name_that_stands_elsewhere_too_says_where_another_ends() -> None:
    sentence = "免去李建国远山集团总经理职务。"
    (told,) = extractor().extract([Passage(sentence, title="远山集团任免通知")])
    assert [spelled(c) for c in told.claims] == ["李建国 | job title | 总经理 |  | ?"]


def test_a_period_of_pay_is_kept_beside_its_currency() -> None:
    (claim,) = read("Mara Voss earns $4,500 per month.")[0]
    assert claim.value is not None
    assert (claim.value.unit, claim.value.datatype, claim.qualifiers) == ("USD", "money", (("per", "month"),))


def test_a_price_rides_on_the_acquisition() -> None:
    claim, owned = read("Brightwater acquired Corvane in March 2023 for $4 million.")[0]
    assert claim.qualifiers == (("price", "$4 million"),)
    assert (owned.phrase, owned.qualifiers) == ("owns", ())


_WORDS = st.sampled_from(
    """Mara Voss leads led Project Lantern the of from to 2024-07-05 in 2023 on and or , . ; : ( ) not will if " ' — - |
    Correction: should read was wrongly stated as salary 28,000 CNY $4 million CEO head former replaced by took over
    She it I # ## * 1. \n \n\n 张三 负责 项目 的 月薪 将 由 不再 自 起 ， 。 ： 更名为 更正： （原名 ）
    第 \u0001 \u200b 🙂 Name: Lead: From: a""".split(" ")
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(_WORDS, _WORDS, _WORDS, st.text(max_size=6)), max_size=40).map(" ".join))
def test_any_text_is_read_without_an_error_and_every_quote_stands_where_it_says(text: str) -> None:
    (first,) = extractor().extract([Passage(text, title="Project Lantern charter", speaker="Mara Voss")])
    (again,) = extractor().extract([Passage(text, title="Project Lantern charter", speaker="Mara Voss")])
    assert first == again
    for claim in first.claims:
        assert text[claim.quote_start : claim.quote_end] == claim.quote
        assert claim.quote
        assert (claim.object is None) != (claim.value is None)
        assert claim.subject
        assert claim.phrase


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(["Name", "Lead", "From", "Mara Voss", "2024", "", "5 EUR", "负责人"]),
                st.text(max_size=5),
            ),
            min_size=1,
            max_size=4,
        ),
        max_size=4,
    )
)
def test_any_table_is_read_without_an_error(rows: list[list[str]]) -> None:
    text = "\n".join(" | ".join(r) for r in rows)
    header = tuple(rows[0]) if rows else ()
    passage = Passage(text, header=header, rows=tuple(tuple(r) for r in rows[1:]))
    for claim in extractor().extract([passage])[0].claims:
        assert text[claim.quote_start : claim.quote_end] == claim.quote


def test_the_order_and_the_company_of_passages_change_nothing() -> None:
    texts = [s for s, _ in cases("builtin_english.txt")[:40]]
    assert read(*texts) == [read(t)[0] for t in texts]
    assert read(*texts[::-1])[::-1] == read(*texts)


def test_every_phrase_of_the_tables_is_written_down_for_ontologies() -> None:
    from substrate.extraction.builtin import chinese_verbs, chinese_words, fields, frames_values, roles, verbs

    stated = {r.phrase for r in verbs.RELATIONS.values()} | set(verbs.STARTED_ON.values())
    stated |= set(roles.RELATION_OF_ROLE.values()) | set(roles.MIRRORED.values())
    stated |= set(chinese_words.RELATION_OF_ROLE.values()) | {p.phrase for p in chinese_verbs.PATTERNS if p.phrase}
    stated |= set(fields._ENTITY_PHRASES.values()) | set(frames_values.PLAIN_ATTRIBUTE.values())
    readme = (Path(frames_values.__file__).parent / "README.md").read_text("utf-8")
    assert [p for p in sorted(stated) if f"`{p}`" not in readme] == []


def test_a_missing_parser_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        BuiltinExtractor(Settings(models_dir=tmp_path)).extract([Passage("Mara Voss leads Project Lantern.")])
