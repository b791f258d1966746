"""Documents of every format read as a reader would, and every bad one refused by name."""

from __future__ import annotations

import importlib.util
import multiprocessing
import socket
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from substrate.documents.blocks import Block, DocumentDate, ParsedDocument
from substrate.documents.parsing import DEFAULT, Limits, ParserPool, parse, parse_isolated
from substrate.errors import DocumentRejected

_spec = importlib.util.spec_from_file_location("making", Path(__file__).with_name("making.py"))
assert _spec is not None
assert _spec.loader is not None
making = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(making)

HEADER = ("Name", "Role", "Salary")
ROWS = (("Mia Chen", "Chief Executive", "12,000"), ("Bo Li", "Deputy", "9,000"))
PUBLISHED = DocumentDate(datetime(2024, 7, 5, tzinfo=UTC), "day", "content", "Date: 5 July 2024")


def shown(document: ParsedDocument) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, block.text) for block in document.blocks]


def tables(document: ParsedDocument) -> list[Block]:
    return [block for block in document.blocks if block.kind == "table"]


def refusal(content: bytes, name: str, **options: object) -> DocumentRejected:
    with pytest.raises(DocumentRejected) as caught:
        parse(content, name, **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith(name)
    return caught.value


@pytest.fixture(scope="module")
def pool() -> ParserPool:
    with ParserPool() as made:
        yield made


# -- formats ---------------------------------------------------------------------------------------------


def test_docx_keeps_levels_lists_and_merged_cells() -> None:
    document = parse(making.docx_file(), "report.docx")
    assert document.title == "Annual Report"
    assert document.date == PUBLISHED
    assert shown(document)[:7] == [
        ("heading", 1, "Annual Report"),
        ("paragraph", 0, "Date: 5 July 2024"),
        ("heading", 2, "Leadership"),
        ("paragraph", 0, "Mia Chen has led Acme since March 2021."),
        ("heading", 3, "Pay"),
        ("paragraph", 0, "The roles are:"),
        ("list_item", 0, "Chief"),
    ]
    (table,) = tables(document)
    assert (table.caption, table.header) == ("Table 1 Salaries", HEADER)
    assert table.rows == (*ROWS, ("Bo Li", "Adviser", "1,000"))


def test_docx_shows_insertions_and_not_deletions() -> None:
    xml = (
        b'<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        b"<w:body><w:p><w:r><w:t>Mia leads </w:t></w:r><w:ins><w:r><w:t>Acme</w:t></w:r></w:ins>"
        b"<w:del><w:r><w:delText>Beta</w:delText></w:r></w:del></w:p>"
        b"<w:sdt><w:sdtContent><w:p><w:r><w:t>Inside a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        b"</w:body></w:document>"
    )
    document = parse(making.rezipped(making.docx_file(), document=xml), "tracked.docx")
    assert [text for _, _, text in shown(document)] == ["Mia leads Acme", "Inside a control"]


def test_pptx_slides_are_sections_with_tables_and_notes() -> None:
    document = parse(making.pptx_file(), "deck.pptx")
    assert shown(document)[:5] == [
        ("heading", 1, "Quarter results"),
        ("list_item", 0, "Revenue rose"),
        ("list_item", 0, "Costs fell"),
        ("paragraph", 0, "Say that Li Wei left in 2023."),
        ("heading", 1, ""),
    ]
    assert (tables(document)[0].header, tables(document)[0].rows) == (HEADER, ROWS)
    assert tables(document)[0].anchor == {"slide": 2, "row": 2}


def test_xlsx_shows_what_the_sheet_shows() -> None:
    document = parse(making.xlsx_file(), "pay.xlsx")
    assert [text for kind, _, text in shown(document) if kind == "heading"] == ["Pay"]
    table, total = tables(document)
    assert (table.caption, table.header) == ("Salaries of 2024", ("Name", "Since", "Salary", "Share"))
    assert table.rows == (
        ("Mia Chen", "2021-03-01", "$12000", "12.5%"),
        ("Bo Li", "2022-05-04 09:30:00", "9000.5", ""),
    )
    assert table.anchor == {"sheet": "Pay", "row": 3}
    assert (total.header, total.rows, total.anchor["row"]) == ((), (("Total", "21000.5"),), 8)


def test_xls_and_ods_keep_header_and_cells() -> None:
    (table,) = tables(parse(making.xls_file(), "old.xls"))
    assert (table.header, table.rows) == (("Name", "Since", "Salary"), (("王伟", "2021-03-01", "12000"),))
    (table,) = tables(parse(making.ods_file(), "open.ods"))
    assert (table.header, table.rows) == (("Name", "Salary"), (("Mia Chen", "12,000"),) * 2)


def test_csv_and_tsv_in_any_delimiter_and_encoding() -> None:
    text = 'Name;Rolle;Gehalt\n"Mia; Chen";Chefin;12,5\n\nBo;;9\n'
    first, second = tables(parse(text.encode(), "a.csv"))
    assert (first.header, first.rows) == (("Name", "Rolle", "Gehalt"), (("Mia; Chen", "Chefin", "12,5"),))
    assert (second.header, second.rows, second.anchor) == (first.header, (("Bo", "", "9"),), {"row": 4})
    chinese = "姓名,职位,工资\n王伟,工程部负责人,一万\n李娜,副经理,八千\n"
    (table,) = tables(parse(chinese.encode("gb18030"), "b.csv"))
    assert (table.header, table.rows[0][1]) == (("姓名", "职位", "工资"), "工程部负责人")
    (table,) = tables(parse(b"a\tb\n1\t2\n", "c.tsv"))
    assert (table.header, table.rows) == (("a", "b"), (("1", "2"),))
    (table,) = tables(parse(b"1,2\n3,4\n", "d.csv"))
    assert (table.header, len(table.rows)) == ((), 2)


MARKDOWN = """---
title: Minutes
date: 2024-07-05
---
# The *board*

Mia Chen leads **Acme** since [March 2021](https://x.org).
Also: more.

## Pay

People who left:

- Li Wei
- Ann

| Name | Since |
|------|-------|
| Mia `Chen` | 2021 |

```
code  here
```
<table><tr><th>A</th></tr><tr><td>1</td></tr></table>
"""


def test_markdown_is_shown_as_rendered() -> None:
    document = parse(MARKDOWN.encode(), "minutes.md")
    assert document.title == "Minutes"
    assert document.date == DocumentDate(datetime(2024, 7, 5, tzinfo=UTC), "day", "front_matter", "2024-07-05")
    assert shown(document) == [
        ("heading", 1, "The board"),
        ("paragraph", 0, "Mia Chen leads Acme since March 2021.\nAlso: more."),
        ("heading", 2, "Pay"),
        ("paragraph", 0, "People who left:"),
        ("list_item", 0, "Li Wei"),
        ("list_item", 0, "Ann"),
        ("table", 0, "Name | Since\nMia Chen | 2021"),
        ("code", 0, "code  here"),
        ("table", 0, "A\n1"),
    ]
    assert document.blocks[0].anchor == {"line": 5}
    assert document.blocks[6].anchor == {"line": 19}
    assert MARKDOWN.split("\n")[18].startswith("| Mia")


def test_html_spans_stacked_headers_and_hidden_parts() -> None:
    page = """<!doctype html><html><head><title>T</title><script>no()</script></head><body><nav>menu</nav>
    <h1>One</h1><p>Mia <b>leads</b>\n Acme.<br>Since 2021</p><p hidden>secret</p><ul><li>a<ul><li>b</li></ul></li></ul>
    <table><caption>Pay</caption><thead><tr><th rowspan=2>Name</th><th colspan=2>2024</th></tr>
    <tr><th>Q1</th><th>Q2</th></tr></thead><tr><td rowspan=2>Mia<td>1<td>2</tr><tr><td>3<td>4</tr></table>
    <table><tr><td><h3>Layout</h3><p>text in it</p></td></tr></table></body></html>"""
    document = parse(page.encode(), "page.html")
    assert document.title == "T"
    assert shown(document)[:4] == [
        ("heading", 1, "One"),
        ("paragraph", 0, "Mia leads Acme.\nSince 2021"),
        ("list_item", 0, "a"),
        ("list_item", 0, "b"),
    ]
    assert shown(document)[5:] == [("heading", 3, "Layout"), ("paragraph", 0, "text in it")]
    (table,) = tables(document)
    assert (table.caption, table.header) == ("Pay", ("Name", "2024 › Q1", "2024 › Q2"))
    assert table.rows == (("Mia", "1", "2"), ("Mia", "3", "4"))


def test_html_believes_its_own_charset() -> None:
    page = "<html><head><meta charset='iso-8859-2'></head><body><p>Łódź</p></body></html>"
    assert shown(parse(page.encode("iso8859_2"), "p.html")) == [("paragraph", 0, "Łódź")]


def test_pdf_headings_paragraphs_and_table() -> None:
    document = parse(making.pdf_file(), "report.pdf")
    assert (document.title, document.date) == ("Annual Report", PUBLISHED)
    kinds = [(kind, text[:24]) for kind, _, text in shown(document)]
    assert kinds[:4] == [
        ("heading", "Annual Report"),
        ("paragraph", "Date: 5 July 2024"),
        ("heading", "Leadership"),
        ("paragraph", "Mia Chen has led Acme si"),
    ]
    assert "\n" not in document.blocks[3].text
    (table,) = tables(document)
    assert (table.header, table.rows, table.anchor) == (HEADER, ROWS, {"page": 1, "row": 2})
    assert {block.anchor["page"] for block in document.blocks} == {1, 2}


def test_pdf_columns_are_read_down_and_tables_across() -> None:
    left, right, table = parse(making.two_column_pdf(), "two.pdf").blocks
    assert left.text.count("Left") == 12
    assert right.text.count("Right") == 12
    assert (table.header, table.rows) == (HEADER, ROWS)


def test_json_objects_and_lists_of_objects() -> None:
    text = '{"name": "Acme", "chair": {"name": "Mia", "paid": 1.50}, "staff": [{"n": "Bo", "y": 2}, {"n": "Al"}]}'
    document = parse(text.encode(), "a.json")
    assert [text for _, _, text in shown(document)][:3] == ["name: Acme", "chair.name: Mia", "chair.paid: 1.50"]
    (table,) = tables(document)
    assert (table.caption, table.header, table.rows) == ("staff:", ("n", "y"), (("Bo", "2"), ("Al", "")))
    assert tables(parse(b'{"n": "Bo"}\n{"n": "Al"}\n', "a.jsonl")) or len(document.blocks) > 1
    assert refusal(b'{"a": ', "bad.json").code == "malformed"
    assert refusal(b"[" * 100_000, "deep.json").code == "malformed"


def test_mail_is_dated_by_its_sending() -> None:
    mail = (
        "From: Mia <m@x.org>\nTo: bo@x.org\nSubject: =?utf-8?q?R=C3=A9sum=C3=A9?=\n"
        "Date: Fri, 5 Jul 2024 10:00:00 +0200\nContent-Type: text/plain; charset=latin-1\n"
        "Content-Transfer-Encoding: quoted-printable\n\nna=EFve text.\n"
    )
    document = parse(mail.encode(), "a.eml")
    assert document.title == "Résumé"
    assert document.date is not None
    assert (document.date.at, document.date.precision) == (datetime(2024, 7, 5, 8, tzinfo=UTC), "second")
    assert shown(document)[-1] == ("paragraph", 0, "naïve text.")


def test_plain_text_paragraphs_lists_and_wrapped_lines() -> None:
    text = (
        "Mia Chen has been the chief executive of Acme since\nMarch 2021.\n\nRoles:\n- chief\n- deputy\n\n"
        "Name: Mia\nRole: chief\n"
    )
    assert shown(parse(text.encode(), "a.txt")) == [
        ("paragraph", 0, "Mia Chen has been the chief executive of Acme since March 2021."),
        ("paragraph", 0, "Roles:"),
        ("list_item", 0, "- chief"),
        ("list_item", 0, "- deputy"),
        ("paragraph", 0, "Name: Mia\nRole: chief"),
    ]


# -- encodings -------------------------------------------------------------------------------------------

CHINESE = "王伟自二〇二一年三月起担任工程部负责人。他住在上海。"
JAPANESE = "田中さんは二〇二一年三月から東京で働いています。カタカナも。"
KOREAN = "김철수는 이천이십일년부터 서울에서 일하고 있습니다."
TAIWAN = "王偉自二○二一年三月起擔任工程部負責人，他住在臺北。"
FRENCH = "Il a été nommé à l’hôtel, naïve façade, Noël — déjà vu."
RUSSIAN = "Мария Иванова руководит компанией с марта две тысячи двадцать первого года."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8-sig"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "utf-16-be"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-32"),
        (CHINESE.replace("〇", "零"), "gb2312"),
        (CHINESE, "gb18030"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        (TAIWAN, "big5"),
        (FRENCH, "cp1252"),
        ("Die Größe übt.", "latin-1"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
    ],
)
def test_text_in_many_encodings(text: str, encoding: str) -> None:
    assert shown(parse(text.encode(encoding), "a.txt")) == [("paragraph", 0, text)]


def test_binary_rubbish_named_txt_is_refused() -> None:
    assert refusal(bytes(range(256)) * 40, "a.txt").code == "nul_bytes"
    assert refusal(b"Mia leads Acme.\0\0\0 Since 2021.\n" * 3, "a.txt").code == "nul_bytes"


# -- dates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "at", "precision"),
    [
        ("Date: 2024-07-05", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("**Date:** July 5, 2024", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("Dated 5th of July 2024", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("Issued: July 2024", datetime(2024, 7, 1, tzinfo=UTC), "month"),
        ("Reported on 2024-07-05T10:30:00+02:00", datetime(2024, 7, 5, 8, 30, tzinfo=UTC), "second"),
        ("日期：2024年7月5日", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("Published: 2024", datetime(2024, 1, 1, tzinfo=UTC), "year"),
        ("提报日期：2024年7月5日", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("会议时间：2024年7月5日", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("数据统计截止：2024年7月31日", datetime(2024, 7, 31, tzinfo=UTC), "day"),
        ("Data as of: June 30, 2024", datetime(2024, 6, 30, tzinfo=UTC), "day"),
        ("Held on 5 July 2024 at head office", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("AUSTIN, July 5, 2024", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("NEW YORK, N.Y., July 5, 2024 /Wire/ -- Acme said", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("LONDON (5 July 2024) — Acme said", datetime(2024, 7, 5, tzinfo=UTC), "day"),
        ("5 July 2024", datetime(2024, 7, 5, tzinfo=UTC), "day"),
    ],
)
def test_a_labelled_date_in_the_first_lines(line: str, at: datetime, precision: str) -> None:
    found = parse(f"# Report\n\n{line}\n\nText.".encode(), "a.md").date
    assert found is not None
    assert (found.at, found.precision, found.source) == (at, precision, "content")


@pytest.mark.parametrize(
    "line",
    [
        "On 5 July 2024 Mia left.",
        "Date: soon",
        "Update: 2 things",
        "Date: 2024-13-45",
        "Issued shares: 2024",
        "Date: Q3 2024",
        "Date: 05/07/2024",
        "Next meeting: 5 July 2024",
        "Deadline: 5 July 2024",
        "下次评审：2024年7月5日",
        "截止日期：2024年7月5日",
        "ACME, Inc. was founded on July 5, 2024",
        "5 July 2024\n\n6 July 2024",
    ],
)
def test_no_date_where_none_is_stated(line: str) -> None:
    assert parse(f"{line}\n\nText.".encode(), "a.txt").date is None


def test_a_date_far_down_is_not_the_documents_own() -> None:
    assert parse(("line\n\n" * 30 + "Date: 2024-07-05").encode(), "a.txt").date is None


# -- refusals --------------------------------------------------------------------------------------------


def test_refusals_by_code() -> None:
    docx, pdf = making.docx_file(), making.pdf_file()
    assert refusal(b"", "a.pdf").code == "empty"
    assert refusal(b" \n\0", "a.txt").code == "empty"
    assert refusal(docx[: len(docx) // 2], "a.docx").code == "truncated"
    assert refusal(pdf[: len(pdf) // 2], "a.pdf").code == "truncated"
    assert refusal(making.encrypted_pdf(), "a.pdf").code == "encrypted"
    assert refusal(making.scanned_pdf(), "a.pdf").code == "no_text"
    assert refusal(b"<html><body></body></html>", "a.html").code == "no_text"
    assert refusal(b"\x89PNG\r\n\x1a\n" + bytes(50), "a.png").code == "unsupported"
    assert refusal(making.zipped({"a.txt": "x"}), "a.zip").code == "unsupported"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    assert refusal(ole + "EncryptedPackage".encode("utf-16-le"), "a.docx").code == "encrypted"
    assert refusal(ole + "WordDocument".encode("utf-16-le"), "a.doc").code == "unsupported"
    assert refusal(ole + "Workbook".encode("utf-16-le"), "a.xls").code in ("truncated", "malformed")
    assert refusal(making.scanned_pdf(3), "a.pdf", limits=Limits(pdf_pages=2)).code == "too_large"
    assert refusal(b"word " * 100, "a.txt", limits=Limits(max_bytes=100)).code == "too_large"


@pytest.mark.parametrize("name", ["a.pdf", "a.xlsx", "a.txt", "a.md", "a.csv"])
def test_content_that_is_not_what_the_name_says(name: str) -> None:
    assert refusal(making.docx_file(), name).code == "wrong_extension"
    assert parse(making.docx_file(), "a.docx").title
    assert parse(making.docx_file(), "no extension").title


def test_text_named_as_an_office_file() -> None:
    assert refusal(b"Mia leads Acme.", "a.docx").code == "wrong_extension"


def test_the_media_type_counts_where_the_name_says_nothing() -> None:
    assert parse(b"# One", "note", media_type="text/markdown; charset=utf-8").blocks[0].kind == "heading"
    assert parse(b"# One", "note").blocks[0].kind == "paragraph"
    assert parse(b"# One", "note.txt", media_type="text/markdown").blocks[0].kind == "paragraph"


def test_zip_bombs_and_unsafe_names() -> None:
    bomb = making.rezipped(making.docx_file(), document=b"<a>" + b" " * 30_000_000 + b"</a>")
    assert refusal(bomb, "a.docx").code == "bomb"
    many = making.zipped({"word/document.xml": "<a/>", **{f"{n}.xml": "<a/>" for n in range(2_001)}})
    assert refusal(many, "a.docx").code == "bomb"
    assert refusal(making.zipped({"word/document.xml": "<a/>", "../x": "y"}), "a.docx").code == "bomb"
    small = Limits(zip_bytes=10_000)
    assert refusal(making.docx_file(), "a.docx", limits=small).code == "bomb"
    assert refusal(making.ods_file(rows_repeated=10**9), "a.ods").code == "too_large"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_doctype_in_an_office_file(encoding: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden words")
    xml = (
        f'<?xml version="1.0" encoding="{encoding}"?><!-- {"x" * 70_000} -->'
        f'<!DOCTYPE a [<!ENTITY e SYSTEM "file://{secret}">]><a>&e;</a>'
    )
    attack = making.rezipped(making.docx_file(), document=xml.encode(encoding))
    assert refusal(attack, "a.docx").code == "doctype"


def test_damage_inside_a_part_is_named() -> None:
    docx = bytearray(making.docx_file())
    docx[200:220] = bytes(20)
    assert refusal(bytes(docx), "a.docx").code in ("truncated", "malformed")
    broken = making.rezipped(making.docx_file(), document=b"<w:document")
    assert refusal(broken, "a.docx").code == "malformed"


def test_front_matter_is_data_and_not_a_program() -> None:
    text = "---\na: &a [x, x]\nb: [*a, *a]\ndate: 2024-07-05\n---\nText.\n"
    document = parse(text.encode(), "a.md")
    assert document.date is None
    hostile = "---\ndate: !!python/object/apply:os.getcwd []\n---\nText.\n"
    assert parse(hostile.encode(), "a.md").date is None


# -- hostile sizes, in linear time -----------------------------------------------------------------------


@pytest.mark.timeout(120)
def test_ten_megabytes_in_one_line() -> None:
    line = b"word and word, " * 700_000
    assert len(parse(line, "a.txt").blocks) == 1


def test_deep_html_is_read_whole_or_refused(pool: ParserPool) -> None:
    for depth, refused in ((1_000, False), (20_000, True)):
        page = ("<div>" * depth + "inmost words" + "</div>" * depth + "<p>last</p>").encode()
        if refused:
            with pytest.raises(DocumentRejected, match="depth") as caught:
                pool.parse(page, "a.html")
            assert caught.value.code == "malformed"
        else:
            assert [text for _, _, text in shown(pool.parse(page, "a.html"))] == ["inmost words", "last"]


@pytest.mark.timeout(120)
def test_markdown_marks_without_end_stay_quick() -> None:
    for hostile in ("[" * 15_000, "*a " * 6_000, "`" * 9_000 + "a", "> " * 5_000 + "x", "a **b" * 3_000):
        parse(("start " + hostile).encode(), "a.md")


def test_a_thousand_small_notes(pool: ParserPool) -> None:
    note = MARKDOWN.split("<table>")[0].encode()
    for _ in range(1_000):
        pool.parse(note, "a.md")


@pytest.mark.timeout(60)
def test_an_unclosed_comment_in_markdown_is_not_scanned_again_and_again() -> None:
    assert parse(("Mia leads Acme.\n\n" + "<!-- " * 40_000).encode(), "a.md").blocks[0].text == "Mia leads Acme."


# -- isolation -------------------------------------------------------------------------------------------


def test_a_worker_reads_what_this_process_reads(pool: ParserPool) -> None:
    files = every_format()
    for name, content in files.items():
        assert pool.parse(content, name) == parse(content, name), name
    assert parse_isolated(files["a.md"], "a.md") == parse(files["a.md"], "a.md")


def test_a_refusal_in_the_worker_keeps_its_code_and_the_worker(pool: ParserPool) -> None:
    for _ in range(3):
        with pytest.raises(DocumentRejected, match=r"^a\.pdf: ") as caught:
            pool.parse(making.encrypted_pdf(), "a.pdf")
        assert caught.value.code == "encrypted"
    assert pool.parse(making.docx_file(), "a.docx").title


def test_time_limits_end_the_worker_and_the_next_document_is_read() -> None:
    slow = b"<table>" + (b"<tr>" + b"<td rowspan=190>x" * 150) * 6_000 + b"</table>"
    with ParserPool(limits=Limits(wall_seconds=1.5)) as pool:
        with pytest.raises(DocumentRejected) as caught:
            pool.parse(slow, "slow.html")
        assert caught.value.code == "timeout"
        pool._limits = DEFAULT  # the next worker's start is not what this limit is for
        assert pool.parse(making.docx_file(), "a.docx").title
    with pytest.raises(DocumentRejected) as caught:
        parse_isolated(slow, "slow.html", limits=Limits(cpu_seconds=0))
    assert caught.value.code == "timeout"


def test_a_memory_limit_refuses_and_the_next_document_is_read() -> None:
    page = b"<p>word" * 1_500_000
    with ParserPool(limits=Limits(address_space=250 << 20)) as pool:
        with pytest.raises(DocumentRejected) as caught:
            pool.parse(page, "big.html")
        assert caught.value.code == "out_of_memory"
        assert pool.parse(making.docx_file(), "a.docx").title


def test_a_killed_worker_is_replaced() -> None:
    with ParserPool() as pool:
        assert pool.parse(making.docx_file(), "a.docx").title
        worker = pool._idle.get()
        pool._idle.put(worker)
        assert worker is not None
        worker._child.kill()
        worker._child.wait()
        assert pool.parse(making.docx_file(), "a.docx").title


def test_threads_share_a_pool() -> None:
    content, titles = making.docx_file(), []
    with ParserPool(workers=2) as pool:
        threads = [
            threading.Thread(target=lambda: titles.append(pool.parse(content, "a.docx").title)) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert titles == ["Annual Report"] * 6


def every_format() -> dict[str, bytes]:
    return {
        "a.docx": making.docx_file(),
        "a.pptx": making.pptx_file(),
        "a.xlsx": making.xlsx_file(),
        "a.xls": making.xls_file(),
        "a.ods": making.ods_file(),
        "a.pdf": making.pdf_file(),
        "a.html": b"<h1>One</h1><p>Two</p><img src='http://x.org/a.png'>",
        "a.md": MARKDOWN.encode(),
        "a.csv": b"a,b\n1,2\n",
        "a.json": b'{"a": 1}',
        "a.eml": b"From: a@x.org\nSubject: b\n\nText.\n",
        "a.txt": "naïve".encode("latin-1"),
    }


def test_no_reader_opens_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a reader went to the network")

    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(socket.socket, "connect", forbidden)
    for name, content in every_format().items():
        assert parse(content, name).blocks, name


def test_a_worker_has_no_network_where_the_kernel_allows_it() -> None:
    """In its namespace not even the loopback can be reached; elsewhere the readers' own abstinence stands."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with multiprocessing.get_context("spawn").Pool(1) as child:
            left, reached = child.apply(_reach_from_worker, (server.getsockname()[1],))
    assert reached is not left


def _reach_from_worker(port: int) -> tuple[bool, bool]:
    from substrate.documents.parsing.worker import leave_network

    left = leave_network()
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return left, False
    return left, True


def test_the_worker_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOCLOCKS_CHAT_API_KEY", "not for readers")
    with ParserPool() as pool:
        pool.parse(making.docx_file(), "a.docx")
        worker = pool._idle.get()
        pool._idle.put(worker)
        assert worker is not None
        environment = Path(f"/proc/{worker._child.pid}/environ").read_bytes()
    assert b"OMP_NUM_THREADS=1" in environment
    assert b"not for readers" not in environment


def test_default_limits_are_the_documented_ones() -> None:
    assert (DEFAULT.zip_entries, DEFAULT.zip_ratio, DEFAULT.pdf_pages) == (2_000, 100, 5_000)
    assert DEFAULT.zip_bytes == 200 << 20
