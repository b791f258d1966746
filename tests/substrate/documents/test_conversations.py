"""A message of a conversation is a passage of its own; what only looks like one stays what it was."""

from __future__ import annotations

import json

import pytest

from substrate.documents.chunking import chunk
from substrate.documents.parsing.parse import parse

DATED = (
    "Weekly call\n\n"
    "Nadia (8 May, 2023): I moved to Porto last week.\n"
    "Omar (8 May, 2023): How is the new flat?\n"
    "Nadia (8 May, 2023): Small.\nBut it has a view of the river.\n"
)
FORMS = {
    "brackets": "[2024-05-01 10:15] Nadia: hi\n[2024-05-01 10:16] Omar: hello there\n",
    "dashes": "12/31/24, 10:15 - Nadia: hi\n12/31/24, 10:16 - Omar Li: hello there\n",
    "chinese": "王芳 (2023年5月8日): 你好\n李雷 (2023年5月8日): 很好\n",
}
NOT_ONE = {
    "a form": "Owner: Mia Chen\nStatus: open\nTeam: Payments\n",
    "figures": "Revenue (2023): 5 million\nRevenue (Q1 2024): 2 million\nCost (2023): 3 million\n",
    "one remark": "Nadia (8 May, 2023): I moved to Porto.\n",
    "a letter": "Minutes (8 May, 2023): see below.\nWe met.\nIt rained.\nAction (9 May, 2023): none.\nWe left.\n",
    "prose": "The board met (8 May, 2023): all agreed.\nNothing else was said.\nThen all went home.\nIt rained.\n",
}


def _texts(content: str, name: str = "call.txt") -> list[str]:
    return [draft.text for draft in chunk(parse(content.encode(), name))]


def test_each_message_is_a_chunk_with_its_head_and_its_further_lines() -> None:
    assert _texts(DATED) == [
        "Weekly call",
        "Nadia (8 May, 2023): I moved to Porto last week.",
        "Omar (8 May, 2023): How is the new flat?",
        "Nadia (8 May, 2023): Small.\nBut it has a view of the river.",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_other_spellings_are_read(form: str) -> None:
    assert _texts(FORMS[form]) == FORMS[form].strip().split("\n")


@pytest.mark.parametrize("form", NOT_ONE)
def test_what_is_no_conversation_is_read_as_before(form: str) -> None:
    assert {block.kind for block in parse(NOT_ONE[form].encode(), "note.txt").blocks} == {"paragraph"}


def test_a_list_of_messages_in_json() -> None:
    said = [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "In Porto.", "time": "10:15"}]
    assert _texts(json.dumps(said), "chat.json") == ["user: Where is it?", "assistant: In Porto."]
    assert _texts("\n".join(map(json.dumps, said)), "chat.jsonl") == ["user: Where is it?", "assistant: In Porto."]


def test_a_time_that_every_message_has_is_shown() -> None:
    said = [{"author": "Nadia", "text": "Hi", "time": "10:15"}, {"author": "Omar", "text": "Hello", "time": "10:16"}]
    assert _texts(json.dumps(said), "chat.json") == ["Nadia (10:15): Hi", "Omar (10:16): Hello"]


def test_a_list_of_anything_else_in_json_stays_a_table() -> None:
    blocks = parse(
        json.dumps([{"name": "Nadia", "city": "Porto"}, {"name": "Omar", "city": "Lyon"}]).encode(), "p.json"
    )
    assert [block.kind for block in blocks.blocks] == ["table"]


def test_a_long_message_is_divided_and_nothing_is_lost() -> None:
    long = "Nadia (8 May, 2023): " + " ".join(f"Sentence number {n} is here." for n in range(200))
    texts = _texts(f"{long}\nOmar (8 May, 2023): Enough.\n")
    assert len(texts) > 2
    assert texts[-1] == "Omar (8 May, 2023): Enough."
    assert " ".join(texts[:-1]).split() == long.split()
