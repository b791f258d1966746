"""Chunks: nothing lost, nothing divided that belongs together, the same cut every time."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate.documents.blocks import Block, ChunkDraft, ParsedDocument
from substrate.documents.chunking import chunk, estimate_tokens


def document(*blocks: Block) -> ParsedDocument:
    return ParsedDocument("text/plain", "", blocks)


def heading(text: str, level: int = 1) -> Block:
    return Block("heading", text, level=level)


def paragraph(text: str) -> Block:
    return Block("paragraph", text)


def item(text: str) -> Block:
    return Block("list_item", text)


def table(rows: list[tuple[str, ...]], header: tuple[str, ...] = (), caption: str = "") -> Block:
    shown = [header, *rows] if header else rows
    text = "\n".join(" | ".join(row) for row in shown)
    return Block("table", text, rows=tuple(rows), header=header, caption=caption, anchor={"sheet": "S", "row": 2})


def body(chunks: tuple[ChunkDraft, ...]) -> str:
    return "".join(each.text for each in chunks)


SENTENCE = "The board of Acme met in Oslo and chose Mia Chen as its chair. "


def test_offsets_are_into_the_joined_texts() -> None:
    chunks = chunk(document(heading("A"), paragraph(SENTENCE * 30), heading("B", 2), paragraph("End.")))
    whole = body(chunks)
    assert len(chunks) > 3
    assert [each.position for each in chunks] == list(range(len(chunks)))
    assert all(whole[each.body_start : each.body_end] == each.text for each in chunks)
    assert chunks[0].body_start == 0
    assert chunks[-1].body_end == len(whole)


def test_sections_are_not_mixed_and_keep_their_path() -> None:
    chunks = chunk(
        document(heading("Report"), heading("People", 2), paragraph("Mia leads."), heading("Pay", 2), paragraph("Low."))
    )
    assert [each.heading_path for each in chunks] == [("Report", "People"), ("Report", "Pay")]
    assert chunks[0].text == "Report\nPeople\n\nMia leads."
    assert chunks[1].text == "Pay\n\nLow."


def test_an_untitled_slide_ends_the_section_above() -> None:
    chunks = chunk(document(heading("Team"), paragraph("Mia."), heading(""), paragraph("Loose.")))
    assert [(each.heading_path, each.text) for each in chunks] == [(("Team",), "Team\n\nMia."), ((), "Loose.")]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    chunks = chunk(document(paragraph(SENTENCE * 40)), target_tokens=60, max_tokens=90)
    assert len(chunks) > 5
    assert all(each.text.endswith("chair.") and each.text.startswith("The board") for each in chunks)
    assert all(estimate_tokens(each.text) <= 90 for each in chunks)


def test_an_abbreviation_ends_no_sentence() -> None:
    text = "It was decided by Dr. Lee of Acme Inc. that nothing changes in the plan. " * 12
    chunks = chunk(document(paragraph(text)), target_tokens=40, max_tokens=80)
    assert len(chunks) > 3
    assert all(each.text.startswith("It was") for each in chunks)


def test_chinese_is_cut_between_sentences_and_counted_by_character() -> None:
    sentence = "王伟自二〇二一年三月起担任工程部负责人。"
    assert estimate_tokens(sentence) == len(sentence)
    chunks = chunk(document(paragraph(sentence * 30)), target_tokens=100, max_tokens=150)
    assert all(each.text.endswith("。") and estimate_tokens(each.text) <= 150 for each in chunks)
    assert body(chunks) == sentence * 30


def test_one_sentence_above_the_maximum_is_cut_at_its_words() -> None:
    text = "word " * 1000
    chunks = chunk(document(paragraph(text)))
    assert all(estimate_tokens(each.text) <= 320 for each in chunks)
    assert body(chunks).replace(" ", "") == "word" * 1000
    assert not any(re.search(r"\b(?!word\b)\w", each.text) for each in chunks)


def test_a_word_without_end_is_cut_anywhere() -> None:
    chunks = chunk(document(paragraph("x" * 10_000)))
    assert body(chunks) == "x" * 10_000
    assert all(estimate_tokens(each.text) <= 320 for each in chunks)


def test_a_list_keeps_its_announcement_in_every_chunk() -> None:
    lead = "The following people left in 2024:"
    items = [item(f"Person number {n} of the large sales department in Oslo") for n in range(60)]
    chunks = chunk(document(paragraph(SENTENCE * 13), paragraph(lead), *items))
    listed = [each for each in chunks if "Person number" in each.text]
    assert len(listed) > 2
    assert all(lead in each.text for each in listed)
    assert not any(each.text.endswith(lead) for each in chunks)
    other = chunk(document(paragraph(lead.replace(":", ".")), *items))
    assert sum(lead[:-1] in each.text for each in other) == 1


def test_a_table_repeats_caption_and_header_and_divides_no_row() -> None:
    rows = [(f"Person {n}", "Engineer in the field", str(n * 1000)) for n in range(100)]
    chunks = chunk(document(heading("Pay"), table(rows, ("Name", "Role", "Salary"), "Pay in 2024:")))
    assert len(chunks) > 5
    assert chunks[0].text.startswith("Pay\n\nPay in 2024:\nName | Role | Salary\nPerson 0 |")
    assert all(each.text.startswith("Pay in 2024:\nName | Role | Salary\n") for each in chunks[1:])
    assert [row for each in chunks for row in each.rows] == rows
    assert all(each.kind == "table" and each.header == ("Name", "Role", "Salary") for each in chunks)
    assert all(estimate_tokens(each.text) <= 320 for each in chunks)
    assert [each.anchor["row"] for each in chunks] == [2 + rows.index(each.rows[0]) for each in chunks]


def test_a_row_larger_than_the_maximum_stays_whole() -> None:
    rows = [("a", "word " * 500), ("b", "short")]
    chunks = chunk(document(table(rows)))
    assert [each.rows for each in chunks] == [(rows[0],), (rows[1],)]


def test_a_long_heading_does_not_push_a_long_sentence_over_the_maximum() -> None:
    chunks = chunk(document(heading("Title " * 100), paragraph("word " * 240 + "end.")))
    assert [estimate_tokens(each.text) <= 320 for each in chunks] == [True, True]


def test_a_few_last_words_join_the_chunk_before() -> None:
    chunks = chunk(document(paragraph(SENTENCE * 12), paragraph("That was all.")))
    assert len(chunks) == 1
    assert chunks[0].text.endswith("\n\nThat was all.")


def test_a_senseless_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="target_tokens"):
        chunk(document(), target_tokens=300, max_tokens=200)


WORDS = st.text(alphabet="abcXYZ.!?,;:()|\"' \n王伟。，年かカ한글0123456789-", max_size=400)
CELLS = st.text(alphabet="abc 王1,|", max_size=30)


@st.composite
def tables(draw: st.DrawFn) -> Block:
    width = draw(st.integers(1, 5))
    row = st.tuples(*[CELLS] * width)
    rows = draw(st.lists(row, min_size=1, max_size=30))
    return table(rows, draw(row | st.just(())), draw(CELLS))


BLOCKS = st.one_of(
    st.builds(Block, st.sampled_from(["paragraph", "list_item", "code"]), WORDS),
    st.builds(lambda text, times: paragraph(text * times), WORDS, st.integers(2, 30)),
    st.builds(heading, WORDS, st.integers(1, 4)),
    tables(),
)


def solid(text: str) -> str:
    return re.sub(r"\s", "", text)


@settings(max_examples=300, deadline=None)
@given(st.lists(BLOCKS, max_size=12), st.integers(10, 120), st.integers(0, 120))
def test_nothing_is_lost_and_the_maximum_holds(blocks: list[Block], target: int, more: int) -> None:
    chunks = chunk(document(*blocks), target_tokens=target, max_tokens=target + more)
    whole, at = body(chunks), 0
    assert all(whole[each.body_start : each.body_end] == each.text for each in chunks)
    shown = solid(whole)
    for block in blocks:
        for line in block.rows or (block.text,):
            # Every part of the document stands in the body, in order, whole but for repeated lead-ins.
            for word in re.findall(r"[^\s]", " | ".join(line) if block.rows else line):
                at = shown.find(word, at) + 1
                assert at > 0
    for each in chunks:
        over = estimate_tokens(each.text) > target + more
        assert not over or (each.kind == "table" and len(each.rows) == 1)
    assert [row for each in chunks for row in each.rows] == [row for block in blocks for row in block.rows]
    assert chunk(document(*blocks), target_tokens=target, max_tokens=target + more) == chunks


@settings(max_examples=200, deadline=None)
@given(st.lists(st.builds(paragraph, WORDS), max_size=8), st.integers(10, 60))
def test_prose_is_shown_once_and_in_order(blocks: list[Block], target: int) -> None:
    chunks = chunk(document(*blocks), target_tokens=target, max_tokens=target * 2)
    assert solid(body(chunks)) == solid("".join(block.text for block in blocks))


def test_the_cut_depends_on_the_blocks_alone() -> None:
    blocks = (heading("A"), paragraph(SENTENCE * 50), table([("a", "b")] * 50))
    moved = tuple(replace(block, anchor={"page": 9}) for block in blocks)
    assert [each.text for each in chunk(document(*blocks))] == [each.text for each in chunk(document(*moved))]


@pytest.mark.slow
def test_ten_megabytes_in_one_line_are_cut_in_seconds() -> None:
    chunks = chunk(document(paragraph("word and word, " * 700_000)))
    assert max(estimate_tokens(each.text) for each in chunks) <= 320
