"""A LlamaIndex retriever; ``pip install 'twoclocks-client[llamaindex]'``."""

from __future__ import annotations

from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from twoclocks.client import Client


class TwoclocksRetriever(BaseRetriever):
    """Passages for a question, best first; `given` goes to `Client.search`."""

    def __init__(self, client: Client, **given: Any) -> None:
        super().__init__()
        self._client, self._given = client, given

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._client.search(query_bundle.query_str, **self._given)
        return [
            NodeWithScore(node=TextNode(id_=c["chunk_id"], text=c["text"], metadata={"document_id": c["document_id"]}))
            for c in found["chunks"]
        ]
