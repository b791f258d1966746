"""ODT, RTF, EPUB, reStructuredText, Org and XML: read through pandoc and unstructured, or by our own XML reader."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from substrate.documents.blocks import Block, ParsedDocument
from substrate.documents.parsing import DEFAULT, Limits, ParserPool
from substrate.documents.parsing.pandoc import PANDOC, bundled_pandoc
from substrate.documents.parsing.parse import is_light
from substrate.documents.parsing.rich import rewrite
from substrate.errors import DocumentRejected
from tests.waiting import until

SOURCE = """\
# Annual Report

Date: 5 July 2024

## Leadership

Mia Chen has led Acme since March 2021.

王伟自2021年3月起担任首席执行官。

\\- 5 degrees were measured.

是

### Pay

- Chief

    The chief decides.

- Deputy

| Name | Role | Salary |
|------|------|-------:|
| Mia Chen | Chief Executive | 12,000 |
| 王伟 | Deputy | -9,000 |

## 薪酬

Last words.[^1]

[^1]: A note below.
"""
HEADER = ("Name", "Role", "Salary")
ROWS = (("Mia Chen", "Chief Executive", "12,000"), ("王伟", "Deputy", "-9,000"))
HEADINGS = [(1, "Annual Report"), (2, "Leadership"), (3, "Pay"), (2, "薪酬")]


def made(kind: str, source: str = SOURCE, read: str = "markdown") -> bytes:
    """A file of this kind, written by pandoc itself."""
    command = [str(bundled_pandoc()), f"--from={read}", f"--to={kind}", "--standalone", "--output=-"]
    return subprocess.run(command, input=source.encode(), capture_output=True, check=True).stdout


def rezipped(content: bytes, name: str, edit: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, edit if entry.filename == name else old.read(entry))
        if name not in old.namelist():
            new.writestr(name, edit)
    return out.getvalue()


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    with ParserPool() as shared:
        yield shared


def words(document: ParsedDocument) -> list[str]:
    return [block.text for block in document.blocks]


def table(document: ParsedDocument) -> Block:
    (found,) = [block for block in document.blocks if block.kind == "table"]
    return found


def refused(pool: ParserPool, content: bytes, name: str) -> DocumentRejected:
    with pytest.raises(DocumentRejected) as caught:
        pool.parse(content, name)
    assert str(caught.value).startswith(name)
    assert "/tmp" not in str(caught.value)
    return caught.value


# -- what a reader sees ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(PANDOC))
def test_headings_lists_and_tables_are_kept_word_for_word(pool: ParserPool, kind: str) -> None:
    document = pool.parse(made(kind), f"a.{kind}")
    assert document.date is not None
    assert document.date.at == datetime(2024, 7, 5, tzinfo=UTC)
    assert [(b.level, b.text) for b in document.blocks if b.kind == "heading"] == HEADINGS
    listed = [b.text.lstrip("• ") for b in document.blocks if b.kind == "list_item"]
    assert any(text.startswith("Chief") for text in listed)
    assert "Deputy" in listed
    found = table(document)
    assert (found.header, found.rows) == (HEADER, ROWS)
    paragraphs = words(document)
    for line in ("Mia Chen has led Acme since March 2021.", "王伟自2021年3月起担任首席执行官。", "是"):
        assert line in paragraphs
    if kind not in ("rst", "org"):  # where pandoc writes this line as a list item
        assert "- 5 degrees were measured." in paragraphs
    assert "Last words." in paragraphs
    if kind != "rtf":  # pandoc writes RTF notes in a form that it does not read
        assert "A note below." in paragraphs
    assert not any("\u2060" in text for text in paragraphs)
    assert any("The chief decides." in text for text in paragraphs)


def test_every_spanned_cell_is_filled(pool: ParserPool) -> None:
    html = (
        "<table><thead><tr><th>Name</th><th colspan=2>Pay</th></tr></thead><tbody>"
        "<tr><td rowspan=2>Mia</td><td>2023</td><td>10</td></tr><tr><td>2024</td><td>12</td></tr></tbody></table>"
    )
    found = table(pool.parse(made("odt", html, "html"), "a.odt"))
    assert found.header == ("Name", "Pay", "Pay")
    assert found.rows == (("Mia", "2023", "10"), ("Mia", "2024", "12"))


def test_title_and_date_that_a_format_states_beside_its_text(pool: ParserPool) -> None:
    org = "#+TITLE: Plan of 2024\n#+DATE: <2024-07-05>\n\n* One\n***** Five deep\nText.\n"
    document = pool.parse(org.encode(), "a.org")
    assert (document.title, document.date and document.date.source) == ("Plan of 2024", "front_matter")
    assert [(b.level, b.text) for b in document.blocks[:2]] == [(1, "One"), (5, "Five deep")]
    book = pool.parse(made("epub", "---\ntitle: The Book\ndate: 2023-02-01\n---\n\n# One\n\nText.\n"), "a.epub")
    assert book.title == "The Book"
    assert book.date is not None
    assert book.date.words == "2023-02-01"
    built = pool.parse(made("epub", "# One\n\nText.\n"), "a.epub")  # pandoc states the moment of building
    assert built.date is None


@pytest.mark.parametrize(
    ("rtf", "shown"),
    [
        (rb"{\rtf1\ansi\ansicpg936{\fonttbl{\f0\fcharset134 x;}}\f0 \'cd\'f5\'ce\'b0 leads.\par}", "王伟 leads."),
        (rb"{\rtf1\ansi\ansicpg936\uc2 \u29579\'cd\'f5\u20255\'ce\'b0 leads.\par}", "王伟 leads."),
        (rb"{\rtf1\ansi\ansicpg936{\fonttbl{\f0\fcharset0 x;}}\f0 caf\'e9 here\par}", "café here"),
        (rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2\par}", "Привет"),
        (rb"{\rtf1\ansi\ansicpg1252 caf\'e9 \u-10179?\u-8704? na\u239\'efve\par}", "café 😀 naïve"),
        (rb"{\rtf1\ansi\ansicpg932 \'83\'41\'83A\par}", "アア"),
        (rb"{\rtf1\ansi a{\pict\bin4 {}\\}b\par}", "ab"),
    ],
)
def test_rtf_is_read_in_the_code_page_that_it_names(pool: ParserPool, rtf: bytes, shown: str) -> None:
    assert words(pool.parse(rtf, "a.rtf")) == [shown]


def test_rtf_in_a_code_page_that_does_not_fit_is_refused(pool: ParserPool) -> None:
    bad = rb"{\rtf1\ansi{\fonttbl{\f0\fcharset128 x;}}\f0 \'85\'1f\'ff\'ff\par}"
    assert refused(pool, bad, "a.rtf").code == "encoding"
    assert refused(pool, rb"{\rtf1\ansi\ansicpg99999 x\par}", "a.rtf").code == "encoding"
    assert rewrite(rb"{\rtf1 plain}", "a.rtf").content == rb"{\rtf1 plain}"


def test_legacy_encodings_of_plain_formats(pool: ParserPool) -> None:
    text = "标题\n====\n\n王伟自二零二一年三月起担任首席执行官，他住在上海。\n"
    assert pool.parse(text.encode("gb18030"), "a.rst").title == "标题"


# -- XML -------------------------------------------------------------------------------------------------


def test_xml_records_fields_and_prose(pool: ParserPool) -> None:
    xml = (
        '<company xmlns="urn:x"><name>Acme</name><founded year="1999"/><staff><person id="1"><name>Mia</name>'
        '<pay>-9</pay></person><person id="2"><name>王伟</name></person></staff><about>It '
        "makes <b>rope</b> now.</about></company>"
    )
    document = pool.parse(xml.encode(), "a.xml")
    assert [(b.kind, b.text) for b in document.blocks if b.kind != "table"] == [
        ("list_item", "name: Acme"),
        ("list_item", "founded.year: 1999"),
        ("paragraph", "It makes rope now."),
    ]
    found = table(document)
    assert (found.header, found.rows) == (("id", "name", "pay"), (("1", "Mia", "-9"), ("2", "王伟", "")))
    assert document.media_type == "application/xml"


def test_xml_of_documents_keeps_order_and_depth(pool: ParserPool) -> None:
    xml = (
        '<?xml version="1.0" encoding="GB18030"?><article><title>报告</title><para>One &amp; <e>two</e>.</para>'
        '<section><title>Pay</title><para id="p">Three.</para></section><section><title>End</title><para>4</para>'
        "</section></article>"
    )
    document = pool.parse(xml.encode("gb18030"), "a.xml")
    assert [(b.level, b.text) for b in document.blocks] == [
        (1, "报告"),
        (0, "One & two."),
        (2, "Pay"),
        (0, "Three."),
        (2, "End"),
        (0, "4"),
    ]


def test_bad_xml_is_refused(pool: ParserPool) -> None:
    outside = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><b>&x;</b></a>'
    assert refused(pool, outside, "a.xml").code == "doctype"
    assert refused(pool, b"<a><b></a>", "a.xml").code == "malformed"
    assert refused(pool, b"<a>" * 250 + b"x" + b"</a>" * 250, "a.xml").code == "malformed"
    assert pool.parse(b"<?xml version='1.0'?><html><body><p>Page</p></body></html>", "a").media_type == "text/html"


# -- bad files -------------------------------------------------------------------------------------------


def test_damaged_and_mislabelled_files_are_refused_by_name(pool: ParserPool) -> None:
    odt, rtf, epub = made("odt"), made("rtf"), made("epub")
    assert refused(pool, odt[: len(odt) // 2], "a.odt").code == "truncated"
    assert refused(pool, rezipped(odt, "content.xml", b"<not>odt"), "a.odt").code in ("malformed", "no_text")
    assert refused(pool, rtf, "a.docx").code == "wrong_extension"
    assert refused(pool, odt, "a.epub").code == "wrong_extension"
    assert refused(pool, b"only text", "a.rtf").code == "wrong_extension"
    assert refused(pool, epub, "a.odt").code == "wrong_extension"
    assert refused(pool, b"Title\n=====\n\n.. csv-table:: T\n   :file: /etc/passwd\n", "a.rst").code == "malformed"
    locked = rezipped(odt, "META-INF/manifest.xml", b"<manifest><encryption-data/></manifest>")
    assert refused(pool, locked, "a.odt").code == "encrypted"
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "PowerPoint Document".encode("utf-16-le")
    assert refused(pool, old, "a.ppt").code == "unsupported"


def test_bombs_and_entities_never_reach_pandoc(pool: ParserPool) -> None:
    epub = made("epub")
    assert refused(pool, rezipped(epub, "EPUB/x.bin", bytes(201 << 20)), "a.epub").code == "bomb"
    page = next(n for n in zipfile.ZipFile(io.BytesIO(epub)).namelist() if n.endswith("ch001.xhtml"))
    attack = b'<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html xmlns="http://www.w3.org/1999/xhtml">'
    attack += b"<body><p>&x;</p></body></html>"
    assert refused(pool, rezipped(epub, page, attack), "a.epub").code == "doctype"
    plain = attack.replace(b' [<!ENTITY x SYSTEM "file:///etc/passwd">]', b"").replace(b"&x;", b"A page.")
    assert "A page." in words(pool.parse(rezipped(epub, page, plain), "a.epub"))
    odt, old = made("odt"), b'<!DOCTYPE m PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd"><m/>'
    assert pool.parse(rezipped(odt, "META-INF/manifest.xml", old), "a.odt").title == "Annual Report"
    attack = b'<!DOCTYPE m [<!ENTITY x "y">]><m>&x;</m>'
    assert refused(pool, rezipped(odt, "content.xml", attack), "a.odt").code == "doctype"


def test_no_directive_reads_a_file_of_this_machine(pool: ParserPool, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the password is rosebud")
    rst = f"Title\n=====\n\nText.\n\n.. include:: {secret}\n"
    org = f'* Title\n\nText.\n\n#+INCLUDE: "{secret}"\n'
    for name, source in (("a.rst", rst), ("a.org", org)):
        try:
            shown = " ".join(words(pool.parse(source.encode(), name)))
        except DocumentRejected as refusal:
            shown = str(refusal)
        assert "rosebud" not in shown


# -- isolation -------------------------------------------------------------------------------------------


def test_these_formats_are_read_in_the_worker_alone() -> None:
    for kind in (*PANDOC, "xml"):
        content = made(kind) if kind != "xml" else b"<a>b</a>"
        assert not is_light(content, f"a.{kind}", None, DEFAULT)
    assert is_light(b"text", "a.txt", None, DEFAULT)


def test_the_private_names_we_replace_are_there() -> None:
    """A new version of unstructured or pypandoc that renames them must fail here and not at a customer."""
    code = (
        "import pypandoc, unstructured, unstructured.nlp.tokenize as t;"
        "from unstructured.__version__ import __version__ as v;"
        "assert v == '0.27.35' and callable(t._get_nlp) and hasattr(pypandoc, '__pandoc_path');"
        "from substrate.documents.parsing.pandoc import _unstructured as go; go();"
        "assert [s for s in t.sent_tokenize('One is. Two is.')] == ['One is.', 'Two is.'];"
        "assert pypandoc.get_pandoc_path().endswith('pypandoc/files/pandoc')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode != 0,
    reason="this kernel gives no network namespace to an ordinary user",
)
def test_without_a_network_all_is_read(tmp_path: Path) -> None:
    """In a fresh process with an empty home, so that no cache of an earlier download can help."""
    for kind in PANDOC:
        (tmp_path / f"a.{kind}").write_bytes(made(kind))
    code = (
        "import sys, pathlib\nfrom substrate.documents.parsing import parse\n"
        "for p in sorted(pathlib.Path(sys.argv[1]).glob('a.*')):\n"
        "    assert any(b.text == '薪酬' for b in parse(p.read_bytes(), p.name).blocks), p\n"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = ["unshare", "-rn", sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(command, check=True, timeout=200, env=environment)


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


SLOW = ("* H\n\n" + "Mia Chen has led Acme since March 2021. " * 10 + "\n\n") * 20_000


def pandocs_until(pool: ParserPool, seconds: float) -> set[int]:
    """The processes that a reading under this limit was seen to start before it was ended."""
    pool.parse(b"* H\n\nwarm\n", "a.org")
    worker = pool._idle.get()
    pool._idle.put(worker)
    assert worker is not None
    worker._limits = Limits(wall_seconds=seconds)
    scratch, seen = Path(worker._scratch.name), set[int]()
    with ThreadPoolExecutor(1) as aside:
        reading = aside.submit(refused, pool, SLOW.encode(), "slow.org")
        while not reading.done():
            with suppress(FileNotFoundError, ProcessLookupError):  # the worker, or its pandoc, may end meanwhile
                seen.update(children(worker._child.pid))
            time.sleep(0.02)
        assert reading.result().code == "timeout"
    assert not scratch.exists()
    return seen


def test_pandoc_dies_with_its_worker_and_leaves_no_file() -> None:
    with ParserPool() as pool:
        # A machine under load may not come to start pandoc in the first of these times.
        seen = next(found for seconds in (2, 8, 32, 128) if (found := pandocs_until(pool, seconds)))
        until(lambda: not any(is_running(pid) for pid in seen), seconds=20)


def is_running(pid: int) -> bool:
    """A killed process may stand as a zombie until init reaps it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_pandoc_out_of_memory_is_named() -> None:
    epub = made("epub")
    figures = " ".join(str(number * 7919) for number in range(200_000))
    page = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{figures}</p></body></html>'
    with ParserPool(limits=Limits(address_space=420 << 20)) as pool:
        assert pool.parse(epub, "a.epub").title == "Annual Report"
        with pytest.raises(DocumentRejected) as caught:
            pool.parse(rezipped(epub, "EPUB/text/ch001.xhtml", page.encode()), "a.epub")
        assert caught.value.code == "out_of_memory"
