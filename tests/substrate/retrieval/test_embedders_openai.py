"""The OpenAI-compatible embedder against a real server on the loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from substrate.endpoints import normalise_base_url
from substrate.errors import InvalidInput, ModelUnavailable
from substrate.retrieval.embedders import open_embedder
from substrate.retrieval.embedders.openai_compatible import OpenAIEmbedder, plan_requests
from substrate.settings import Settings
from tests.waiting import until

KEY = "sk-test-0123456789abcdef"
PLAIN_KEY = "Zq8vY2mN4pL6"
Answer = tuple[int, dict[str, str], Any]


def vectors_for(texts: list[str], dimension: int = 8) -> dict[str, Any]:
    """Deterministic and not of length one: the text's length in the first place, then threes."""
    data = [
        {"object": "embedding", "index": index, "embedding": [float(len(text))] + [3.0] * (dimension - 1)}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "m", "data": data, "usage": usage}


def good(body: dict[str, Any]) -> Answer:
    return 200, {}, vectors_for(body["input"])


class Endpoint:
    """A server whose answers a test scripts: `script` first, one a request, then `otherwise`."""

    def __init__(self) -> None:
        self.script: list[Callable[[dict[str, Any]], Answer]] = []
        self.otherwise: Callable[[dict[str, Any]], Answer] = good
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.address = f"127.0.0.1:{self._server.server_port}"

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            self.paths.append(path)
            self.headers.append(headers)
            self.requests.append(body)
            self.times.append(time.monotonic())
            step = self.script.pop(0) if self.script else self.otherwise
        try:
            return step(body)
        finally:
            with self._lock:
                self._now -= 1

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(endpoint) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, headers, answer = endpoint.answer(
                    self.path, {k.lower(): v for k, v in self.headers.items()}, body
                )
                payload = json.dumps(answer).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        return Handler


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Endpoint()
    yield server
    server.close()


@pytest.fixture
def embedder(endpoint: Endpoint) -> Iterator[OpenAIEmbedder]:
    values = {
        "embedder": "openai",
        "embedding_base_url": endpoint.address,
        "embedding_model": "tiny",
        "embedding_api_key": KEY,
    }
    opened = open_embedder(Settings.model_validate(values))
    assert isinstance(opened, OpenAIEmbedder)
    yield opened
    opened.close()


def test_vectors_come_normalised_with_the_key_and_model_sent(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    vectors = embedder.passages(["four", "sixsix"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [4 / 3, 6 / 3], rtol=1e-5)
    assert embedder.name.startswith("openai:tiny@1#") and embedder.dimension == 8  # not at OpenAI
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert endpoint.requests[0]["model"] == "tiny"


def test_a_429_is_waited_out_as_its_retry_after_says(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    endpoint.script = [lambda _: (429, {"Retry-After": "1"}, {"error": {"message": "slow down"}})]
    assert embedder.queries(["a"]).shape == (1, 8)
    assert len(endpoint.requests) == 2
    assert endpoint.times[1] - endpoint.times[0] >= 1


def test_another_dimension_later_is_an_error(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    embedder.passages(["a"])
    endpoint.script = [lambda body: (200, {}, vectors_for(body["input"], 9))]
    with pytest.raises(ModelUnavailable, match="9 numbers, before of 8"):
        embedder.passages(["b"])
    assert embedder.passages(["c"]).shape == (1, 8)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_named_as_the_reason_and_never_shown(
    endpoint: Endpoint, embedder: OpenAIEmbedder, status: int
) -> None:
    said = f"Incorrect API key provided: {KEY}. Also sk-other-987654321 is wrong."
    endpoint.otherwise = lambda _: (status, {}, {"error": {"message": said, "type": "auth"}})
    with pytest.raises(ModelUnavailable, match="refuses the key") as caught:
        embedder.passages(["a"])
    error = caught.value
    assert error.facts["status"] == status
    assert "Incorrect API key" in str(error)
    for text in (str(error), repr(error), str(error.facts)):
        assert KEY not in text
        assert "987654321" not in text
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert len(endpoint.requests) == 1


def test_a_key_that_looks_like_any_word_is_not_shown_either(endpoint: Endpoint) -> None:
    endpoint.otherwise = lambda _: (401, {}, {"error": {"message": f"who is {PLAIN_KEY}?"}})
    embedder = OpenAIEmbedder(f"http://{endpoint.address}/v1", "tiny", PLAIN_KEY)
    with pytest.raises(ModelUnavailable, match=r"who is \*\*\*\?") as caught:
        embedder.passages(["a"])
    assert PLAIN_KEY not in str(caught.value)
    embedder.close()


def test_nothing_but_our_settings_reaches_the_endpoint(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "from-elsewhere")
    embedder = OpenAIEmbedder(f"http://{endpoint.address}/v1", "tiny", None)
    embedder.passages(["a"])
    assert "from-elsewhere" not in str(endpoint.headers)
    embedder.close()


@pytest.mark.parametrize(
    ("status", "reason"), [(404, "knows no model 'tiny'"), (400, "answered 400: too long"), (422, "422")]
)
def test_a_final_refusal_gives_its_reason(
    endpoint: Endpoint, embedder: OpenAIEmbedder, status: int, reason: str
) -> None:
    endpoint.otherwise = lambda _: (status, {}, {"error": {"message": "too long"}})
    with pytest.raises(ModelUnavailable, match=reason):
        embedder.passages(["a"])


def test_a_server_that_stays_broken_is_given_up_with_its_last_words(
    endpoint: Endpoint, embedder: OpenAIEmbedder
) -> None:
    endpoint.otherwise = lambda _: (503, {"Retry-After-Ms": "5"}, {"error": {"message": "loading model"}})
    with pytest.raises(ModelUnavailable, match="answered 503: loading model"):
        embedder.passages(["a"])
    assert len(endpoint.requests) == 6


def missing(body: dict[str, Any]) -> Any:
    return vectors_for(body["input"][1:])


def ragged(body: dict[str, Any]) -> Any:
    answer = vectors_for(body["input"])
    answer["data"][0]["embedding"].append(1.0)
    return answer


def zero(body: dict[str, Any]) -> Any:
    answer = vectors_for(body["input"])
    answer["data"][0]["embedding"] = [0.0] * 8
    return answer


def doubled(body: dict[str, Any]) -> Any:
    answer = vectors_for(body["input"])
    answer["data"][1]["index"] = 0
    return answer


@pytest.mark.parametrize(
    "answer", [missing, ragged, zero, doubled, lambda _: {"data": None}, lambda _: [], lambda _: "no"]
)
def test_an_answer_that_is_none_is_refused(
    endpoint: Endpoint, embedder: OpenAIEmbedder, answer: Callable[[dict[str, Any]], Any]
) -> None:
    endpoint.otherwise = lambda body: (200, {}, answer(body))
    with pytest.raises(ModelUnavailable, match=endpoint.address):
        embedder.passages(["a", "bb"])


def test_rows_out_of_order_are_put_in_order(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    def backwards(body: dict[str, Any]) -> Answer:
        answer = vectors_for(body["input"])
        answer["data"].reverse()
        return 200, {}, answer

    endpoint.otherwise = backwards
    vectors = embedder.passages(["a", "bbbbbb"])
    assert vectors[0, 0] < vectors[1, 0]


def test_many_texts_go_in_parts_at_most_four_at_once(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    def slow(body: dict[str, Any]) -> Answer:
        until(lambda: endpoint.most_at_once >= 4)
        time.sleep(0.02)  # in which a fifth would come
        return good(body)

    endpoint.otherwise = slow
    texts = ["x" * (1 + number % 50) for number in range(64 * 9 + 1)]
    vectors = embedder.passages(texts)
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1] * 3, [len(text) for text in texts], rtol=1e-5)
    assert sorted(len(request["input"]) for request in endpoint.requests) == [1] + [64] * 9
    assert endpoint.most_at_once == 4


def test_one_failed_part_fails_the_whole(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    endpoint.script = [good, lambda _: (400, {}, {"error": {"message": "bad part"}})]
    with pytest.raises(ModelUnavailable, match="bad part"):
        embedder.passages(["text"] * 200)


def test_requests_keep_order_and_both_limits() -> None:
    texts = ["a" * 60_000, "b" * 60_000, "c" * 300_000, *("d" * 10 for _ in range(65))]
    parts = list(plan_requests(texts))
    assert [text for part in parts for text in part] == texts
    assert [len(part) for part in parts] == [1, 1, 1, 64, 1]


def test_blank_texts_are_refused_before_they_are_sent(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    with pytest.raises(InvalidInput, match=r"texts\[1\]"):
        embedder.passages(["a", " \n"])
    assert endpoint.requests == []
    assert embedder.count_tokens("a") is None


def test_the_dimension_is_asked_for_once(endpoint: Endpoint, embedder: OpenAIEmbedder) -> None:
    assert embedder.passages([]).shape == (0, 8)
    assert embedder.dimension == 8
    assert len(endpoint.requests) == 1


def test_nobody_listening_is_named(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("substrate.retrieval.embedders.openai_compatible.RETRIES", 0)
    endpoint.close()
    embedder = OpenAIEmbedder(f"http://{endpoint.address}/v1", "tiny", None)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        embedder.queries(["a"])
    embedder.close()
    endpoint.__init__()  # type: ignore[misc]


def test_openai_itself_without_a_key_is_refused_at_once() -> None:
    with pytest.raises(ModelUnavailable, match="TWOCLOCKS_EMBEDDING_API_KEY"):
        open_embedder(Settings.model_validate({"embedder": "openai"}))


@pytest.mark.parametrize(
    ("typed", "normal"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        (" https://api.openai.com/v1/ ", "https://api.openai.com/v1"),
        ("api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/embeddings", "https://api.openai.com/v1"),
        ("HTTP://localhost:11434", "http://localhost:11434/v1"),
        ("localhost:11434/v1/", "http://localhost:11434/v1"),
        ("192.168.1.7:8000", "http://192.168.1.7:8000/v1"),
        ("[::1]:8000", "http://[::1]:8000/v1"),
        ("http://ollama:11434/", "http://ollama:11434/v1"),
        ("ollama:11434", "http://ollama:11434/v1"),
        ("https://example.org/api/v3/", "https://example.org/api/v3"),
        ('"https://example.org/openai/v1"', "https://example.org/openai/v1"),
    ],
)
def test_addresses_as_people_type_them(typed: str, normal: str) -> None:
    assert normalise_base_url(typed, "embedding_base_url") == normal


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "ftp://example.org", "https://", "https://user:pw@example.org", "https://e.org/v1?a=b",
     "http://host:99999", "http://[::1", "https://e.org/#x"],
)  # fmt: skip
def test_addresses_that_cannot_be_meant(typed: str) -> None:
    with pytest.raises(InvalidInput, match="embedding_base_url"):
        normalise_base_url(typed, "embedding_base_url")
