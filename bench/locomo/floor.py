"""The floor: reciprocal ranks (k = 60) of Tantivy's own en_stem and MiniLM, on exactly the turns' texts.

Nothing of the product's search takes part, so that the floor cannot sink or rise with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.locomo.data import Conversation
from substrate.retrieval.embedders import Embedder

K = 60
RECORDED = {"r5": 0.552, "r10": 0.632, "r20": 0.739}
"""Measured when the floor was made; a run that differs by more than .02 has another floor and fails."""


def rankings(conversation: Conversation, minilm: Embedder) -> list[list[tuple[int, int]]]:
    """For each question the turns, best first."""
    turns = conversation.turns
    texts = [conversation.text(turn) for turn in turns]
    meant = minilm.queries([q.text for q in conversation.questions]) @ minilm.passages(texts).T
    words = _words(texts, [q.text for q in conversation.questions])
    found = []
    for row, listed in zip(meant, words, strict=True):
        nearest = sorted(range(len(turns)), key=lambda i: (-row[i], i))
        scores = [0.0] * len(turns)
        for arm in (listed, nearest):
            for rank, i in enumerate(arm, start=1):
                scores[i] += 1 / (K + rank)
        found.append([turns[i] for i in sorted(range(len(turns)), key=lambda i: (-scores[i], i))])
    return found


def _words(texts: Sequence[str], questions: Sequence[str]) -> list[list[int]]:
    """Per question the turns that Tantivy finds, best first."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="en_stem")
    builder.add_integer_field("turn", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=50_000_000, num_threads=1)
    for number, text in enumerate(texts):
        writer.add_document(tantivy.Document(body=text, turn=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    found = []
    for question in questions:
        plain = "".join(c if c.isalnum() else " " for c in question)
        query, _ = index.parse_query_lenient(plain, ["body"])
        hits = searcher.search(query, len(texts)).hits
        found.append([searcher.doc(address)["turn"][0] for _, address in hits])
    return found
