"""A LangChain retriever; ``pip install 'twoclocks-client[langchain]'``."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from twoclocks.client import Client


class TwoclocksRetriever(BaseRetriever):
    """Passages for a question; `given` goes to `Client.search`, and a view by `Client.at_seq` pins the record."""

    client: Any
    given: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        assert isinstance(self.client, Client)  # noqa: S101 - pydantic holds it as Any
        found = self.client.search(query, **self.given)
        stands = {"kb_id": found["kb_id"], "record_seq": found["seq"]}
        return [Document(page_content=c["text"], id=c["chunk_id"], metadata={**c, **stands}) for c in found["chunks"]]
